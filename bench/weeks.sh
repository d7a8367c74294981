#!/bin/bash
# weeks.sh - what the policy decides over four weeks of made-up use, and what that costs and gains
. bench/common.bash
result weeks "When to reoptimize: four weeks of use"

echo "A program whose use changes in several ways, hour by hour (\`bench/weeks.c\`), and morphd's own rule for"
echo "when to lay it out anew (\`policy/decide.c\`), with the default policy.  Work: jobs, in percent of those of"
echo "an oracle that knows the use of each hour exactly and makes a new layout every hour.  Gain: what the"
echo "layouts gain in Ext-TSP score over the original order, in percent of the oracle's.  Seeds 1 to 3."
echo
for seed in 1 2 3; do
	"$B/bench/weeks" "$seed"
	echo
done
result_end
