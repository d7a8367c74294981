#!/bin/bash
# lines.sh - where code lies in 64-byte lines: what that costs this processor, and what pass lines makes of
# real programs
#
#	[OLDER=FILE] bench/lines.sh [costs|prepare|layouts|count|report]...	by default all of them, in this order
#
# costs runs bench/lines.c on CPU (the last one), RUNS (9) times ROUNDS (41) rounds; report then writes a
# section for this processor and keeps those of others.  The other stages are those of bench/stages.bash, for PROGRAMS:
# without pass lines beside with it, or OLDER, another build's morph-edit, beside this one.
cd "$(dirname "$0")/.." || exit 1
PROGRAMS=${PROGRAMS:-perl gawk bash git gzip sqlite3 ruby python3.11 php cc1}
base=morph-exact+${OLDER:+older}
[ "${OLDER:-}" ] || base=${base}no.lines
VARIANTS="$base morph-exact"
. bench/stages.bash
out=bench/results/lines.md
processor="$(awk -F '\t*: ' '/^(vendor_id|cpu family|model)\t/ { printf "%s ", $2 } /^$/ { exit }' /proc/cpuinfo)"
processor="## ${processor% }"

costs() {
	[ -x "$B/bench/lines" ] || make -s B="$B" "$B/bench/lines" || exit 1
	mkdir -p "$WORK"
	for _ in $(seq "${RUNS:-9}"); do
		"$B/bench/lines" "${CPU:-$(($(nproc) - 1))}" "${ROUNDS:-41}"
		sleep 1
	done | awk '{ k = $1 " " $2 " " $3 } !(k in least) { name[++n] = k; least[k] = $4 }
		$4 < least[k] { least[k] = $4 }
		END { for (i = 1; i <= n; i++) print name[i], least[name[i]] }' >"$WORK/lines.costs"
}

# A line for each piece: the median of the offsets at which it lies in one line, how much more the others
# cost in the median and at most; then all 64.
costs_table() {
	awk '
	function median(a, n,   i, k, x) {
		for (i = 2; i <= n; i++)
			for (k = i; k > 1 && a[k - 1] > a[k]; k--) { x = a[k]; a[k] = a[k - 1]; a[k - 1] = x }
		return n ? a[int((n + 1) / 2)] : 0
	}
	{ if (!($1 in size)) name[++names] = $1; size[$1] = $2; c[$1, $3] = $4 }
	END {
		print "| piece | bytes | in one line | across | more, at most |"
		print "|---|---|---|---|---|"
		for (p = 1; p <= names; p++) {
			n = m = most = 0
			for (k = 0; k < 64; k++)
				if (name[p] == "alike" ? k % 16 : k + size[name[p]] <= 64) within[++n] = c[name[p], k]
				else { over[++m] = c[name[p], k]; if (over[m] > most) most = over[m] }
			x = median(within, n)
			printf "| %s | %d | %.2f | %.2f | %+.2f |\n", name[p], size[name[p]], x, median(over, m), most - x
		}
		print "\nAt the offsets 0 to 63:\n\n```"
		for (p = 1; p <= names; p++) {
			printf "%-8s", name[p]
			for (k = 0; k < 64; k++) printf " %.2f", c[name[p], k]
			print ""
		}
		print "```"
	}' "$WORK/lines.costs"
}

# One row for a program: without pass lines, and with it.
layouts_table() {
	facts 2>/dev/null | awk -v b="$base" '
	$1 == "variant" { bytes[$2, $3] = $4 }
	$1 == "counts" { misses[$2, $3] = $5 }
	$1 == "figure" {
		of = $0; sub(/^figure [^ ]+ [^ ]+ [^ ]+ [^ ]+ /, "", of)
		f[$2, $3, of] = $5
		if ($3 == "morph-exact" && !($2 in seen)) { seen[$2] = 1; name[++n] = $2 }
	}
	function pct(p, of,   a) { a = f[p, b, of]; return a > 0 ? sprintf("%.1f %%", 100 * f[p, m, of] / a) : "-" }
	function grows(x, y) { return x > 0 ? sprintf("%+.2f %%", 100 * (y / x - 1)) : "-" }
	function spare(p, v) { return f[p, v, "lines that short loops use"] - f[p, v, "lines that short loops need"] }
	END {
		m = "morph-exact"
		print "| program | blocks across | indirect jumps across | pairs across | loops: lines too many | NOPs of instructions | hot text | run bytes | run lines | file | Ext-TSP | taken | I1 misses |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
		for (i = 1; i <= n; i++) {
			p = name[i]
			if (!((p, b, "taken branches") in f)) continue	# laid out for something else
			printf "| %s | %s | %s | %s | %s | %.2f %% | %s | %s | %s | %s | %+.4f | %s | %s |\n", p,
				pct(p, "blocks across 64-byte lines"), pct(p, "indirect jumps among them"),
				pct(p, "fused pairs across 64-byte lines"),
				(spare(p, b) > 0 ? sprintf("%.1f %%", 100 * spare(p, m) / spare(p, b)) : "-"),
				100 * f[p, m, "NOPs among them"] / f[p, m, "instructions executed"],
				grows(f[p, b, "hot text bytes"], f[p, m, "hot text bytes"]),
				grows(f[p, b, "hot bytes"], f[p, m, "hot bytes"]),
				grows(f[p, b, "hot 64-byte lines"], f[p, m, "hot 64-byte lines"]),
				grows(bytes[p, b], bytes[p, m]),
				f[p, m, "Ext-TSP score of an edge"] - f[p, b, "Ext-TSP score of an edge"],
				grows(f[p, b, "taken branches"], f[p, m, "taken branches"]),
				grows(misses[p, b], misses[p, m])
		}
	}'
}

# Where nothing was laid out here, those of the last report.
layouts() {		# THE-LAST
	local rows of='without pass `lines`'
	[ -z "${OLDER:-}" ] || of="by ${OLDER_NAME:-another build}"
	rows=$(layouts_table)
	[ "$(wc -l <<<"$rows")" -gt 2 ] || { [ -z "$1" ] || printf '\n%s\n' "$1"; return; }
	cat <<-END

		## Layouts

		By \`morph-edit report\` under exact counts, for $(cut -c 4- <<<"$processor"): executions as a part of what
		they are in the layout $of.  Growth of hot text (more functions may be
		in it), of the bytes and lines of all code that runs, wherever it is, and of the file; the change of
		the Ext-TSP score of an edge, of taken branches, and of I1 misses (cachegrind, 32 KiB, 8 ways, a
		smaller input).

		$rows
	END
}

report() {
	local others layouts
	layouts=$(sed -n '/^## Layouts/,$p' "$out" 2>/dev/null)
	others=$(awk -v own="$processor" '/^## / { keep = $0 != own && $0 != "## Layouts" } keep' "$out" 2>/dev/null)
	{
		result_head "Where code lies in lines of 64 bytes"
		cat <<-END
		\`bench/lines.c\` runs small pieces of code at all offsets of a line: the processor's cycles for one
		execution, the least of ${RUNS:-9} lower quartiles of ${ROUNDS:-41} rounds in which all take turns.  \`lib/cpucosts.def\` has its numbers from
		here, where there is a section for a family.  \`alike\` is sixteen handlers that dispatch to each other: its offsets
		are distances of the end of a dispatch from that of another, "in one line" those that are no multiple of 16
		bytes, "across" the others.

		$processor

		$(sed -n 's/^model name[ \t]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%Y-%m-%d).

		$(costs_table)
		${others:+
		$others}
		END
		layouts "$layouts"
	} >"$out.new" && mv "$out.new" "$out"
	cat "$out"
}

for stage in ${*:-costs prepare layouts count report}; do
	case $stage in
	costs) costs ;;
	*) stages lines "$stage" ;;
	esac
done
