#!/bin/bash
# foreign.sh [NUMBER] - damages generations by kind of claim; what the Verifier accepts must run the same
#
# Programs of tests/programs, in C and C++, by gcc and clang, at any and at a fixed address, are laid out
# by two shuffles and by exact counts of a run, and made to count; tests/verify/foreign.c damages each generation.  NUMBER
# (100,000) is that of all damaged ones together.  The report is bench/results/mutants.md; the damaged
# generations that ran differently, if any, are left in FOREIGN_WORK, default /var/tmp/morph-foreign.
set -u
cd "$(dirname "$0")/../.." || exit 1
. bench/common.bash
number=${1:-100000}
edit=$B/morph-edit foreign=$B/tests/verify/foreign
bad=${FOREIGN_WORK:-/var/tmp/morph-foreign}
rm -rf "$bad" && mkdir -p "$bad" || exit 1
unwinding=tests/programs/unwinding

# NAME COMMAND...: programs without arguments that run all of their code
build() {
	local name=$1
	shift
	"$@" -w -o "$T/$name" -lpthread 2>"$T/log" || { echo "foreign: $name is not built: $(head -n 1 "$T/log")" >&2; return; }
	programs+=("$name")
}

generations() {		# NAME: files NAME.gen-*
	local at=$T/$1 seed
	for seed in 1 2; do
		"$edit" optimize "$at" --all --shuffle=$seed -o "$at.gen-shuffle$seed" || return 1
	done
	"$edit" instrument "$at" -o "$at.counting" --counts "$at.counts" && chmod +x "$at.counting" &&
		{ "$at.counting" >/dev/null 2>&1; "$edit" counts "$at" "$at.counts" -o "$at.profile"; } &&
		"$edit" optimize "$at" --profile "$at.profile" -o "$at.gen-profile" &&
		"$edit" instrument "$at" --private -o "$at.gen-counting" --counts "$at.counts"
}

programs=()
for cc in gcc clang; do
	build switches-$cc $cc -O2 tests/programs/switches/switches.c
	build switches-$cc-fixed $cc -O1 -no-pie -fno-pie tests/programs/switches/switches.c
done
for cc in g++ clang++; do
	build throw-$cc $cc -std=c++17 -O2 $unwinding/throw.cc
	build objects-$cc $cc -std=c++17 -O1 $unwinding/objects.cc
	build frames-$cc-fixed $cc -std=c++17 -O2 -no-pie -fno-pie $unwinding/frames.cc
done
list=()
for name in "${programs[@]}"; do
	generations "$name" || { echo "foreign: no generations of $name" >&2; continue; }
	list+=("$T/$name".gen-*)
done
[ ${#list[@]} -gt 0 ] || exit 1
each=$((number * 6 / 5 / ${#list[@]} + 1))	# of some kinds there is nothing in some programs

seed=0
for gen in "${list[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n
	done
	seed=$((seed + 1))
	name=$(basename "$gen")
	(mkdir -p "$bad/$name" && "$foreign" "${gen%.gen-*}" "$gen" "$each" "$seed" "$bad/$name" \
		>"$T/$name.out" 2>"$T/$name.err" || echo "$name: exit code $?" >>"$T/failed"
	rm -f "$bad/$name/undamaged"; rmdir "$bad/$name" 2>/dev/null) &
done
wait

result mutants "Damaged generations, and what the Verifier says to them"
echo "${#list[@]} generations of ${#programs[@]} programs, two shuffles, one by exact counts and one that counts of each."
echo "What is accepted has been run: it must print what its original prints, and end so."
echo
cat "$T"/*.out | awk -F '\t' '
	{
		if (!($1 in tried))
			kind[++n] = $1
		tried[$1] += $2; refused[$1] += $3; same[$1] += $4; different[$1] += $5
		a += $2; r += $3; s += $4; d += $5
	}
	END {
		printf "%d kinds, %d damaged generations: %d refused, %d accepted and run the same, %d run differently\n\n", n, a, r, s, d
		print "| kind | tried | refused | run the same | run differently |\n|---|---|---|---|---|"
		for (i = 1; i <= n; i++)
			printf "| %s | %d | %d | %d | %d |\n", kind[i], tried[kind[i]], refused[kind[i]], same[kind[i]], different[kind[i]]
	}'
[ ! -e "$T/failed" ] || { echo; cat "$T/failed" "$T"/*.err; }
result_end
[ ! -e "$T/failed" ]
