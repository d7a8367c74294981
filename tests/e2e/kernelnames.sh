#!/bin/bash
# kernelnames.sh - which procedures of the kernel have its share, by either clock, in a recording and by the daemon; to
# whom, and that no address of the kernel is kept
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
command -v setpriv >/dev/null || skip_all "no setpriv"
hidden() { awk '$3 == "_stext" { exit $1 !~ /^0*$/ }' /proc/kallsyms; }
if hidden; then skip_all "this kernel shows nobody the addresses of its procedures"; fi
make_root dd
# DD reads zeros, which the kernel makes with one procedure, and hands them over with few, until it has had SECONDS of
# CPU time, however fast the machine is and whatever else it does.
cat >"$root/busy" <<'END'
#!/bin/bash
ulimit -S -c 0 -t "$1"
"${0%/*}/bin/dd" if=/dev/zero of=/dev/null bs=1M status=none 2>/dev/null
exit 0
END
chmod 755 "$root/busy"
known() { awk -v name="$1" '$3 == name && $2 ~ /[tTwW]/ { found = 1 } END { exit !found }' /proc/kallsyms; }
# FILE has no 8 bytes that are an address in the kernel's text: the fifth of them is one of these.
from=$(awk '$3 == "_stext" { print substr($1, 9, 2) }' /proc/kallsyms)
to=$(awk '$3 == "_etext" { print substr($1, 9, 2) }' /proc/kallsyms)
no_addresses() { perl -0777 -ne 'exit 1 if /[\x'"$from"'-\x'"$to"']\xff{4}[^\xff]/s' "$1"; }
printf '\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff\0' >"$root/plain"
printf '\0\0\0\x52\x80\x32\x'"$from"'\xff\xff\xff\xff\0' >"$root/address"
check "an address would be found" not no_addresses "$root/address"
check "and no other word" no_addresses "$root/plain"

report() { jq "$2" <("$B/morphctl" --json report --log="$1" --limit=1000 2>/dev/null); }
named='[.procedures[] | select(.module == "[kernel]" and .procedure != "[kernel]")]'
for clock in tick cpu-clock; do
	under=()
	if [ $clock = tick ]; then
		under=(unshare --mount sh -c 'mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"' sh)
	fi
	log=$root/log.$clock
	if ! "${under[@]}" "$B/morphctl" record -o "$log" --clock=$clock --rate=999 -- "$root/busy" 2 \
		2>"$root/why"; then
		skip "procedures of the kernel by $clock" "$(cat "$root/why")"
		continue
	fi
	all=$(report "$log" '[.modules[] | select(.module == "[kernel]").samples] | add // 0')
	sum=$(report "$log" "$named | map(.samples) | add // 0")
	most=$(report "$log" "$named[0].procedure" | tr -d '"')
	note "$clock: $all samples in the kernel, $sum of them with names, most in $most"
	check "most samples are in the kernel ($clock)" [ "$all" -gt 100 ]
	check "nine of ten have a name ($clock)" [ $((10 * sum)) -ge $((9 * all)) ]
	check "it is one of this kernel's ($clock)" known "$most"
	check "one procedure has most of the time ($clock)" [ "$(report "$log" "$named[0].samples > $all / 2")" = true ]
	check "it is on the stacks of a flame graph ($clock)" grep -q "^dd;\[kernel\];$most [0-9]*$" \
		<("$B/morphctl" export "$log" --format=folded -o - 2>/dev/null)
	check "no address of the kernel is in the log ($clock)" no_addresses "$log"
done
check "a recording with callers" "$B/morphctl" record -o "$root/stacks" --clock=cpu-clock --stacks -- "$root/busy" 1
check "has them behind who called" grep -qE "^dd;.*;\[kernel\];[a-z_0-9.]+ [0-9]+$" \
	<("$B/morphctl" export "$root/stacks" --format=folded -o - 2>/dev/null)

echo 'monitor: {clock: cpu-clock, rate_hz: 999}' >>"$root/morph.yaml"
under=()
check_here "a daemon" start_daemon
kernel() { ctl --json report --limit=1000 2>/dev/null | jq "$1"; }
told() { "$root/busy" 1; [ "$(kernel "[$1[] | select(.module == \"[kernel]\").samples] | add // 0 | . > 100")" = true ]; }
check "it tells procedures of the kernel" within 60 told .procedures
most=$(kernel "$named[0].procedure" | tr -d '"')
check "of this one ($most)" known "$most"
check "alone, too" grep -q "^\[kernel\]  *$most " <(ctl report '[kernel]' 2>/dev/null)
check "not more than are in the kernel" test "$(kernel '([.procedures[] | select(.module == "[kernel]").samples] | add) <=
	([.modules[] | select(.module == "[kernel]").samples] | add)')" = true
kept() { local f; for f in "$root"/store/morph.db* "$root"/store/spool/*; do no_addresses "$f" || return 1; done; }
check "no address of the kernel is in the store" kept
cp "$B/morphctl" "$root/morphctl"
user() { setpriv --reuid=64001 --regid=64001 --clear-groups "$root/morphctl" --socket "$root/sock" "$@"; }
check "a user is told none" not grep -F "[kernel]" <(user report --limit=1000 2>&1)
check "nor by name" fails 3 "no samples of such a module" user report "[kernel]"
check "nothing of that is missing" not grep "^kernel names" <(ctl status)
check_here "ends" stop_daemon

echo 2 >"$root/two"
under=(unshare --mount sh -c 'mount --bind "$0/two" /proc/sys/kernel/kptr_restrict; exec "$@"' "$root")
if "${under[@]}" true 2>/dev/null; then
	rm -f "$root"/store/morph.db* "$root"/store/spool/*
	check_here "a daemon that is not shown addresses" start_daemon
	check "says so" within 10 eval 'ctl status | grep -q "^kernel names  *the kernel.s share.*kptr_restrict is 2"'
	check "and tells the share" within 60 told .modules
	check "alone" test "$(kernel '[.procedures[] | select(.module == "[kernel]")] == []')" = true
	check_here "ends" stop_daemon
else
	skip "a daemon that is not shown addresses" "no mount namespaces"
fi
done_testing
