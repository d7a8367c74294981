#!/bin/bash
# complete.sh - the CPU time that the Editor takes by complete profiles, beside another build of it
#
#	OLDER=FILE		the other build's morph-edit; without: this one's alone
#	PROGRAMS="cc1 ..."	cc1 cc1plus python3.11 perl php
#	ROUNDS=N		9, in which both run one after the other, the first one by turns
#
# With complete profiles most functions that ever ran are hot, and their lines are fitted: the most work that a
# profile makes.  Figures of the layout are beside it, as less time must not mean a worse one.
cd "$(dirname "$0")/.." || exit 1
PROGRAMS=${PROGRAMS:-cc1 cc1plus python3.11 perl php} ROUNDS=${ROUNDS:-9} LIMIT=${LIMIT:-900}
BENCH_WORK=${BENCH_WORK:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}/counted}
. bench/common.bash
. bench/programs.bash
OLDER=${OLDER:+$(realpath -e "$OLDER")} || exit 1
prepare_machine
result complete "What the Editor takes by complete profiles"

cpu_ms() { RUNS=1 "$B/bench/cost" "$@" 2>>"$T/log" | awk '{ print $4 }'; }

# Median of the numbers on standard input, and the interval that holds that of all with 95 %.
median() {
	sort -n | awk -v form="$1" '{ v[NR] = $1 }
		END {
			low = int((NR - 1.96 * sqrt(NR)) / 2); low = low < 1 ? 1 : low + 1
			m = (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2
			printf form, m, v[low], v[NR + 1 - low]
		}'
}

lines() {		# GENERATION: executions across lines, bytes of hot text
	"$B/morph-edit" report "$original" --profile "$P/exact.profile" --compare "$1" |
		awk '/^blocks across 64-byte lines/ { b = $NF } /^hot text bytes/ { h = $NF } END { printf "%.0f %.0f", b, h }'
}

measure() {		# NAME WORKLOAD FILE PROGRAM
	local original order editors=("$B/morph-edit" ${OLDER:+"$OLDER"}) k i ratio=- older=-
	program_load "$@"
	prepare_program >&2 && prepare_profile exact >&2 || { echo "$NAME: not prepared" >&2; return; }
	original=$(variant_dir original)/$file
	for k in "${!editors[@]}"; do rm -f "$T/ms.$k"; done
	for i in $(seq "$ROUNDS"); do
		order=${!editors[*]}
		[ $((i % 2)) = 1 ] || order=$(rev <<<"$order")
		for k in $order; do
			cpu_ms "${editors[k]}" optimize "$original" --profile "$P/exact.profile" -o "$T/generation.$k" >>"$T/ms.$k"
		done
	done
	"$B/morph-verify" "$original" "$T/generation.0" >>"$T/log" || { echo "$NAME: not verified" >&2; return; }
	if [ "$OLDER" ]; then
		older="$(awk '{ print $1 / 1000 }' "$T/ms.1" | median '%.2f') | $(lines "$T/generation.1" | sed 's/ / | /')"
		ratio=$(paste "$T/ms.1" "$T/ms.0" | awk '{ print $1 / $2 }' | median '%.2f (%.2f to %.2f)')
		older=" $older |"
	fi
	echo "| $NAME | $(awk '{ print $1 / 1000 }' "$T/ms.0" | median '%.2f') | $(lines "$T/generation.0" | sed 's/ / | /') |${OLDER:+$older $ratio |}"
}

echo "Seconds of CPU time of \`morph-edit optimize\`, medians of $ROUNDS rounds${OLDER:+; beside it the build ${OLDER_NAME:-of another version}, run in
turns with it, and how many times as much that takes, with the interval that holds it with 95 %}. Both write one
generation each, of which blocks that run across 64-byte lines and the bytes of hot text are given."
echo
heading="| program | s | across lines | hot text |"
[ -z "$OLDER" ] || heading="$heading other: s | across lines | hot text | ratio |"
echo "$heading"
sed -E 's/[^|]+/---/g' <<<"$heading"
while read -r line; do
	[ -z "$line" ] || measure $line
done < <(programs)
result_end
