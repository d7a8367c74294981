#!/bin/bash
# older.sh - what another build of the Editor makes of the same samples, beside this one
#
#	OLDER=FILE [RESULT=FILE] [SIZES='100000 20000 5000'] bench/older.sh [prepare|measure|count|layouts|report]...
#
# Writes bench/results/older.md, or RESULT.  OLDER is the other build's morph-edit, which reads the same profiles; what
# it makes is proven by the morph-verify beside it.  SIZES are numbers of samples, or `exact`.  The stages are
# those of bench/stages.bash.
cd "$(dirname "$0")/.." || exit 1
[ -n "${OLDER:-}" ] || { echo "skipped: OLDER names no other morph-edit"; exit 0; }
OLDER=$(realpath -e "$OLDER") || exit 1
VARIANTS=$(for n in ${SIZES:-100000 20000 5000}; do echo "morph-$n+older morph-$n"; done)
. bench/stages.bash

# Round by round, since both ran side by side in each: how many times as fast this one's file is.
beside() {
	facts 2>/dev/null | awk '
	function sorted(a, n,   i, k, x) {
		for (i = 2; i <= n; i++)
			for (k = i; k > 1 && a[k - 1] > a[k]; k--) { x = a[k]; a[k] = a[k - 1]; a[k - 1] = x }
	}
	$1 == "times" { delete column; for (i = 3; i <= NF; i++) column[$i] = i }
	$1 == "round" {
		for (v in column)
			if ((v "+older") in column) {
				key = $2 " | " v
				if (!(key in n)) { name[++names] = key; variant[key] = v }
				r[key, ++n[key]] = $column[v "+older"] / $column[v]
			}
	}
	END {
		print "| program | variant | rounds | median | 95 % |\n|---|---|---|---|---|"
		for (i = 1; i <= names; i++) {
			k = name[i]; m = n[k]
			for (j = 1; j <= m; j++) a[j] = r[k, j]
			sorted(a, m)
			median = (a[int((m + 1) / 2)] + a[int((m + 2) / 2)]) / 2
			low = int((m - 1.96 * sqrt(m)) / 2); low = low < 1 ? 1 : low + 1
			printf "| %s | %d | %.3f | %.3f-%.3f |\n", k, m, median, a[low], a[m + 1 - low]
			v = variant[k]; sum[v] += log(median); square[v] += log(median) ^ 2; of[v]++
		}
		print ""
		for (v in sum) {
			mean = sum[v] / of[v]
			e = of[v] > 1 ? 1.96 * sqrt((square[v] / of[v] - mean ^ 2) / (of[v] - 1)) : 0
			printf "Geometric mean of %s: %.4f (%.4f-%.4f by the spread of %d programs).\n", v, exp(mean),
				exp(mean - e), exp(mean + e), of[v]
		}
	}'
}

report() {
	result older "Two Editors beside each other"
	cat <<-END
	From the same samples: \`+older\` by ${OLDER_NAME:-another build}, the others by the version of the head.  Columns as in
	speed-intel.md.

	END
	facts | awk -v what=older -f bench/median.awk -f bench/speed.awk
	printf '\n## This one beside the other, round by round\n\n'
	beside
	result_end
}

stages older "$@"
