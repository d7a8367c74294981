#!/bin/bash
# instrument.sh - what counting exactly costs: size, instructions, CPU time
#
# Instructions are those of one run under cachegrind, and do not depend on what else the machine does;
# CPU times are pairs of runs.  ROUNDS=N pairs, 5 by default.  Programs, inputs and samples are those of
# bench/speed.sh.
cd "$(dirname "$0")/.." || exit 1
PROGRAMS=${PROGRAMS:-perl python3.11 gawk sqlite3 cc1}
. bench/common.bash
. bench/programs.bash
result instrument "What counting exactly costs"

echo "\`morph-edit instrument\` on programs of the system; for sqlite3 it is its library.  Ratios are counting / as it was, so 1.5"
echo "means half as much again; \`threads\` is with \`--threads\`, \`placed\` the instructions with \`--profile\` of a test run,
\`uncertain\` those when only the functions are counted that hold $UNCERTAIN % of what 20,000 samples leave uncertain,
\`private\` those of private counters in all functions, \`private uncertain\` in these; \`verify ms\` is what the Verifier
takes for the former.  Output is compared with the original's."
echo
echo "| program | file MB | counting MB | instrument ms | counts ms | instructions | placed | uncertain | private | private uncertain | verify ms | CPU time | threads | same output |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"

milliseconds() { "$B/bench/cost" "$@" | awk '{ print $4 }'; }	# COMMAND...

# Makes a variant; prints how long that took.
counting() {		# VARIANT OPTION...
	local d
	d=$(variant_dir "$1")
	rm -rf "$d" && mkdir -p "$d" && chmod 755 "$d" &&
		milliseconds "$B/morph-edit" instrument "$(variant_dir original)/$file" -o "$d/$file" \
			--counts "$P/$1.counts" "${@:2}" && chmod 755 "$d/$file"
}

# CPU time of the original divided by the variant's, and whether they print the same.
beside() {		# VARIANT
	"$B/bench/pairs" -n "${ROUNDS:-5}" "$(variant_run original test)" "$(variant_run "$1" test)" |
		awk '{ print $6, $NF }'
}

instructions() {	# VARIANT
	command -v valgrind >/dev/null || { echo 0; return; }
	valgrind --trace-children=yes --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		/bin/sh -c "$(variant_run "$1" small)" 2>&1 >/dev/null |
		awk '/I *refs/ { gsub(",", ""); if ($NF > most) most = $NF } END { print most + 0 }'
}

measure() {		# NAME WORKLOAD FILE PROGRAM
	local made pair lock told proven v
	program_load "$@"
	prepare_program && prepare_profile 20000 || { echo "$NAME: not prepared" >&2; return; }
	made=$(counting counting) && counting counting-threads --threads >/dev/null || return
	pair=$(beside counting)
	lock=$(beside counting-threads)
	told=$(milliseconds "$B/morph-edit" counts "$(variant_dir original)/$file" "$P/counting.counts" \
		-o "$P/counting.profile")
	counting counting-placed --profile "$P/counting.profile" >/dev/null &&
		counting counting-uncertain --profile "$P/20000.profile" --uncertain "$UNCERTAIN" >/dev/null &&
		counting counting-private --private >/dev/null &&
		counting counting-privately --private --profile "$P/20000.profile" --uncertain "$UNCERTAIN" >/dev/null || return
	proven=$(milliseconds "$B/morph-verify" --counting "$(variant_dir original)/$file" "$(variant_dir counting-private)/$file")
	echo "$(for v in original counting counting-placed counting-uncertain counting-private counting-privately; do
		instructions $v; done | tr '\n' ' ') $proven" "$pair $lock" | awk -v name="$NAME" -v from="$(stat -c %s "$(variant_dir original)/$file")" \
		-v to="$(stat -c %s "$(variant_dir counting)/$file")" -v made="$made" -v told="$told" '
		function times(k) { return $1 ? sprintf("%.2f", k / $1) : "-" }
		{
			printf "| %s | %.2f | %.2f | %d | %d | %s | %s | %s | %s | %s | %d | %.2f | %.2f | %s |\n",
				name, from / 1e6, to / 1e6, made, told, times($2), times($3), times($4), times($5),
				times($6), $7, 1 / $8, 1 / $10, $9 == "yes" && $11 == "yes" ? "yes" : "no"
		}'
	rm -rf "$P"/v/counting* "$P"/counting*
}

while read -r line; do measure $line </dev/null; done < <(programs)
result_end
