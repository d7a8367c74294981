#!/bin/bash
# speed.sh - how much faster programs become, by Morph and by llvm-bolt, from complete and from sampled
# profiles, on inputs that were not trained on
#
#	bench/speed.sh [prepare|measure|count|layouts|report]...	bench/stages.bash says more
#
# Results are kept by the processor's vendor: bench/results/speed-amd.md, speed-intel.md.
#
#	PROGRAMS='perl-q gs' VARIANTS='morph-exact bolt-exact' bench/speed.sh prepare measure
cd "$(dirname "$0")/.." || exit 1
VARIANTS=${VARIANTS:-copy morph-exact morph-100000 morph-100000-pc morph-20000 morph-20000+counted morph-5000 bolt-exact bolt-exact-lines bolt-100000 bolt-100000-nosplit bolt-100000-nosplit-lines}
. bench/stages.bash

report() {
	result "speed-$(processor_vendor)" "How much faster programs become"
	cat <<-END
	CPU time of the original divided by that of the variant, which run side by side in slices of 5 ms of one CPU; medians of the ratios of the rounds
	with the 95 % interval of the median (sign test), the least and the greatest, on an input that was not
	trained on.  Each round runs fresh copies of all, in memory without huge pages; \`copy\` has the original's bytes.  \`fastest\`: the least time of the original divided by the variant's least, which what else runs
	on the hardware changes less, since it only ever adds.  \`morph-N\` has N samples in the
	module, with what their registers hold and point to; \`morph-N-pc\` their PCs only, \`morph-N+counted\` besides what was counted in training of the functions that hold $UNCERTAIN % of what the samples leave uncertain; \`bolt-N\` PCs (with and without
	splitting functions, and with its own way to keep hot jumps off the ends of lines of 32 bytes, \`-lines\`); \`exact\` is counted by each tool's own instrumentation.  $(bolt_version), with the
	options that suit it best.  Names with -q are built for bolt from Debian's sources
	(\`$(sed -n 's/^compile="\(.*\)"/\1/p' bench/build.sh) -Wl,-q\`); the others are Debian's own, stripped.  Instructions and I1 misses are cachegrind's
	(32 KiB, 8 ways) on a smaller input; taken branches, Ext-TSP and hot bytes those of the layout
	(\`morph-edit report\`) under the most complete profile.  The second set of programs, $(programs_second | wc -l) from \`lua5.4\` on,
	was frozen before the first measurement of any of them (ea6c2e7).

	END
	facts | awk -v what=speed -f bench/median.awk -f bench/speed.awk
	result_end
}

stages speed "$@"
