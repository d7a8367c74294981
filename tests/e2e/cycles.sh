#!/bin/bash
# cycles.sh - loops that are made to wait, under the daemon: annotate blames the right instruction, of the original and of
# its generation, and says of how many samples that is
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
# With a folder of debug files of its own where packages have theirs.
debug=/usr/lib/debug
if [ -z "${own_debug:-}" ] && [ -d "$debug" ] && unshare -m true 2>/dev/null; then
	own_debug=1 exec unshare -m bash -c 'mount -t tmpfs none "$1" && exec bash "$0"' "$0" "$debug"
fi
make_root gzip
# With a C library in it, or its text would be too short to keep a profile of.
${CC:-cc} -O2 -g -w -static -Wl,--build-id -o "$root/bin/stalls" tests/e2e/annotate/stalls.c 2>"$root/why" || skip_all "$(cat "$root/why")"
cp "$root/bin/stalls" "$root/orig/stalls"
if [ -n "${own_debug:-}" ]; then
	id=$(readelf -n "$root/bin/stalls" | sed -n 's/.*Build ID: //p')
	mkdir -p "$debug/.build-id/${id:0:2}" && objcopy --only-keep-debug "$root/bin/stalls" "$debug/.build-id/${id:0:2}/${id:2}.debug"
	strip -g -o "$root/bin/stripped" "$root/bin/stalls"
fi
cat >>"$root/morph.yaml" <<-END
	monitor:
	  clock: cpu-clock
	  rate_hz: 997
	  registers: off
END
stalls=$root/bin/stalls
symbol() { nm "$root/orig/stalls" | awk -v s="$1" '$3 == s { print "0x" $1 }'; }
culprit() { printf '%x' $(($(symbol "$1") + $(symbol "culprit_$1"))); }
notes() { ctl --json annotate "$stalls" "$1" 2>"$root/err"; }
worst() {		# the instruction that is to blame for most of the time
	jq -r '[.instructions[] | select(.culprit != "-")] | group_by(.culprit)
		| map({ culprit: .[0].culprit, time: ([.[] | .cycles * .executions] | add) }) | max_by(.time) | .culprit | ltrimstr("0x")' "$1"
}
blames() {		# FUNCTION
	notes "$1" >"$root/notes.$1" || { cat "$root/err"; return 1; }
	[ "$(worst "$root/notes.$1")" = "$(culprit "$1")" ] ||
		{ echo "to blame is $(culprit "$1")"; jq -c '.instructions[]' "$root/notes.$1"; cat "$root/err"; return 1; }
}
check_here "a daemon" start_daemon
check "the program runs" sampled stalls 2000 "$stalls" 8000000
for f in division chase; do
	check "$f: the right instruction is to blame" blames $f
	check "$f: causes are all of the time" jq -e '([.causes[].at_least_pct] | add) < 100.5 and ([.causes[].at_most_pct] | add) > 98' "$root/notes.$f"
	check "$f: a block's samples are its instructions'" jq -e '([.blocks[].samples] | add) == ([.instructions[].samples] | add)
		and ([.blocks[].samples] | add) == .function[0].samples' "$root/notes.$f"
	check "$f: of how many samples that is, is said" grep -q 'are known by instruction' "$root/err"
done
check "divisions have their part of the causes" jq -e '[.causes[] | select(.cause | test("division")) | .at_most_pct] | add >= 20' "$root/notes.division"
check "instructions have their text" jq -e 'any(.instructions[]; .instruction | test("div"))' "$root/notes.division"
check "and source lines" jq -e 'any(.instructions[]; .source | test("^stalls.c:[0-9]+$"))' "$root/notes.division"
if [ -n "${own_debug:-}" ]; then
	check "a stripped one runs" sampled stripped 500 "$root/bin/stripped" 2000000
	check "its lines are those of its debug file" jq -e 'any(.instructions[]; .source | test("^stalls.c:[0-9]+$"))' \
		<(ctl --json annotate "$root/bin/stripped" division)
else
	skip "lines of a debug file" "no $debug, or no mount namespaces"
fi
hottest() {		# the first N are those with most samples, and nothing else is shown
	ctl --json annotate "$stalls" division --blocks --limit "$1" >"$root/hottest" &&
		jq -e --argjson n "$1" --slurpfile all "$root/notes.division" '(has("instructions") | not) and
			[.blocks[].samples] == ([$all[0].blocks[].samples | select(. > 0)] | sort | reverse)[:$n]' "$root/hottest"
}
check "blocks hottest first" hottest 9
check "as many as are asked for" hottest 1
check "a limit that is none is refused" eval '! ctl annotate "$stalls" division --blocks --limit=0 2>"$root/why" && grep -q "not a number from 1 on" "$root/why"'
check "a limit without them is refused" eval '! ctl annotate "$stalls" division --limit=1 2>"$root/why" && grep -q "limit is for --blocks" "$root/why"'
check "people see it in columns" eval 'ctl annotate "$stalls" division 2>/dev/null | grep -q "^causes"'
check "most of the function's samples are known by instruction" awk '/samples of the function/ { exit !($7 > 0.8 * $2) }' "$root/err"

# Samples of a generation are of the original's instructions.
was=$(jq '.function[0].samples' "$root/notes.division")
check "it is laid out anew" ctl reoptimize "$stalls"
check "its generation runs" "$stalls" 8000000
taken_in
check "the instruction is the original's" blames division
check "with more samples" jq -e --argjson was "$was" '.function[0].samples > $was' "$root/notes.division"
check "a function without samples is shown by its blocks" jq -e '(has("causes") | not) and (.blocks | length > 0) and
	all(.blocks[]; .cycles == null) and (.instructions | length > 0)' <(notes _start)
check_here "the daemon ends" stop_daemon
done_testing
