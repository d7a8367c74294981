#!/bin/bash
# livekept.sh - what a process has where others have nothing, and what it gets once it has a generation
#
# LIVE_ROUNDS (default 12): swaps in and out of each.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
live=$B/morph-live
rounds=${LIVE_ROUNDS:-12}
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-livekept.XXXXXX") || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$root"' EXIT
mkdir "$root/gen"
. tests/e2e/live.bash
prepare kept "$B/tests/e2e/kept"

ends_well() {		# SIGTERM, unless it ends by itself
	local rc
	[ "${1-}" = itself ] || kill "$pid"
	wait "$pid"
	rc=$?
	[ $rc = 0 ] || { echo "it ended with $rc"; return 1; }
}

# --- memory below the place where its thread stands ---

kept() {		# HOW
	local i
	start "$root/kept.out" "$root/kept" "$1"
	sleep 0.2
	fit kept || return 1
	for ((i = 0; i < rounds; i++)); do
		on "$pid" kept >"$root/said" 2>&1 && off "$pid" >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
	done
	ends_well
}
check "what is below an alternate signal stack stays what it was" kept alternate
check "and below the stack of a coroutine" kept coroutine

# --- a call that was cut short before ---

# The kernel goes on with it by another number, which is of no use to a thread that was left alone.
cut_twice() {		# HOW
	local n rc=0
	start "$root/cut.out" "$root/kept" "$1"
	sleep 0.1
	on "$pid" kept >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
	for ((n = 30; n < 90 && rc == 0; n += 4)); do
		"$B/tests/e2e/killat" $n "$live" off "$pid" "$root/gen" --patience=500 >/dev/null 2>&1
		rc=$?
		sleep 0.01
		kill -0 "$pid" 2>/dev/null || break
		on "$pid" kept --patience=500 >/dev/null 2>&1
	done
	[ $n -gt 50 ] || { echo "killed up to $n"; return 1; }
	[ "$1" = poll-on ] && { ends_well; return; }
	ends_well itself
}
check "a sleep goes on when the tool is killed at a second stop" cut_twice sleep
check "so does a poll" cut_twice poll
check "and one without a limit" cut_twice poll-on

# --- a thread that comes to no CPU ---

# For longer than those are waited for that cannot stop.
starved() {
	local cpu hogs=() swapping
	cpu=$(awk '/^Cpus_allowed_list/ { n = split($2, a, /[,-]/); print a[n] }' /proc/self/status)
	start "$root/starved.out" taskset -c "$cpu" chrt --idle 0 "$root/kept" epoll
	sleep 0.3
	for _ in 1 2 3 4; do taskset -c "$cpu" nice -n -20 sh -c 'while :; do :; done' & hogs+=($!); done
	pids+=("${hogs[@]}")
	sleep 0.1
	on "$pid" kept --patience=100 >"$root/said" 2>&1 &
	swapping=$!
	sleep 2
	kill "${hogs[@]}"
	wait "$swapping"
	sleep 0.3
	ends_well
}
check "a call goes on whose thread could not stop in time" starved

# --- what it gets later does not keep it from its original ---

locked_kb() {		# of the mapping at that address
	awk -v at="$1-" 'index($0, at) == 1 { here = 1 } here && $1 == "Locked:" { print $2; exit }' "/proc/$pid/smaps"
}
gives_back() {		# HOW COMMAND...: beneath
	local at
	start "$root/back.out" "${@:2}" "$root/kept" "$1"
	sleep 0.2
	on "$pid" kept >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
	at=$("$live" look "$pid" "$root/gen" | cut -d' ' -f1)
	kill -USR1 "$pid"
	sleep 0.2
	off "$pid" >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
	is_on "$pid" && { echo "still there"; return 1; }
	[ "$1" != locks-all ] || [ "$(locked_kb "$at")" -gt 0 ] || { echo "its text is not locked any more"; return 1; }
	on "$pid" kept >"$root/said" 2>&1 && { echo "it got it again"; return 1; }
	ends_well
}
check "one that has locked memory since gives it back" gives_back locks
check "and its text is locked, if all is" gives_back locks-all
check "so does one that must not be looked into any more" gives_back private setpriv --reuid=65534 --clear-groups
done_testing
