#!/bin/bash
# crashes.sh - nobody takes away others' generations by crashing, nor keeps one by it
#
# Users of a made-up file of accounts map programs of others and die in all ways they can.
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
. tests/e2e/kernel.bash
need_root
kernel_tells_signals || skip_all "this kernel has no tracepoint of signals"
[ -x "$B/tests/e2e/hostile/crasher" ] || { echo "$B/tests/e2e/hostile/crasher is missing"; exit 1; }
ulimit -c 0
one=64001 two=64002 three=64003
make_root sort gzip perl
cp "$B/tests/e2e/hostile/crasher" "$root/crasher"
mkdir -p "$root/host/etc" "$root/$one"
cp "$root/bin/gzip" "$root/$one/tool"
chown -R $one:$one "$root/$one"
sed -i "s|include:.*|include: [\"$root/bin/*\", \"$root/$one/*\"]|" "$root/morph.yaml"
accounts() {		# UID...: of the machine, besides root's
	echo "root:x:0:0::/root:/bin/sh" >"$root/host/etc/new"
	local u
	for u in "$@"; do
		echo "u$u:x:$u:$u::/:/bin/sh" >>"$root/host/etc/new"
	done
	mv "$root/host/etc/new" "$root/host/etc/passwd"
}
accounts $one $two $three
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
state_of() { ctl --json list | grep -F "\"$1\"" | sed -n 's/.*"state": "\([^"]*\)".*/\1/p'; }
stays() { taken_in; [ "$(state_of "$1")" = optimized ] || { state_of "$1"; return 1; }; }
went() { taken_in && [[ "$(state_of "$1")" = refused:* ]]; }
goes() { within 10 went "$1" || { state_of "$1"; return 1; }; }
crashes() { ctl --json status | sed -n 's/.*"kind": "'"$1"'", "count": \([0-9]*\),.*/\1/p'; }

seq 300000 | shuf >"$root/data"
work_sort() { LC_ALL=C "$root/bin/sort" "$root/data" >/dev/null; }
work_gzip() { "$root/bin/gzip" -9 <"$root/data" >/dev/null; }
work_tool() { as $one "$root/$one/tool" -9 <"$root/data" >/dev/null; }
work_perl() { "$root/bin/perl" -e '$s += $_ * $_ % 7 for 1 .. 4e6'; }
samples_of_tool() {
	local n=$(ctl --json list | grep -F "\"$root/$one/tool\"" | sed -n 's/.*"samples": \([0-9]*\).*/\1/p')
	work_tool
	taken_in
	[ "${n:-0}" -ge 50 ]
}

check_here "a daemon" start_daemon --host "$root/host"
watched() { ctl status | grep -q "crash watch *on"; }
check "its monitor is told of faults" within 10 watched
[ "$tap_bad" = 0 ] || done_testing	# what follows is not to be had without
for p in sort gzip perl; do
	check "$p has samples" sampled $p 50 work_$p
done
check "the user's own program has" within 60 samples_of_tool

# Beforehand: so that the original looks as if it died by itself.
check "nine of a user kill themselves beforehand" as $one "$root/crasher" kill "$root/bin/gzip" 9
check "nine more fault in its code" as $one "$root/crasher" inside "$root/bin/gzip" 9
taken_in
check "faults alone are crashes" [ "$(crashes crashes)" = 9 ]
check "all are laid out anew" ctl reoptimize "$root/bin/sort" "$root/bin/gzip" "$root/bin/perl" "$root/$one/tool"
sleep 1

for how in kill queue own inside; do
	check "a user dies with it mapped: $how" as $one "$root/crasher" $how "$root/bin/sort" 5
	check "the generation of others stays: $how" stays "$root/bin/sort"
done
check "the history says that others decide too" grep -q "of user $one; others decide too: 1 of 3" \
	<<<"$(ctl history "$root/bin/sort")"
for uid in 70001 70002 70003 70004; do
	check "a user without an account ($uid)" as $uid "$root/crasher" inside "$root/bin/sort"
done
check "they are one" stays "$root/bin/sort"
check "a third one meets it" as $two "$root/crasher" inside "$root/bin/sort"
check "and the generation goes" goes "$root/bin/sort"

# One user's crashes neither hide those of others, nor make them look usual.
as $one "$root/crasher" inside "$root/bin/gzip" 200
check "root meets one" "$root/crasher" inside "$root/bin/gzip"
check "and the generation goes, whatever a user did before and besides" goes "$root/bin/gzip"

# Whose program it is decides about it; another does not.
check "another user crashes in a user's program" as $two "$root/crasher" inside "$root/$one/tool" 5
check "it stays" stays "$root/$one/tool"
check "its owner does" as $one "$root/crasher" inside "$root/$one/tool"
check "and it goes" goes "$root/$one/tool"

# Where there is one person, nobody else loses by what he meets.
accounts $one $two 1001
check "a person meets it, the only one" as 1001 "$root/crasher" inside "$root/bin/perl"
check "and it goes" goes "$root/bin/perl"
check "too many of one user at a time were not looked at, and counted" [ "$(crashes crashes_over)" -ge 1 ]
check_here "the daemon ends" stop_daemon
done_testing
