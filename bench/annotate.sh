#!/bin/bash
# annotate.sh - loops that are made to wait (tests/e2e/annotate/stalls.c): what `morphctl annotate` says of them
#
#	[RUNS=5] [N=20000000] bench/annotate.sh
#
# Cycles are the median of RUNS recordings of N rounds.  The section for this processor is written anew, those of
# others are kept.
cd "$(dirname "$0")/.." || exit 1
. bench/common.bash
out=bench/results/annotate.md
processor="## $(awk -F '\t*: ' '/^(vendor_id|cpu family|model)\t/ { printf "%s%s", sep, $2; sep = " " } /^$/ { exit }' /proc/cpuinfo)"
cases='division multiplication floating additions quotient root chase cached crossing misprediction jumping forwarding'
${CC:-cc} -O2 -w -o "$T/stalls" tests/e2e/annotate/stalls.c || exit 1
n=${N:-20000000}
"$B/morph-edit" instrument "$T/stalls" -o "$T/counting" --counts "$T/counts" && "$T/counting" "$n" &&
	"$B/morph-edit" counts "$T/stalls" "$T/counts" -o "$T/exact" || exit 1

address() { nm "$T/stalls" | awk -v s="$1" '$3 == s { print "0x" $1 }'; }
# CASE SAMPLES CYCLES BEST RIGHT CAUSES: of one recording
rows() {
	local c
	for c in $cases; do
		"$B/morphctl" --json annotate "$T/stalls" "$c" --log="$T/log" --counts="$T/exact" >"$T/notes" 2>"$T/why" || continue
		jq -r --arg c "$c" --arg culprit "$(printf '0x%x' $(($(address "$c") + $(address "culprit_$c"))))" '
			([.instructions[] | select(.culprit != "-")] | group_by(.culprit)
				| map({ culprit: .[0].culprit, time: ([.[] | .cycles * .executions] | add) }) | max_by(.time) | .culprit) as $blamed
			| ([.blocks[] | .executions] | max) as $runs
			| [$c, .function[0].samples, ([.blocks[] | .cycles * .executions] | add / $runs),
				([.blocks[] | .best_cycles * .executions] | add / $runs), (if $blamed == $culprit then 1 else 0 end),
				([.causes[] | select(.at_most_pct >= 5)
					| "\(.cause) \(.at_least_pct | round)" + (if .at_most_pct - .at_least_pct > 1 then "-\(.at_most_pct | round)" else "" end)]
					| join(", "))] | @tsv' "$T/notes"
	done
}
for ((run = 0; run < ${RUNS:-5}; run++)); do
	"$B/morphctl" record -o "$T/log" --clock=cpu-clock --rate=997 -- "$T/stalls" "$n" || exit 1
	rows >>"$T/rows"
done
table() {
	awk -F '\t' '
	{ k = $1; if (!(k in n)) name[++names] = k; n[k]++; samples[k] += $2; c[k, n[k]] = $3; best[k] = $4; right[k] += $5; why[k] = $6 }
	function median(k,   i, m, x) {
		for (i = 2; i <= n[k]; i++)
			for (m = i; m > 1 && c[k, m - 1] > c[k, m]; m--) { x = c[k, m]; c[k, m] = c[k, m - 1]; c[k, m - 1] = x }
		return c[k, int((n[k] + 1) / 2)]
	}
	END {
		print "| loop | samples | cycles | at best | right culprit | causes, % |"
		print "|---|---|---|---|---|---|"
		for (i = 1; i <= names; i++) {
			k = name[i]
			printf "| %s | %d | %.1f | %.1f | %d of %d | %s |\n", k, samples[k], median(k), best[k], right[k], n[k], why[k]
			all += n[k]; good += right[k]
		}
		printf "\nThe right culprit in %d of %d.\n", good, all
	}' "$T/rows"
}
others=$(awk -v own="$processor" '/^## / { keep = $0 != own } keep' "$out" 2>/dev/null)
{
	result_head "What loops that are made to wait are said to wait for"
	cat <<-END
	Each loop of \`tests/e2e/annotate/stalls.c\` has one instruction to blame for most of its time. Cycles
	are for each round, by samples, the processor's clock as the kernel tells it, and rounds that are
	counted: medians of ${RUNS:-5} recordings of $n rounds. Where the processor runs faster than the
	kernel says, they are too few by that factor. Causes are those of the last recording, of at least
	5 % of the time: from what is certain to what may be.

	$processor

	$(sed -n 's/^model name[ \t]*: //p' /proc/cpuinfo | head -n 1), $(awk -F ': ' '/^cpu MHz/ { print $2; exit }' /proc/cpuinfo) MHz, $(date -u +%Y-%m-%d).

	$(table)
	${others:+
	$others}
	END
} >"$out.new" && mv "$out.new" "$out"
cat "$out"
