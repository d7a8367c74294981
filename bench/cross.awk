# cross.awk - tables of bench/cross.sh from its facts: awk -v which='20000 exact' -f cross.awk
function ratio(row, v,  i, r, n) {
	n = rounds[row]
	if (!n || !((row, v) in column) || wrong[row, column[row, v]]) return 0
	for (i = 1; i <= n; i++) r[i] = ms[row, i, 1] / ms[row, i, column[row, v]]
	middle = median(r, n); low = r[1]; high = r[n]
	return middle
}
function cell(row, v, kind,  r) {
	if (!((row, v) in column)) return "-"
	if (wrong[row, column[row, v]]) return "**other output**"
	if (!(r = ratio(row, v))) return "-"
	count[kind]++; sum[kind] += log(r)
	if (!(kind in least) || r < least[kind]) { least[kind] = r; at[kind] = row }
	if (r < (kind ~ /own/ ? 0.995 : 0.98)) below[kind] = below[kind] sprintf(" %s %.3f", row (v ~ /@/ ? " from " substr(v, index(v, "@") + 1) : ""), r)
	return sprintf("%.3f (%.3f-%.3f)", r, low, high)
}
function mean(kind) { return count[kind] ? exp(sum[kind] / count[kind]) : 0 }
function verdict(ok) { return ok ? "met" : "**missed**" }
$1 == "times" { row = $2 " " $3; name[++rows] = row; for (i = 4; i <= NF; i++) column[row, $i] = i - 3; use[$2, ++uses[$2]] = $3; list[row] = $0 }
$1 == "round" { row = $2 " " $3; rounds[row]++; for (i = 4; i <= NF; i++) ms[row, rounds[row], i - 3] = $i }
$1 == "differs" { wrong[$2 " " $3, $4] = 1 }
$1 == "none" { v = $3; p = $2; sub(/^none [^ ]+ [^ ]+ /, ""); gsub(/\|/, "/"); missing = missing "\n* " p ": no " v ": " $0 }
END {
	n = split(which, w, " ")
	head = "| program | use | copy |"; rule = "|---|---|---|"
	for (k = 1; k <= n; k++) { head = head " " w[k] ": own | first | second | both |"; rule = rule "---|---|---|---|" }
	print head "\n" rule
	for (i = 1; i <= rows; i++) {
		split(name[i], part, " ")
		line = "| " part[1] " | " part[2] " | " cell(name[i], "copy", "copy") " |"
		for (k = 1; k <= n; k++) {
			others = ""
			line = line " " cell(name[i], "morph-" w[k] "@" part[2], w[k] " own") " |"
			for (j = 1; j <= uses[part[1]]; j++) {
				u = use[part[1], j]
				if (u == part[2]) continue
				others = others (others == "" ? "" : "+") u
				line = line " " cell(name[i], "morph-" w[k] "@" u, w[k] " from one other") " |"
			}
			line = line " " cell(name[i], "morph-" w[k] "@" others, w[k] " from both others") " |"
		}
		print line
	}
	print "\n## Means and targets\n\nTargets: on another use no cell below 0.98 and the geometric mean at least 1.01; in its own use none below 0.995.\n"
	print "| layouts | cells | geometric mean | least | below the target | |\n|---|---|---|---|---|---|"
	split("own|from one other|from both others", kinds, "|")
	for (k = 1; k <= n; k++)
		for (j = 1; j <= 3; j++) {
			kind = w[k] " " kinds[j]
			if (!count[kind]) continue
			printf "| %s | %d | %.3f | %.3f (%s) | %s | %s |\n", kind, count[kind], mean(kind), least[kind], at[kind],
				below[kind] == "" ? "none" : substr(below[kind], 2), verdict(below[kind] == "" && (j == 1 || mean(kind) >= 1.01))
		}
	if (count["copy"]) printf "| copy | %d | %.3f | %.3f (%s) | | |\n", count["copy"], mean("copy"), least["copy"], at["copy"]
	if (missing != "") print "\nNot made:\n" missing
}
