#!/bin/bash
# identity.sh - what moving costs by itself: all functions moved, in their original order
#
# cc1 and clang (with libLLVM and libclang-cpp, all three moved) compile a preprocessed source of this
# tree, original and generation side by side on one CPU, in slices of it (PAIRS, 15).  Beside it figures
# that do not depend on the machine's mood: by cachegrind the instructions executed and level-1
# instruction cache misses (32 KiB, 8 ways, 64-byte lines).
. bench/common.bash
PAIRS=${PAIRS:-15}
result identity "What moving costs by itself"

echo "Every movable function is moved, blocks and functions keep their order (\`optimize --all --passes=\`)."
echo "Ratio: CPU time of the original divided by that of the generation, median of $PAIRS pairs that ran side by side in slices of one CPU,"
echo "with the least and greatest ratio of a pair.  The target is a ratio of at least 0.99."
echo
echo "| program | functions moved | ratio | range | instructions | I1 misses | same output |"
echo "|---|---|---|---|---|---|---|"

mkdir -p "$T/old" "$T/new"
lib=/usr/lib/x86_64-linux-gnu

move() {		# FILE NAME: original and generation under old/ and new/; how many functions moved
	cp "$(realpath "$1")" "$T/old/$2" &&
	"$B/morph-edit" optimize "$T/old/$2" --all --passes= -o "$T/new/$2" --stats "$T/stats" &&
	awk '$1 == "functions_moved" { print $2 }' "$T/stats"
}

counts() {		# OLD|NEW COMMAND: "instructions misses"
	rm -f "$T/cg.out"
	LD_LIBRARY_PATH=$T/$1 valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 \
		--cachegrind-out-file="$T/cg.out" "$T/$1/"$2 >/dev/null 2>&1
	awk '/^summary:/ { print $2, $3 }' "$T/cg.out"
}

row() {			# NAME MOVED PROGRAM ARGUMENT...
	local name=$1 moved=$2 ratio low high same cg=" - | - "
	shift 2
	run() { echo "LD_LIBRARY_PATH=$T/$1 exec $T/$1/$2"; }
	"$B/bench/pairs" -s -n "$PAIRS" "$(run old "$*")" "$(run new "$*")" >"$T/pairs"
	read -r _ _ _ _ _ ratio _ low _ high _ _ _ same <"$T/pairs"
	if command -v valgrind >/dev/null; then
		cg=$(echo "$(counts old "$*") $(counts new "$*")" | awk 'NF == 4 {
			printf "%.4g -> %.4g (%+.2f %%) | %.4g -> %.4g (%+.2f %%)",
				$1, $3, 100 * ($3 / $1 - 1), $2, $4, 100 * ($4 / $2 - 1) }')
	fi
	echo "| $name | $moved | $ratio | $low-$high | $cg | $same |"
}

source=postmorph/tables/jumptable.c
if cc1=$(gcc -print-prog-name=cc1 2>/dev/null) && [ -x "$cc1" ]; then
	gcc -I. -E -P "$source" -o "$T/gcc.i"
	n=$(move "$cc1" cc1) && row cc1 "$n" cc1 -quiet -O1 "$T/gcc.i" -o -
fi
if clang=$(command -v clang-14); then
	"$clang" -I. -E -P "$source" -o "$T/clang.i"
	n=$(move "$clang" clang) &&
		n="$n + $(move $lib/libLLVM-14.so.1 libLLVM-14.so.1)" &&
		n="$n + $(move $lib/libclang-cpp.so.14 libclang-cpp.so.14)" &&
		row "clang" "$n" clang -cc1 -triple x86_64-pc-linux-gnu -O1 -S "$T/clang.i" -o -
fi
result_end
