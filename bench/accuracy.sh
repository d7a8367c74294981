#!/bin/bash
# accuracy.sh - how near inference comes to the truth, from how many samples
#
# Truth: each program, instrumented, counts its training inputs.  Samples: a long recording of the same
# runs at RATE Hz with registers (bench/programs.bash keeps it), of which bench/thin takes random
# subsets of SIZES samples, SEEDS of each.  `other inputs` has the truth of the test's input instead.
# `PCs only` leaves out what registers told; `counted` has besides what running on the training inputs counted of
# the functions that are uncertain by the first subset.  PROGRAMS are those meant, all by default.
SIZES=${SIZES:-1000 5000 20000 100000} SEEDS=${SEEDS:-3} INFER=
. bench/common.bash
. bench/programs.bash

# The measures of one kind of evidence against the truth of each input: a file of $T/judged, in the order
# that bench/accuracy prints them.  INFER has further arguments of it.
judge() {		# KIND FILTER SIZE TRUTH...
	local seed kind=$1 filter=$2 size=$3 truth
	shift 3
	for ((seed = 1; seed <= SEEDS; seed++)); do
		"$B/bench/thin" "$P/pool.profile" "$size" "$seed" | grep -vE "$filter" >"$T/profile"
		"$B/morph-edit" infer "$(variant_dir original)/$file" --profile "$T/profile" $INFER -o "$T/counts" ||
			continue
		for truth in "$@"; do
			"$B/bench/accuracy" "$(variant_dir original)/$file" "$P/$truth.profile" "$T/counts" \
				>>"$T/judged/$truth $kind $size"
		done
	done
}

# A row of means over the seeds for each size.
rows() {		# NAME-OF-EVIDENCE TRUTH KIND
	local size
	for size in $SIZES; do
		awk -v head="| $NAME | $1 | $size |" '!($1 in sum) { name[++n] = $1 } { sum[$1] += $2; seen[$1]++ }
			END { printf "%s", head; for (i = 1; i <= n; i++) printf " %.3f |", sum[name[i]] / seen[name[i]]; print "" }' \
			"$T/judged/$2 $3 $size"
	done
}

program_rows() {
	local size
	rm -rf "$T/judged" && mkdir "$T/judged"
	for size in $SIZES; do
		judge edges '^$' "$size" exact exact-test
		judge PCs '^(edge|call) ' "$size" exact
		prepare_counted "$size" &&
			INFER="--counted $P/$(counted_name "$size").profile" judge counted '^$' "$size" exact-test
	done
	rows "edges" exact edges
	rows "PCs only" exact PCs
	rows "other inputs" exact-test edges
	rows "counted, other inputs" exact-test counted
}

result accuracy "How near inference comes to the truth"
echo "Shares of what truly ran, mean of $SEEDS random subsets of each size; \`bench/accuracy.c\` says what each measure is."
echo "Targets at 100,000 samples: within 0.93, edges 0.82, right 0.97; right at 20,000: 0.95, at 5,000: 0.92."
echo
echo "| program | evidence | samples | block5 | block10 | block15 | edge10 | overlap | within | edges | right | error | entries |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
while read -r line; do
	program_load $line
	prepare_program && prepare_pool && profile_exact && count_exact exact-test "" test ||
		{ echo "$NAME: not prepared" >&2; continue; }
	program_rows
done < <(programs) >"$T/rows"
cat "$T/rows"
awk -F'|' '{ k = $3 "|" $4; n[k]++; for (i = 5; i < NF; i++) s[k, i] += $i; last = NF }
	END { for (k in n) { printf "| mean of %d |%s|", n[k], k; for (i = 5; i < last; i++) printf " %.3f |", s[k, i] / n[k]; print "" } }' "$T/rows" |
	sort -t '|' -k 3,3 -k 4n
result_end
