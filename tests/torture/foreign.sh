#!/bin/bash
# foreign.sh - programs that no other test or bench names: does a moved one do what its original does?
#
# Runs the workloads of tests/torture/foreign as the torture run does its own (work.sh): programs and their
# libraries are moved in several orders, proven, and put in the originals' places in a mount namespace of the
# run.  PROGRAMS chooses workloads (a shell pattern, extended ones too), TORTURE_ORDERS the orders besides that
# of the layout, default "1 2".  Needs root, and a network where packages are missing, which are installed.
# What has a result by this build of the Editor is not run again.  The table goes to bench/results/foreign.md.
set -u
cd "$(dirname "$0")/../.." || exit 1
. bench/common.bash
. tests/torture/common.bash
export TORTURE_WORKS=tests/torture/foreign ORDERS=${TORTURE_ORDERS-1 2}
export TORTURE_CPU=${TORTURE_CPU:-300} TORTURE_MEM=${TORTURE_MEM:-8192} TORTURE_WORK_S=${TORTURE_WORK_S:-300}
: >"$STATE/work-lines"
tests/torture/work.sh "${PROGRAMS:-*}"

versions() {		# WORKLOAD
	(packages=; . "$TORTURE_WORKS/$1.sh"
	dpkg-query -W -f '${Package} ${Version}, ' $packages 2>/dev/null | sed 's/, $//')
}

about() {		# WORKLOAD
	sed -n "1s/^# $1\\.sh - //p" "$TORTURE_WORKS/$1.sh"
}

result foreign "Programs of other makers"
echo "Programs and libraries that no other test or bench names, moved whole with all libraries that they load, in"
echo "orders: layout ${ORDERS} (N: shuffled by that seed).  Each generation was proven first.  A run is the same"
echo "if its output, errors and exit code are; where the original's differ from run to run, those lines count that"
echo "were the same in three runs of it.  Editor and Verifier: $EDITOR."
echo
echo "| workload | packages | files moved | orders the same | else |"
echo "|---|---|---|---|---|"
cut -f 1 "$STATE/work-lines" | sort -u | sed 's/^work=//' | while read -r name; do
	printf '| %s: %s | %s |' "$name" "$(about "$name")" "$(versions "$name")"
	awk -F '\t' -v name="work=$name" '
		$1 != name { next }
		{ for (i = 2; i <= 5; i++) { v = $i; sub(/^[a-z]*=/, "", v); f[i] = v } }
		f[2] + 0 > most { most = f[2] + 0 }
		f[4] == "same" { same = same (same ? ", " : "") f[3] }
		f[4] != "same" { bad = bad (bad ? "; " : "") f[3] " " f[4] ": " f[5] }
		f[4] == "same" && match(f[5], /not moved: .*/) { left = substr(f[5], RSTART) }
		END {
			gsub(/morph-(edit|verify)-[0-9a-f]+: /, "", left)
			gsub(/'\''[^'\'']*\/[^'\'']*'\'': /, "", left)
			printf " %d | %s | %s |\n", most, same, bad (bad && left ? "; " : "") left
		}' "$STATE/work-lines"
done
awk -F '\t' '{ n[$4]++ } END { printf "\n%d runs the same, %d different, %d failed, %d skipped.\n",
	n["result=same"], n["result=different"], n["result=failed"], n["result=skipped"] }' "$STATE/work-lines"
result_end
! grep -q -e 'result=different' -e 'result=failed' "$STATE/work-lines"
