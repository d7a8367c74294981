#!/bin/bash
# soundness.sh - programs that know something of their own code: kinds, builds, orders, outcomes
#
# Runs tests/programs/knows_address.sh and knows_flow.sh and sums up what they print by kind.
# KNOWS=full: built in all ways, which takes an hour.
set -u
cd "$(dirname "$0")/.." || exit 1
. bench/common.bash
for t in knows_address knows_flow; do
	{ B=$B tests/programs/$t.sh >"$T/$t" 2>"$T/err.$t" || echo "$t: exit code $?" >>"$T/failed"; } &
	pids+=($!)
done
wait "${pids[@]}"		# the others are those who write the result
result soundness "Programs that know something of their own code"
echo "Each source of tests/programs/knows is built in several ways, all of it that can be moved is moved in"
echo "orders of three seeds and by a profile of its own run (some count, too), and what runs often by that"
echo "profile alone; each generation is verified, and does what its original does.${KNOWS:+  KNOWS=$KNOWS.}"
echo
cat "$T/knows_address" "$T/knows_flow" | awk '
	/: same output$/ || /^not ok/ {
		bad = /^not ok/
		sub(/^(not )?ok [0-9]+ - /, "")
		sub(/: [^:]*$/, "")
		kind = $1
		sub(/,$/, "", kind)
		build = $0
		sub(/^[^ ]+ /, "", build)
		order = build
		sub(/,? (seed [0-9]+|profile|few functions|counting|by its profile)$/, "", build)
		if (!(kind in runs))
			list[++n] = kind
		if (!seen[kind, build]++)
			builds[kind]++
		runs[kind]++
		wrong[kind] += bad
		all += 1
		allbad += bad
	}
	END {
		print "| kind | builds | generations run | differently |\n|---|---|---|---|"
		for (i = 1; i <= n; i++)
			printf "| %s | %d | %d | %d |\n", list[i], builds[list[i]], runs[list[i]], wrong[list[i]]
		printf "| all | | %d | %d |\n", all, allbad
	}'
[ ! -e "$T/failed" ] || { echo; cat "$T/failed"; }
result_end
[ ! -e "$T/failed" ]
