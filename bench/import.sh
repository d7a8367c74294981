#!/bin/bash
# import.sh - recordings with branch stacks: read, held against the code, and what layout comes of them
#
#	RECORDINGS='PERF.DATA=BINARY ...' bench/import.sh
#
# Public ones with their binaries: google/autofdo, testdata/propeller_sample_1.perfdata1 with
# propeller_sample_1.bin, testdata/test.lbr with test.binary.  They are not part of Morph.  perf2bolt reads
# the same files beside it.
. bench/common.bash
[ -n "${RECORDINGS:-}" ] || { echo "RECORDINGS names none: nothing is measured"; exit 0; }
command -v perf >/dev/null || { echo "no perf: nothing is measured"; exit 0; }
cost=$B/bench/cost
for v in -22 -19 -16 ''; do
	command -v "llvm-bolt$v" >/dev/null && bolt=$v && break
done
# by its own name it aggregates, by another one it is llvm-bolt
[ -z "${bolt+x}" ] || ln -s "$(command -v "perf2bolt$bolt")" "$T/perf2bolt"
result import "Recordings with branch stacks"
cat <<-END
	\`morphctl import\` reads the recording in a confined job, and another one holds each branch against the code: what is
	none of its branches, or leads elsewhere, and what did not run straight, is left out.  \`perf2bolt\` (${bolt:+of LLVM${bolt/-/ }}) reads
	the same recording; where it found no branch of the binary in it, it was given them added up
	(\`-pa\`, by addresses of the file), and its time is that of the reading that found none.  CPU time of everything they start; one run.  An edge is from one block
	to another; to perf2bolt, from a branch to its target.  The Ext-TSP score is that of an edge, by
	\`morph-edit report\` and Morph's profile, for the blocks in the original's order, in Morph's and in
	llvm-bolt's (\`-reorder-blocks=ext-tsp\`).

	| recording | MB | stacks | branches | left out | edges | blocks | s | MiB | perf2bolt s | MiB | its edges | original | Morph | llvm-bolt |
	|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
END

# The branches and runs of one binary, by addresses of the file, in the form of bolt's -pa.
aggregate() {		# RECORDING BINARY
	local seg
	seg=$(readelf -lW "$2" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
	perf script -i "$1" -F pid,brstack --show-mmap-events 2>/dev/null | gawk -v seg="$seg" -v pie="$(
		readelf -hW "$2" | grep -c 'Type:.*DYN')" -v name="$(basename "$2")" '
		BEGIN { split(seg, s, " "); shift = pie ? strtonum(s[2]) - strtonum(s[1]) : 0 }
		function here(a) { return a >= from && a < to }
		/PERF_RECORD_MMAP/ && index($NF, name) {
			match($0, /\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x)?([0-9a-f]+)/, m)
			from = strtonum("0x" m[1]); to = from + strtonum("0x" m[2])
			if (pie) base = from - strtonum("0x" m[4]) - shift
			next
		}
		{
			for (i = 2; i <= NF; i++) {
				split($i, w, "/")
				a[i] = strtonum(w[1]); b[i] = strtonum(w[2]); miss[i] = w[3] == "M"
			}
			for (i = 2; i < NF; i++) {
				if (here(a[i]) && here(b[i])) { n["B " x(a[i]) " " x(b[i])]++; m2["B " x(a[i]) " " x(b[i])] += miss[i] }
				if (here(b[i + 1]) && here(a[i]) && b[i + 1] <= a[i]) n["F " x(b[i + 1]) " " x(a[i])]++
			}
		}
		function x(v) { return sprintf("%x", v - base) }
		END { for (k in n) print k, n[k] (k ~ /^B/ ? " " m2[k] + 0 : "") }' | sort
}
number() { awk -v k="$1" 'index($0, k) { n = $1 } END { print n + 0 }' "$2"; }
score() { "$B/morph-edit" report "$1" --profile "$2" ${3:+--compare "$3"} 2>/dev/null | awk '/^Ext-TSP score of an edge/ { print $NF }'; }

row() {			# RECORDING BINARY
	local name p m b edges=0 bolted=- how
	name=$(perf script -i "$1" --show-mmap-events -F pid 2>/dev/null | grep -o "/[^ ]*$(basename "$2")[^ ]*$" | head -n 1)
	name=$(basename "${name:-$2}")
	cp "$2" "$T/$name"
	rm -rf "$T/profile" "$T/fdata"
	m=$("$cost" "$B/morphctl" import "$1" --binary="$T/$name" -o "$T/profile" 2>"$T/why")
	"$B/morphctl" import "$1" --binary="$T/$name" -o "$T/profile" >"$T/said" || { cat "$T/why"; return; }
	p=$(find "$T/profile" -name "$name.*.profile")
	if [ -n "${bolt+x}" ]; then
		b=$("$cost" "$T/perf2bolt" -p "$1" -o "$T/fdata" "$T/$name" -ignore-build-id 2>/dev/null)
		[ ! -s "$T/fdata" ] || edges=$(wc -l <"$T/fdata")
		if [ "$edges" -lt 10 ]; then
			aggregate "$1" "$T/$name" >"$T/pa"
			"$T/perf2bolt" -pa -p "$T/pa" -o "$T/fdata" "$T/$name" -ignore-build-id >/dev/null 2>&1 &&
				edges=$(wc -l <"$T/fdata")
			how=" (-pa)"
		fi
		rm -f "$T/bolted"
		"llvm-bolt$bolt" "$T/$name" -data "$T/fdata" -reorder-blocks=ext-tsp -o "$T/bolted" >/dev/null 2>&1 &&
			bolted=$(score "$T/$name" "$p" "$T/bolted")
	fi
	"$B/morph-edit" optimize "$T/$name" --profile "$p" -o "$T/generation" 2>"$T/why"
	echo "$m;$b" | awk -v name="$(basename "$1")" -v mb="$(stat -c %s "$1")" -v stacks="$(sed -n 's/.* \([0-9]*\) branch stacks.*/\1/p' "$T/said")" \
		-v br="$(number 'taken branches in branch stacks' "$T/said")" -v out="$(number 'not so in the code' "$T/said")" \
		-v e="$(grep -c ^edge "$p")" -v bl="$(grep -c ^block "$p")" -v its="$edges$how" \
		-v o="$(score "$T/$name" "$p")" -v g="$(score "$T/$name" "$p" "$T/generation")" -v bo="${bolted:--}" '{
		split($0, h, ";"); split(h[1], m, " "); nb = split(h[2], b, " ")
		printf "| %s | %.1f | %d | %d | %d | %d | %d | %.2f | %.0f | %s | %s | %s | %s | %s |\n", name, mb / 1e6, stacks, br, out,
			e, bl, m[4] / 1000, m[6] / 1024, nb ? sprintf("%.2f | %.0f", b[4] / 1000, b[6] / 1024) : "- | -", its, o, g, bo
	}'
}

for pair in $RECORDINGS; do
	row "${pair%%=*}" "${pair#*=}"
done
result_end
