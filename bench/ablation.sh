#!/bin/bash
# ablation.sh - what each pass of the Editor contributes, and where the gain is lost with few samples
#
#	bench/ablation.sh [prepare|measure|count|layouts|report]...	bench/stages.bash says more
#
# Of the complete profile: all passes, all but one, none.  Of N samples: their own layout, and that of
# the complete counts of the functions that they hit, with and without how often these run.  The variants
# of bench/speed.sh are used again.
cd "$(dirname "$0")/.." || exit 1
SIZES=${SIZES:-20000 5000}
. bench/stages.bash
VARIANTS="copy morph-exact $(for p in $passes; do echo "morph-exact+no.$p"; done) \
	morph-exact+keep-pointers morph-exact+none $(for n in $SIZES; do echo "morph-exact@$n morph-$n+shapes morph-$n"; done)"

report() {
	result ablation "What each pass contributes, and where the gain is lost"
	cat <<-END
	\`copy\` is the original's bytes: what measuring makes of no difference at all.  \`+no.PASS\`: without this pass;
	\`+none\`: functions that ran moved, in their original order;
	\`+keep-pointers\`: what pointers enter comes over entry jumps.  \`morph-N\` has N samples;
	\`morph-exact@N\` the complete counts, but of the functions only of which N samples or their edges tell;
	\`morph-N+shapes\` these counts as to where functions go, while how often they run is estimated from the samples.
	Columns as in speed-intel.md.

	END
	facts | awk -v what=ablation -v sizes="$SIZES" -f bench/median.awk -f bench/speed.awk
	result_end
}

stages ablation "$@"
