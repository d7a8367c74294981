#!/bin/bash
# large.sh - time and memory of the whole job over programs of all sizes, llvm-bolt beside it
#
# For each file: optimize and verify, with every movable function moved, and with a profile of a tenth
# of the functions, at most HOT (3000) (bench/hot.c).  FILES are those measured, RUNS (3) runs each.
. bench/common.bash
cost=$B/bench/cost
export RUNS=${RUNS:-3}
HOT=${HOT:-3000}
lib=/usr/lib/x86_64-linux-gnu
files="/usr/bin/{sort,gawk,bash,git,perl,python3.11,rg,gdb,php8.2,node}
	$lib/{libsqlite3.so.0,libstdc++.so.6,libcrypto.so.3,libgs.so.10,libavcodec.so.59}
	$lib/{libclang-cpp.so.14,libLLVM-14.so.1} /usr/lib/postgresql/15/bin/postgres
	/usr/lib/gcc/x86_64-linux-gnu/12/{cc1,cc1plus}"
BOLT=$(command -v llvm-bolt-19 || command -v llvm-bolt-16 || command -v llvm-bolt)
result large "Time and memory over programs of all sizes"

echo "CPU time (user and system) of one process after the other, medians of $RUNS runs; peak is the greatest"
echo "resident set of any of them.  The whole job is to analyse, optimize and write (optimize) and to"
echo "verify what was written.  Targets: libLLVM-14 in 12 s and 1024 MiB, with a profile of a few thousand"
echo "functions in 5 s and 400 MiB; cc1 in 5 s and 400 MiB, with a profile in 2 s and 200 MiB; growth in"
echo "proportion to the text.  llvm-bolt is ${BOLT:+$("$BOLT" --version | grep -o 'version [0-9.]*')}, one thread, one run, all functions rewritten and laid out without a profile;"
echo "it writes a file, but shows nothing about it."
echo
echo "| file | text MB | what | functions moved | optimize s | verify s | job s | s / MB of text | peak MiB | MiB / MB | bolt s | bolt MiB |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"

row() {			# FILE TEXT WHAT BOLT OPTION...
	local file=$1 text=$2 what=$3 bolt=$4 o v
	shift 4
	rm -f "$T/out"
	if ! o=$("$cost" "$B/morph-edit" optimize "$file" -o "$T/out" --stats "$T/stats" "$@" 2>"$T/why"); then
		echo "| ${file##*/} | $text | $what | $(tail -n 1 "$T/why") |"
		return
	fi
	v=$("$cost" "$B/morph-verify" "$file" "$T/out" 2>"$T/why") ||
		what="$what, not verified: $(tail -n 1 "$T/why" | sed 's/|/ /g; s/.*: //')"
	echo "$o $v $bolt" | awk -v name="${file##*/}" -v text="$text" -v what="$what" \
		-v moved="$(awk '$1 == "functions_moved" { print $2 }' "$T/stats")" '{
		peak = $6 > $12 ? $6 : $12; job = ($4 + $10) / 1000; peak /= 1024
		b = $13 == "-" ? "- | -" : sprintf("%.2f | %.0f", $16 / 1000, $18 / 1024)
		printf "| %s | %.2f | %s | %d | %.2f | %.2f | %.2f | %.3f | %.0f | %.1f | %s |\n", name, text, what,
			moved, $4 / 1000, $10 / 1000, job, job / text, peak, peak / text, b
	}'
}

bolted() {		# FILE: its cost, or - when it cannot
	[ -n "$BOLT" ] || { echo -; return; }
	RUNS=1 "$cost" "$BOLT" --allow-stripped --lite=0 --reorder-blocks=ext-tsp --no-threads \
		"$1" -o "$T/bolted" 2>/dev/null || echo -
}

field() {		# NAME: its first number in the JSON on standard input
	sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" | head -n 1
}

for f in $(eval "echo ${FILES:-${files//$'\n'/ }}"); do
	f=$(realpath -q "$f") && [ -f "$f" ] || continue
	"$B/morph-edit" analyze --json "$f" >"$T/json" 2>/dev/null || continue
	echo "$(field text_bytes <"$T/json") $(field functions <"$T/json") $f"
done | sort -n | while read -r bytes functions f; do
	text=$(awk "BEGIN { print $bytes / 1e6 }")
	"$B/morph-edit" analyze --table "$T/table" "$f" >/dev/null || continue
	"$B/bench/hot" "$T/table" "$f" $((functions / 10 < HOT ? functions / 10 : HOT)) >"$T/hot.profile"
	row "$f" "$text" all "$(bolted "$f" | tail -n 1)" --all
	row "$f" "$text" profile - --profile "$T/hot.profile"
done
result_end
