#!/bin/bash
# speed.sh - how much faster the demo's programs become, on inputs that were not trained on
#
# Trains each program with the tick clock (TRAIN seconds, 40), optimizes and verifies it, then runs
# original and generation alternately (PAIRS, 15).  Beside it figures that do not depend on the
# machine's mood: instructions and level-1 instruction cache misses by cachegrind (32 KiB, 8 ways,
# 64-byte lines), and the Ext-TSP score of the layout.
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root: it samples"; exit 1; }
PAIRS=${PAIRS:-15} TRAIN=${TRAIN:-40}
result speed "How much faster programs become"

mkdir -p "$T/bin" "$T/lib" "$T/new/bin" "$T/new/lib"
cp /usr/bin/{perl,sqlite3,bash,sort,gzip} "$T/bin/"
cp "$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && /x86-64/ { print $NF; exit }')" "$T/lib/libsqlite3.so.0"

echo "Ratio: CPU time of the original divided by that of the generation, median of $PAIRS interleaved"
echo "pairs, with the least and greatest ratio of a pair.  Trained for $TRAIN s on inputs made from other"
echo "numbers.  The row sqlite3 runs the program and libsqlite3.so.0, both laid out anew."
echo
echo "| program | samples | functions moved | Ext-TSP | ratio | range | I1 misses | instructions | same output |"
echo "|---|---|---|---|---|---|---|---|---|"

make_new() {		# FILE (below bin/ or lib/): "samples moved before after" or nothing
	local profile
	cp "$T/$1" "$T/new/$1"
	profile=$(ls "$T/profiles/${1##*/}".*.profile 2>/dev/null | head -n 1)
	[ -n "$profile" ] || return
	"$B/morph-edit" optimize "$T/$1" --profile "$profile" -o "$T/out" --stats "$T/stats" || return
	"$B/morph-edit" verify "$T/$1" "$T/out" >/dev/null || return
	cat "$T/out" >"$T/new/$1"
	awk '{ v[$1] = $2 } END { printf "%d %d %s %s\n", v["samples"], v["functions_moved"], v["exttsp_before"], v["exttsp_after"] }' "$T/stats"
}

misses() {		# ROOT PROGRAM: "instructions misses" of a smaller run
	local out
	out=$(cd "$T/small/$2" && LD_LIBRARY_PATH=$1/lib "$work/$2.sh" run "$T/cachegrind.$2" 2>&1 >/dev/null)
	awk '/^summary:/ { print $2, $3 }' "$T/cg.out"
}

for s in perl:1000:120 sqlite3:5000:500 bash:6000:600 sort:25000:2000 gzip:1500:150; do
	IFS=: read -r p size small <<<"$s"
	train_profile "$p" "$size" "$TRAIN"
	[ "$p" = sqlite3 ] && make_new lib/libsqlite3.so.0 >"$T/figures.lib"
	make_new "bin/$p" >"$T/figures"
	read -r samples moved before after <"$T/figures"
	if [ "$p" = sqlite3 ]; then
		read -r s2 m2 before after <"$T/figures.lib"
		samples="${samples:-0} + $s2" moved="${moved:-0} + $m2"
	fi
	mkdir -p "$T/test/$p" "$T/small/$p"
	(cd "$T/test/$p" && "$work/$p.sh" prepare "$size" 77)
	(cd "$T/small/$p" && "$work/$p.sh" prepare "$small" 77)
	run="cd $T/test/$p && exec env LD_LIBRARY_PATH"
	"$B/bench/pairs" -n "$PAIRS" "$run=$T/lib $work/$p.sh run $T/bin/$p" \
		"$run=$T/new/lib $work/$p.sh run $T/new/bin/$p" >"$T/pairs"
	read -r _ _ _ _ _ ratio _ low _ high _ _ _ same <"$T/pairs"
	cg=
	if command -v valgrind >/dev/null; then
		for root in "$T" "$T/new"; do
			printf '#!/bin/sh\nexec valgrind -q --tool=cachegrind --I1=32768,8,64 --cache-sim=yes %s %s "$@"\n' \
				"--cachegrind-out-file=$T/cg.out" "$root/bin/$p" >"$T/cachegrind.$p"
			chmod +x "$T/cachegrind.$p"
			cg="$cg $(misses "$root" "$p")"
		done
	fi
	echo "$cg" | awk -v p="$p" -v samples="$samples" -v moved="$moved" -v b="$before" -v a="$after" \
		-v ratio="$ratio" -v low="$low" -v high="$high" -v same="$same" '{
		i = m = "-"
		if (NF == 4 && $1 > 0 && $2 > 0) {
			m = sprintf("%d -> %d (%+.1f %%)", $2, $4, 100 * ($4 / $2 - 1))
			i = sprintf("%+.2f %%", 100 * ($3 / $1 - 1))
		}
		printf "| %s | %s | %s | %.3f -> %.3f | %.3f | %.3f..%.3f | %s | %s | %s |\n", p, samples, moved,
			b, a, ratio, low, high, m, i, same
	}'
done
result_end
