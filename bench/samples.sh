#!/bin/bash
# samples.sh - what samples alone bring, and whether the daemon would lay a program out by so few of them
#
# Of one recording of the training of bench/speed.sh so many samples are chosen by chance; the layout by them is
# held against the complete profile of an input that was not used.  Nothing is timed: the figures are the same
# on any machine with the same programs and the same recording.
#
#	PROGRAMS="perl cc1 ..."	perl python3.11 gawk sqlite3 cc1 cc1plus
#	SIZES="1000 ..."	1000 2500 5000 10000 20000
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
PROGRAMS=${PROGRAMS:-perl python3.11 gawk sqlite3 cc1 cc1plus}
SIZES=${SIZES:-1000 2500 5000 10000 20000} POOL=${POOL:-25000} LIMIT=${LIMIT:-900}
BENCH_WORK=${BENCH_WORK:-${BENCH_CACHE:-/var/tmp/morph-bench-cache}/counted}
. bench/common.bash
. bench/programs.bash
result samples "What samples alone bring"

# Share of the time in blocks not seen yet, at 95 %, by Good and Turing, as policy/usage.c has it.
unseen() {		# PROFILE
	awk '$1 == "block" && $3 > 0 { n += $3; once += $3 < 1.5; twice += $3 >= 1.5 && $3 < 2.5 }
		END {
			v = once + 2 * twice - once * once / n
			printf "%.3f", (once + 1.645 * sqrt(v > 0 ? v : 0)) / n
		}' "$1"
}
most=$(awk '$1 == "max_unseen_pct:" { print $2; exit }' etc/morph.yaml)

row() {			# LABEL VARIANT [PROFILE]
	local f u=- does=-
	read -r -a f <<<"$(figures "$2")"
	if [ $# -gt 2 ]; then
		u=$(unseen "$3")
		does=$(awk -v u="$u" -v m="$most" 'BEGIN { print (100 * u > m ? "no" : "yes") }')
	fi
	echo "| $NAME | $1 | ${f[0]} | $(awk -v o="$original" -v x="${f[0]}" -v c="$complete" 'BEGIN { printf "%.3f", (o - x) / (o - c) }') |" \
		"${f[1]} | ${f[2]} | $u | $does |"
}

measure() {		# NAME WORKLOAD FILE PROGRAM
	local n original complete rest
	program_load "$@"
	prepare_program >&2 && prepare_profile exact >&2 && count_exact exact-test "" test >&2 &&
		lay_out complete "$P/exact.profile" >&2 || { echo "$NAME: not prepared" >&2; return; }
	read -r original rest <<<"$(figures original)"
	read -r complete rest <<<"$(figures complete)"
	row original original
	for n in $SIZES; do
		prepare_profile "$n" >&2 && lay_out "samples-$n" "$P/$n.profile" >&2 &&
			row "$n" "samples-$n" "$P/$n.profile"
	done
	row complete complete
}

echo "Executions on the test's input, by its complete profile. \`share\`: of the gain in taken branches that the complete"
echo "profile of all training has. Entry jumps are calls from what stayed to what moved; a page is hot that has a byte"
echo "that runs. \`unseen\`: the most of the program's time, at 95 %, that may be in blocks without a sample; above"
echo "$most %, \`optimize.max_unseen_pct\`, the daemon does not lay it out by samples alone."
echo
echo "| program | samples | taken branches | share | entry jumps | hot 4-KiB pages | unseen | laid out |"
echo "|---|---|---|---|---|---|---|---|"
while read -r line; do
	[ -z "$line" ] || measure $line
done < <(programs)
result_end
