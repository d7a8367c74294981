#!/bin/bash
# liveworkers.sh - threads of the kernel in a process go on while it is swapped, and keep it from nothing
#
# Of programs whose requests io_uring does in threads of theirs (tests/e2e/workers.c).
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
live=$B/morph-live
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-liveworkers.XXXXXX") || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$root"' EXIT
mkdir "$root/gen"
. tests/e2e/live.bash

prepare workers "$B/tests/e2e/workers" || exit 1
# HOW: 0, or 77 where the kernel does none
begins() {
	start "$root/$1.out" "$root/workers" "$1"
	sleep 0.3
	kill -0 "$pid" 2>/dev/null || { wait "$pid"; return; }
	fit workers
}
swap() {		# $pid is swapped in and out five times, and ends as it should
	local rc
	for _ in {1..5}; do
		on "$pid" workers && is_on "$pid" && off "$pid" || return 1
		sleep 0.02
	done
	kill "$pid"
	wait "$pid"
	rc=$?
	[ $rc = 0 ] || { echo "it ended with $rc: $(cat "$1")"; return 1; }
}
has_thread() { grep -q "$1" "/proc/$pid/task"/*/comm; }

begins request
if [ $? = 77 ]; then
	skip_all "the kernel has no io_uring for it"
fi
check "a request has a worker" has_thread iou-wrk
check_here "it is swapped, and its request is not cut short" swap "$root/request.out.err"
for how in asleep spins; do
	begins $how
	check "io_uring polls in a thread of its own ($how)" has_thread iou-sqp
	check_here "it is swapped as well" swap "$root/$how.out.err"
done
begins named
check "a thread is called so" has_thread iou-wrk
said=$(on "$pid" workers --patience=200 2>&1)
code=$?
check "but it is looked at as all others are" eval '[ $code = 3 ] && grep -q "has a time limit" <<<"$said"'
kill "$pid"
wait "$pid" 2>/dev/null
done_testing
