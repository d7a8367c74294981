#!/bin/bash
# overload.sh - too little of something: the store is locked, the disk of the spool is full, a CPU goes and comes.
# What is lost is counted, what is kept is right, and in the end everything works as before.
#
# HOTPLUG=1 also takes a CPU offline for a second, which everything on the machine notices.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root sort
command -v sqlite3 >/dev/null || skip_all "needs sqlite3 to lock the store"
sed -i '1i monitor: {drain_s: 1}' "$root/morph.yaml"
odd=$B/tests/e2e/odd
cp "$odd" "$root/bin/plain"
counted() {		# COUNTER
	ctl --json status | sed -n "s/.*\"kind\": \"$1\", \"count\": \([0-9]*\).*/\1/p"
}
monitor_has() {		# COLUMN of the monitor's counts
	ctl --json status | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" | head -n 1
}
samples() { local n; n=$(listed plain samples); echo "${n:-0}"; }
sync() { ctl status --sync >"$root/synced" 2>&1; }
more() {		# BEFORE NOW: some 30 of 100 samples
	echo "$1, then $2"
	cat "$root/synced"
	awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN { exit !(b >= a + 30) }'
}

# --- the store ---

check_here "a daemon" start_daemon
"$root/bin/plain" burn
taken_in
check "samples arrive" more 0 "$(samples)"
# Holds the store for writing, or a view of it, until the FIFO is closed.
hold() {		# SQL
	mkfifo "$root/hold"
	as_manager sqlite3 "$root/store/morph.db" <"$root/hold" >"$root/held" 2>&1 &
	holder=$!
	exec 8>"$root/hold"
	echo "$1 SELECT 'held';" >&8
	within 10 grep -q held "$root/held"
}
release() { exec 8>&-; wait $holder; rm "$root/hold"; }
check_here "somebody else locks the store" hold "BEGIN IMMEDIATE;"
before=$(samples)
"$root/bin/plain" burn
check "samples cannot be taken in then" not sync
check "and why is told" grep -q "locked" "$root/synced"
check "the daemon answers" ctl list
started=$SECONDS
check "who asks next is told" not sync
check "and soon, not after another wait" test $((SECONDS - started)) -lt 8
check "nothing is counted twice or half" test "$(samples)" = "$before"
release
check "afterwards they are" taken_in
check "all of them" more "$before" "$(samples)"
check_here "somebody else reads the store for long" hold "BEGIN; SELECT count(*) FROM module;"
for i in 1 2 3; do
	before=$(samples)
	"$root/bin/plain" burn
	check "samples are taken in meanwhile" taken_in
	check "and counted" more "$before" "$(samples)"
done
release
check "the store is sound" grep -qx ok <<<"$(as_manager sqlite3 "$root/store/morph.db" "PRAGMA integrity_check")"
check_here "and ends" stop_daemon

# --- the disk of the spool ---

rm -rf "$root/store"
mkdir -p "$root/store/spool"
if mount -t tmpfs -o size=256k,mode=700,uid=65534,gid=65534 tmpfs "$root/store/spool" 2>/dev/null; then
	check_here "a daemon with a small spool" start_daemon
	"$root/bin/plain" burn
	taken_in
	check "samples arrive" more 0 "$(samples)"
	head -c 300000 /dev/zero >"$root/store/spool/filler" 2>/dev/null
	"$root/bin/plain" burn
	sleep 2
	sync
	check "a full disk is told" grep -qi "no space left" "$root/synced"
	check "the daemon answers" ctl list
	check "and its monitor lives" test -n "$(role_pid monitor)"
	check "status says why samples were dropped" grep -q "samples were dropped, because the spool could not be written" \
		<<<"$(ctl status --check)"
	rm "$root/store/spool/filler"
	sync
	lost=$(counted dropped)
	check "what is lost is counted ($lost)" test "${lost:-0}" -gt 0
	check "as often as the monitor says" test "$lost" = "$(monitor_has samples_dropped)"
	before=$(samples)
	"$root/bin/plain" burn
	check "with room it goes on" taken_in
	check "and samples arrive again" more "$before" "$(samples)"
	check_here "and ends" stop_daemon
	umount "$root/store/spool"
else
	skip "a full disk of the spool" "tmpfs cannot be mounted here"
fi

# --- a CPU ---

cpu=$(find /sys/devices/system/cpu -maxdepth 2 -name online -path '*/cpu[1-9]*/*' | sort | tail -n 1)
number=$(basename "$(dirname "${cpu:-/cpu0/online}")" | tr -dc 0-9)
if [ "${HOTPLUG:-}" = 1 ] && [ -w "${cpu:-/none}" ]; then
	rm -rf "$root/store"
	mkdir "$root/store"
	check_here "a daemon" start_daemon
	first=$(role_pid monitor)
	echo 0 >"$cpu"
	sleep 0.3		# too short for anybody to see it gone
	echo 1 >"$cpu"
	check "a CPU that was gone for a moment is known to be back" within 10 eval \
		'new=$(role_pid monitor) && [ -n "$new" ] && [ "$new" != "$first" ]'
	new=$(role_pid monitor)
	taken_in
	before=$(samples)
	taskset -c "$number" "$root/bin/plain" burn
	taken_in
	check "what runs on it is sampled" more "$before" "$(samples)"
	sleep 3
	check "and nothing begins anew for no reason" test "$(role_pid monitor)" = "$new"
	check_here "and ends" stop_daemon
else
	skip "a CPU goes and comes" "only with HOTPLUG=1: everything on the machine would notice"
fi
done_testing
