#!/bin/bash
# import.sh - recordings that the perf of this machine makes become the profiles that a log makes
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-import.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
import() { "$B/morphctl" import "$@"; }

# --- what is no recording ---

printf 'neither\n' >"$root/text"
LC_ALL=C awk 'BEGIN { srand(24); for (i = 0; i < 100000; i++) printf "%c", int(rand() * 255) + 1 }' >"$root/random"
: >"$root/empty"
printf '2ELIFREP\0\0\0\0\0\0\0\150' >"$root/big-endian"
for f in text random empty; do
	check "what is no recording is an error ($f)" fails 1 "'$root/$f': neither perf.data nor text of perf script" \
		import "$root/$f" -o "$root/none"
done
check "one of another byte order is refused" fails 3 "'$root/big-endian': recorded on a big-endian machine" \
	import "$root/big-endian" -o "$root/none"
check "a file that is not there is an error" fails 1 'No such file' import "$root/missing" -o "$root/none"
check "so is a folder" fails 1 "'$root': " import "$root" -o "$root/none"
check "nothing is written then" not [ -e "$root/none" ]
check "without a file it is wrong usage" fails 2 usage import -o "$root/none"

# --- files that a recording names ---

# Opening a FIFO for reading, even without waiting, lets its writer go on.
mkfifo "$root/fifo"
touch "$root/not-opened"
{ : >"$root/fifo"; rm "$root/not-opened"; } 2>/dev/null &
writer=$!
printf '7 1.0: PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 08:01 1 0]: r-xp %s\n7 2.0: 400010\n' "$root/fifo" >"$root/fifo.txt"
check "a recording may name a pipe" import "$root/fifo.txt" -o "$root/of-fifo"
check "which is said" grep -q "$root/fifo: not a regular file" <(import "$root/fifo.txt" -o "$root/of-fifo")
sleep 0.2
check "and not opened" [ -e "$root/not-opened" ]
kill "$writer"

# --- recordings of this machine ---

command -v perf >/dev/null || skip_all "no perf"
cp "$(readlink -f /usr/bin/gzip)" "$root/prog"
seq 1 400000 >"$root/numbers"
record() { perf record -q -e cpu-clock:u -F 997 "$@" -- "$root/prog" -kf "$root/numbers" 2>"$root/why"; }
record -o "$root/plain.data" || skip_all "perf cannot record: $(tail -n 1 "$root/why")"
profile() { cat "$root/$1"/prog.*.profile; }
samples() { profile "$1" | awk '$1 == "block" { n += $3 } END { print n + 0 }'; }
of_perf() {		# FILE: samples in the program, by perf's own words
	perf script -i "$1" -F ip,dso --show-mmap-events 2>/dev/null | grep -v PERF_RECORD | grep -c "($root/prog)"
}
same_as_perf() {	# FILE NAME: every sample in the program is in a block, or outside of all
	local want got
	want=$(of_perf "$1")
	got=$(profile "$2" | awk '$1 == "block" || $1 == "outside" { n += $NF } END { print n + 0 }')
	echo "$want samples, $got imported"
	[ "$want" -gt 50 ] && [ "$want" = "$got" ]
}
check "a recording is imported" import "$root/plain.data" -o "$root/plain"
check "with all of its samples" same_as_perf "$root/plain.data" plain
check "its clock is said" grep -q '^clock cpu-clock$' <(profile plain)
check "an optimization takes it" "$B/morph-edit" optimize "$root/prog" --profile "$(ls "$root"/plain/prog.*)" -o "$root/out"
perf script -i "$root/plain.data" -F comm,pid,tid,time,ip --show-mmap-events --show-task-events >"$root/plain.txt" 2>/dev/null
check "so is its text" import "$root/plain.txt" -o "$root/text-of"
check "which has the same samples" cmp <(profile plain | grep ^block) <(profile text-of | grep ^block)
record -o - >"$root/pipe.data"
if perf script -i "$root/pipe.data" >/dev/null 2>&1; then
	check "a recording through a pipe is imported" import "$root/pipe.data" -o "$root/pipe"
	check "with all of its samples" same_as_perf "$root/pipe.data" pipe
else
	skip "a recording through a pipe is imported" "this perf cannot read it either"
fi
if record -z -o "$root/packed.data"; then
	check "a compressed recording is imported" import "$root/packed.data" -o "$root/packed"
	check "with all of its samples" same_as_perf "$root/packed.data" packed
else
	skip "a compressed recording is imported" "$(tail -n 1 "$root/why")"
fi
if record --buildid-mmap -o "$root/ids.data"; then
	check "a recording with build-ids is imported" import "$root/ids.data" -o "$root/ids"
	check "with all of its samples" same_as_perf "$root/ids.data" ids
else
	skip "a recording with build-ids is imported" "$(tail -n 1 "$root/why")"
fi
check "two are added up" import "$root/plain.data" "$root/plain.data" -o "$root/twice"
check "sample by sample" [ "$(samples twice)" = $(($(samples plain) * 2)) ]
check "each is told of once" [ "$(import "$root/plain.data" "$root/plain.data" -o "$root/twice" | grep -c ' samples, ')" = 2 ]
size=$(stat -c %s "$root/plain.data")
for n in 10 100 1000 $((size / 2)) $((size - 1)); do
	head -c "$n" "$root/plain.data" >"$root/cut.data"
	check "what was cut short is an error ($n of $size bytes)" fails 1 "cut.data': " \
		import "$root/cut.data" -o "$root/none"
done

# --- a file that is another one by now ---

cp "$root/prog" "$root/kept"
cp "$(readlink -f /usr/bin/sqlite3)" "$root/prog"
check "a changed module is told of" import "$root/plain.data" -o "$root/changed"
check "with the reason" grep -q "$root/prog: another file is there by now: its build-id is" <(import "$root/plain.data" -o "$root/changed")
check "and has no profile" not ls "$root"/changed/prog.*
check "the one that was kept elsewhere can be named" import "$root/plain.data" -o "$root/named" --binary="$root/kept"
check "and gives the same" cmp <(profile plain | grep ^block) <(profile named | grep ^block)
done_testing
