#!/bin/bash
# rights.sh - under the capabilities of the unit: what the parent then cannot do is said, and what is not
# said works
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
make_root gzip
seq 100000 | shuf >"$root/data"
work() { "$root/bin/gzip" -n -c "$root/data"; }
row() { ctl status | grep "^$1  *$2"; }
caps=$(sed -n 's/^CapabilityBoundingSet=//p' etc/morphd.service | tr 'A-Z' 'a-z' | sed 's/cap_/+/g; s/ /,/g')
under=(setpriv --no-new-privs --bounding-set="-all,$caps" --inh-caps=-all)
"${under[@]}" true || skip_all "capabilities cannot be bounded here"

check_here "the daemon starts as the unit starts it" start_daemon
check "the parent has no CAP_SYS_ADMIN" \
	[ $((0x$(sed -n 's/^CapEff:\t//p' "/proc/$daemon/status") >> 21 & 1)) = 0 ]
check "the log says that jobs get no namespaces" grep -q "no namespaces for jobs" "$root/log"
check "so does status" row "job namespaces" "none: not the right"
check "the log says which attributes are not seen" grep -q "trusted\.\* are not seen" "$root/log"
check "so does status" row 'attributes trusted\.\*' "not seen"
check "gzip has samples" sampled gzip 20 work
check "it is laid out anew" ctl reoptimize "$root/bin/gzip"
check "proven" whole gzip
check "and restored" ctl restore "$root/bin/gzip"
check_here "the daemon ends" stop_daemon

under=()
if unshare --pid --net --ipc --fork true 2>/dev/null; then
	: >"$root/log"
	check_here "the daemon starts with all rights" start_daemon
	check "status says that jobs have namespaces" row "job namespaces" yes
	check "the log says nothing else" [ -z "$(grep "no namespaces" "$root/log")" ]
	check "trusted.* is kept" row 'attributes trusted\.\*' "kept"
	check_here "and ends" stop_daemon
else
	skip "with all rights" "root has not all of them here"
fi
done_testing
