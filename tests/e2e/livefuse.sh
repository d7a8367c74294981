#!/bin/bash
# livefuse.sh - a swap is not seen by threads that wait for a file system whose server answers EINTR when it is told
# of an interruption (FUSE)
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
live=$B/morph-live
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-live.XXXXXX") || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$root"' EXIT
mkdir "$root/gen"
. tests/e2e/live.bash
waits=$B/tests/e2e/fusewaits
said=$(timeout 10 "$waits" read)
[ $? != 77 ] || skip_all "no file system of one's own can be mounted here"
[ "${said% *}" = ok ] && ok "the file system works" || { not_ok "the file system works: $said"; done_testing; }
prepare fusewaits "$waits"
for how in main thread; do
	while read -r call later; do
		wait_in fusewaits "$call" $how ${later:+1} &
		[ "$(jobs -rp | wc -l)" -lt 7 ] || wait -n
	done < <("$waits")
done
wait
while read -r call later; do
	for how in main thread; do
		said=$(cat "$root/wait.$call.$how") n=$(cat "$root/swaps.$call.$how")
		# up to 800 ms more are for a machine with much to do
		[ "${said% *}" = ok ] && [ "${said#* }" -ge 950 ] && [ "${said#* }" -le 1800 ] && { [ -n "$later" ] || [ "${n:-0}" -gt 0 ]; } &&
			ok "$call in a $how thread, swapped $n times: $said" ||
			not_ok "$call in a $how thread, swapped $n times: $said"
	done
done < <("$waits")
done_testing
