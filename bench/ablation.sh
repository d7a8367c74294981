#!/bin/bash
# ablation.sh - what each pass of the Editor contributes: all of them, all but one, one alone, none
#
#	bench/ablation.sh [prepare|measure|count|report]...	all by default; bench/stages.bash says more
#
# PROFILE is exact (counted), or a number of samples.  The variants of bench/speed.sh with it are used
# again.
cd "$(dirname "$0")/.." || exit 1
PROFILE=${PROFILE:-exact}
passes=$(sed -nE 's/^\t\{ "([a-z]+)", +".*", true, .*/\1/p' editor/pass.c)
VARIANTS="morph-$PROFILE $(for p in $passes; do echo "morph-$PROFILE+no.$p"; done) \
	$(for p in $passes; do echo "morph-$PROFILE+only.$p"; done) morph-$PROFILE+none"
. bench/stages.bash

report() {
	result ablation "What each pass contributes"
	cat <<-END
	Profile: $PROFILE.  \`+no.PASS\`: without this pass; \`+only.PASS\`: this one alone; \`+none\`: functions with samples
	moved, in their original order.  Columns as in speed.md.

	END
	facts | awk -v what=ablation -f bench/speed.awk
	result_end
}

stages ablation "$@"
