#!/bin/bash
# attribute.sh - samples per second of one core, from spool file to store, and instructions for each
set -eu
cd "$(dirname "$0")/.."
. bench/common.bash

# Of the spool files after the second one, per sample; "-" without valgrind.
instructions() {	# LOAD
	local n of=()
	command -v valgrind >/dev/null || { echo -; return; }
	for n in 2 4; do
		mkdir "$T/$1.$n"
		valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
			--toggle-collect=work_off "$B/bench/attribute" "$T/$1.$n" 0 "$n" "$1" 2>&1 >/dev/null |
			sed -n 's/.*Collected : //p' >"$T/count"
		of+=("$(cat "$T/count")")
		rm -rf "${T:?}/$1.$n"
	done
	echo $(((of[1] - of[0]) / 2 / 200000))
}

mkdir "$T/all"
"$B/bench/attribute" "$T/all" >"$T/out"
result attribute "Samples per second of the Manager"
echo "Spool files of 200,000 samples, as \`ingest_spool_file()\` takes them in: read, attributed to the blocks of 60"
echo "modules of 2,000 to 256,000 blocks, every second one by the block map of a generation, and committed to"
echo "the store; CPU time of one core, 15 files after 10 others. The target is 5,000,000 samples a second."
echo
echo "*used* is made as a machine was found that compiles and tests; in *spread* each sample is of another"
echo "process, in any of its files, and places hardly ever come twice."
echo
echo "| load | of the same process as its CPU's last | distinct places | spool bytes a sample | samples a second, best | median | worst | instructions a sample |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
while read -r line; do
	load=${line#| }
	echo "$line $(instructions "${load%% *}") |"
done <"$T/out"
result_end
