#!/bin/bash
# instrument.sh - what counting everything costs: size, instructions, CPU time
#
# Instructions are those of one run under cachegrind, and do not depend on what else the machine does;
# CPU times are pairs of runs.  ROUNDS=N pairs, 5 by default.
. bench/common.bash
result instrument "What counting everything costs"
workloads=$(realpath bench/work)
programs="perl python3.11 gawk sqlite3"

size() {		# WORKLOAD COLUMN of bench/work/sizes
	awk -v name="$1" -v column="$2" '$1 == name { print $column }' "$workloads/sizes"
}

echo "\`morph-edit instrument\` on programs of the system; for sqlite3 it is its library.  Ratios are counting / as it was, so 1.5"
echo "means half as much again; \`threads\` is with \`--threads\`, \`placed\` the instructions with \`--profile\` of a test run.
Output is compared with the original's."
echo
echo "| program | file MB | counting MB | instrument ms | counts ms | instructions | placed | CPU time | threads | same output |"
echo "|---|---|---|---|---|---|---|---|---|---|"

milliseconds() {	# COMMAND...
	"$B/bench/cost" "$@" | awk '{ print $4 }'
}

run() {			# NAME DIRECTORY PROGRAM-OR-LIBRARY-FOLDER
	if [ -d "$3" ]; then
		echo "cd $2 && LD_LIBRARY_PATH=$3 $workloads/$1.sh run /usr/bin/$1"
	else
		echo "cd $2 && $workloads/$1.sh run $3"
	fi
}

instructions() {	# COMMAND
	valgrind --trace-children=yes --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		/bin/sh -c "$1" 2>&1 >/dev/null | awk '/I *refs/ { gsub(",", ""); if ($NF > most) most = $NF } END { print most + 0 }'
}

for name in $programs; do
	file=/usr/bin/$name
	[ -x "$file" ] || continue
	if [ "$name" = sqlite3 ]; then
		file=$(realpath "$(ldconfig -p | awk '$1 == "libsqlite3.so.0" && /x86-64/ { print $NF; exit }')")
		mkdir -p "$T/plain" "$T/locked" "$T/placed"
		plain=$T/plain/libsqlite3.so.0 locked=$T/locked/libsqlite3.so.0 placed=$T/placed/libsqlite3.so.0
	else
		plain=$T/$name locked=$T/$name.locked placed=$T/$name.placed
	fi
	made=$(milliseconds "$B/morph-edit" instrument "$(realpath "$file")" -o "$plain" --counts "$T/$name.counts") || continue
	"$B/morph-edit" instrument "$(realpath "$file")" -o "$locked" --counts "$T/locked.counts" --threads || continue
	place=$plain other=$locked third=$placed
	[ "$name" = sqlite3 ] && place=$T/plain other=$T/locked third=$T/placed
	mkdir -p "$T/small" "$T/test"
	(cd "$T/small" && rm -rf ./* && "$workloads/$name.sh" prepare "$(size "$name" 4)" 77)
	(cd "$T/test" && rm -rf ./* && "$workloads/$name.sh" prepare "$(size "$name" 2)" 77)
	before=$(run "$name" "$T/test" "/usr/bin/$name")
	pair=$("$B/bench/pairs" -n "${ROUNDS:-5}" "$before" "$(run "$name" "$T/test" "$place")")
	lock=$("$B/bench/pairs" -n "${ROUNDS:-5}" "$before" "$(run "$name" "$T/test" "$other")")
	told=$(milliseconds "$B/morph-edit" counts "$(realpath "$file")" "$T/$name.counts" -o "$T/profile")
	"$B/morph-edit" instrument "$(realpath "$file")" -o "$placed" --counts "$T/placed.counts" --profile "$T/profile" || continue
	old=0 new=0 less=0
	if command -v valgrind >/dev/null; then
		old=$(instructions "$(run "$name" "$T/small" "/usr/bin/$name")")
		new=$(instructions "$(run "$name" "$T/small" "$place")")
		less=$(instructions "$(run "$name" "$T/small" "$third")")
	fi
	echo "$pair $lock" | awk -v name="$name" -v from="$(stat -L -c %s "$file")" -v to="$(stat -c %s "$plain")" \
		-v made="$made" -v told="$told" -v old="$old" -v new="$new" -v less="$less" '{
		printf "| %s | %.2f | %.2f | %d | %d | %s | %s | %.2f | %.2f | %s |\n", name, from / 1e6, to / 1e6, made, told,
			old ? sprintf("%.2f", new / old) : "-", old ? sprintf("%.2f", less / old) : "-", 1 / $6, 1 / $20, $14 == "yes" && $28 == "yes" ? "yes" : "no" }'
done
result_end
