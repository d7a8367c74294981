#!/bin/bash
# editor.sh - what the Editor costs: analyse, optimize, write and verify, time and memory
#
# With a profile of a training run when sampling is possible (root), and with every movable
# function moved, which is the most there can be to do.
. bench/common.bash
cost=$B/bench/cost
result editor "What the Editor costs"

sqlite=$(realpath "$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && /x86-64/ { print $NF; exit }')")
mkdir -p "$T/bin" "$T/lib"
cp /usr/bin/perl /usr/bin/sqlite3 "$T/bin/" && cp "$sqlite" "$T/lib/libsqlite3.so.0"
if [ "$(id -u)" = 0 ]; then
	train_profile perl 1000 10
	train_profile sqlite3 5000 10
fi

echo "Medians of 5 runs.  Analyse and verify are processes of their own; optimize analyses, optimizes"
echo "and writes.  The target is under 1 s and 150 MiB for optimize and verify together."
echo
echo "| file | what | functions moved | analyse ms | optimize ms | verify ms | optimize + verify ms | peak MiB |"
echo "|---|---|---|---|---|---|---|---|"
row() {			# NAME FILE WHAT OPTION...
	local name=$1 file=$2 what=$3 a o v
	shift 3
	a=$("$cost" "$B/morph-edit" analyze "$file") || return
	o=$("$cost" "$B/morph-edit" optimize "$file" -o "$T/out" --stats "$T/stats" "$@") || return
	v=$("$cost" "$B/morph-verify" "$file" "$T/out") || return
	echo "$a $o $v" | awk -v name="$name" -v what="$what" \
		-v moved="$(awk '$1 == "functions_moved" { print $2 }' "$T/stats")" '{
		peak = $6; if ($12 > peak) peak = $12; if ($18 > peak) peak = $18
		printf "| %s | %s | %d | %d | %d | %d | %d | %.0f |\n", name, what, moved, $2, $8, $14, $8 + $14, peak / 1024
	}'
}
for f in "perl $T/bin/perl" "libsqlite3.so.0 $T/lib/libsqlite3.so.0"; do
	set -- $f
	profile=$(ls "$T/profiles/$1".*.profile 2>/dev/null | head -n 1)
	[ -n "$profile" ] && row "$1" "$2" profile --profile "$profile"
	row "$1" "$2" all --all
done
result_end
