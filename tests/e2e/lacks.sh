#!/bin/bash
# lacks.sh - what the daemon has where tracefs is not mounted, and what status says it does without
#
# In mounts of its own, from which tracefs is taken away: with the right to open it unseen, and without.
. tests/e2e/private.bash
need_root
without=(unshare --mount sh -c 'while umount -l /sys/kernel/tracing; do :; done 2>/dev/null
	while umount -l /sys/kernel/debug; do :; done 2>/dev/null; exec "$@"' sh)
"${without[@]}" true 2>/dev/null || skip_all "no mount namespaces"
unshare --mount mount -t tracefs tracefs /sys 2>/dev/null || skip_all "this kernel has no tracefs"
command -v setpriv >/dev/null || skip_all "no setpriv"
make_root sort

says() { ctl status | grep -q "$1"; }
says_json() { ctl --json status | grep -q "$1"; }
unseen() { ! grep -q tracefs "/proc/$(role_pid "$1")/mounts"; }
holds_none() {		# no descriptor of a folder of tracefs, which has one of the id in it
	local fd
	for fd in "/proc/$(role_pid "$1")"/fd/*; do
		[ ! -e "$fd/events" ] || { echo "$fd is one"; return 1; }
	done
}

under=("${without[@]}")
check_here "a daemon where tracefs is not mounted" start_daemon
check "crashes are told" within 10 says '^crash watch *on'
check "the clock is the tick" within 10 says '^clock *tick'
check "nobody sees a mount" unseen parent
check "the monitor's mounts are the same" unseen monitor
check "nor has the monitor kept it" holds_none monitor
check "tick and crashes are not among what it does without" not says '^tick  \|no crash watch:'
if "$B/morphctl" record -o "$root/try" --branches -- true 2>"$root/why"; then
	check "branch stacks come" within 10 says '^branch stacks *up to 10 a second'
	check "and are not among it either" not says '^branches '
else
	check "no branch stacks come" within 10 says '^branch stacks *none'
	check "what is lost by it is said, and why" says '^branches  *branches are inferred.*branch stacks'
fi
check "nor in JSON" not says_json '"what": "\(tick\|crashes\)"'
check_here "ends" stop_daemon

under+=(setpriv --bounding-set=-sys_admin)
check_here "a daemon that may not open it" start_daemon
check "crashes are not told" within 10 says '^crash watch *not available'
check "what is lost by it is said, and why" within 10 says \
	'^crashes  *no crash watch: .*tracefs is not mounted.*Operation not permitted'
check "so of the tick" says '^tick  *sampling costs more: .*tracefs is not mounted.*Operation not permitted'
check "and in JSON" says_json \
	'{"what": "tick", "lost_by_it": "sampling costs more: .*", "why": "tracefs is not mounted.*"}'
check "another clock is in use" says '^clock *c'
kill -9 "$(role_pid manager)"
within 30 eval '[ -n "$(role_pid monitor)" ]'
check "a manager that was killed is told anew" within 10 says '^crashes  *no crash watch'
check_here "ends" stop_daemon

printf 'monitor: {clock: tick}\n' >>"$root/morph.yaml"
check_here "a daemon that has to sample by the tick" start_daemon
check "does not sample, and says why" within 10 says \
	'^sampling  *no samples: .*no sampling clock: tick: tracefs is not mounted'
check_here "ends" stop_daemon
done_testing
