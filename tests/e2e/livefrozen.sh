#!/bin/bash
# livefrozen.sh - a process that is frozen by its control group keeps nobody waiting, and loses nothing
#
# Both kinds of freezer that the system has, and one that freezes while the process is swapped, at each place.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
live=$B/morph-live
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-livefrozen.XXXXXX") || exit 1
pids=()
groups=()
clean() {
	kill -9 "${pids[@]}" 2>/dev/null
	for g in "${groups[@]}"; do
		freeze "$g" off
		for _ in {1..50}; do rmdir "$g" 2>/dev/null && break; sleep 0.02; done
	done
	rm -rf "$root"
}
trap clean EXIT
mkdir "$root/gen"
. tests/e2e/live.bash

freeze() {		# GROUP off|on
	local state=FROZEN
	[ "$2" = on ] || state=THAWED
	if [ -e "$1/cgroup.freeze" ]; then
		[ "$2" = on ] && echo 1 >"$1/cgroup.freeze" || echo 0 >"$1/cgroup.freeze"
	else
		echo $state >"$1/freezer.state"
	fi
}
# TYPE [CONTROLLER]: a new group of the first such file system is $group
make_group() {
	local at
	at=$(awk -v type="$1" -v has="${2:-}" '$3 == type && (has == "" || ("," $4 ",") ~ ("," has ",")) { print $2; exit }' /proc/mounts)
	group=$at/morph-livefrozen.$$
	[ -n "$at" ] && mkdir "$group" 2>/dev/null || return 1
	groups+=("$group")
	[ -e "$group/cgroup.freeze" ] || [ -e "$group/freezer.state" ]
}
within() {		# SECONDS COMMAND...: it ends by itself
	local rc
	timeout -s KILL "$@" >"$root/said" 2>&1
	rc=$?
	[ $rc -lt 124 ] || { echo "it did not end: $rc"; return 1; }
	return $rc
}
is_put_off() {		# COMMAND...
	local rc
	within 5 "$@"
	rc=$?
	[ $rc = 3 ] && grep -q frozen "$root/said" || { echo "$rc"; cat "$root/said"; return 1; }
}
ends() {		# $pid, as it should
	kill "$pid"
	wait "$pid"
	local rc=$?
	[ $rc = 0 ] || { echo "it ended with $rc"; return 1; }
}
others_are_out() {	# the frozen one is first
	local frozen=$pid other
	start "$root/other.out" "$root/steady" count
	sleep 0.2
	other=$pid
	pid=$frozen
	on "$other" steady || return 1
	within 15 "$live" off-all "$root/gen/steady" --patience=3000
	grep -q "process $frozen: .*frozen" "$root/said" || { cat "$root/said"; return 1; }
	is_on "$other" && { echo "the other one has it still"; return 1; }
	kill "$other"
	wait "$other"
}
told() {		# SIGINT ends it
	"$live" off "$pid" "$root/gen" --patience=60000 >/dev/null 2>&1 &
	local tool=$! i
	sleep 0.3
	kill -INT $tool
	for i in {1..50}; do kill -0 $tool 2>/dev/null || return 0; sleep 0.02; done
	kill -9 $tool
	echo "it goes on"
	return 1
}

prepare steady "$B/tests/e2e/steady" || exit 1
for kind in "cgroup2" "cgroup freezer"; do
	make_group $kind || { skip "a process in a frozen group of $kind" "there is none"; continue; }
	start "$root/steady.out" "$root/steady" registers
	echo "$pid" >"$group/cgroup.procs"
	sleep 0.2
	fit steady
	on "$pid" steady >/dev/null
	check "a process in a group of $kind has it" is_on "$pid"
	freeze "$group" on
	sleep 0.2
	check "frozen, it is put off" is_put_off "$live" off "$pid" "$root/gen" --patience=300
	check_here "so it is where it is asked of all, and others have their turn" others_are_out
	set -m
	check "the tool can be told to end" told
	set +m
	(sleep 0.5; freeze "$group" off) &
	check "once it thaws it is taken out" off "$pid" --patience=10000
	check_here "and nothing of it has changed" ends
done

# From each of the tool's system calls on.
frozen_at() {		# WAY STEP
	local n=0 rc=0 way=$1 again=0
	start "$root/steady.out" "$root/steady" registers
	echo "$pid" >"$group/cgroup.procs"
	sleep 0.2
	[ "$way" = on ] || on "$pid" steady || return 1
	# on a busy machine no moment may have come before: then once more
	while { [ $rc = 0 ] || { [ $rc = 2 ] && [ $((again += 1)) -lt 20 ]; }; } && [ $n -lt 400 ]; do
		n=$((n + (rc ? 0 : $2)))
		timeout -s KILL 20 "$B/tests/e2e/killat" "-$group/cgroup.freeze" $n "$live" $way "$pid" $([ $way = on ] &&
			echo "$root/steady.plan" "$root/gen/steady" || echo "$root/gen") --patience=100 >"$root/said" 2>&1
		rc=$?
		freeze "$group" off
		sleep 0.01
		kill -0 "$pid" 2>/dev/null || { echo "$way: it ended at $n"; return 1; }
		if [ $way = on ]; then
			off "$pid" >"$root/said" 2>&1
		else
			on "$pid" steady >"$root/said" 2>&1
		fi || { echo "at $n"; cat "$root/said"; return 1; }
	done
	[ $rc = 1 ] && [ $n -gt 40 ] || { echo "$way: $n, then $rc"; cat "$root/said"; return 1; }
	ends
}
group=${groups[0]:-}
if [ -e "$group/cgroup.freeze" ]; then
	check_here "it survives being frozen anywhere in a swap" frozen_at on 5
	check_here "and in one back" frozen_at off 7
else
	skip "a process that is frozen in a swap" "there is no group of cgroup2"
fi
done_testing
