# speed.awk - tables of bench/speed.sh, of bench/ablation.sh (what=ablation, sizes="N...") and of bench/older.sh
# (what=older) from their facts
# The rank, from below, at which the 95 % confidence interval of a median of n begins (sign test); 0: none.
function interval_rank(n,  k, p, sum) {
	p = 0.5 ^ n
	for (k = 0; (sum += p) <= 0.025; k++) p *= (n - k) / (k + 1)
	return k
}
# Median of the ratios of time A to time B in each round; least and most in low and high, the median's
# interval in from and to.  0: not measured.
function compare(p, a, b,  i, n, v, m) {
	n = rounds[p]
	if (!n || !((p, a) in column) || !((p, b) in column) || wrong[p, a] || wrong[p, b]) return 0
	for (i = 1; i <= n; i++) v[i] = ms[p, i, column[p, a]] / ms[p, i, column[p, b]]
	m = median(v, n)
	low = v[1]; high = v[n]
	i = interval_rank(n)
	from = v[i ? i : 1]; to = v[n + 1 - (i ? i : 1)]
	return m
}
# The same of the fastest run of each: what other machines on the same hardware do only ever adds time.
function fastest(p, a, b,  i, least_a, least_b) {
	if (!compare(p, a, b)) return 0
	for (i = 1; i <= rounds[p]; i++) {
		if (i == 1 || ms[p, i, column[p, a]] < least_a) least_a = ms[p, i, column[p, a]]
		if (i == 1 || ms[p, i, column[p, b]] < least_b) least_b = ms[p, i, column[p, b]]
	}
	return least_a / least_b
}
function percent(from, to) { return from > 0 ? sprintf("%+.1f %%", 100 * (to / from - 1)) : "-" }
function figure(p, v, name, which) { return ((p, v, name) in fig) ? fig[p, v, name, which] : "-" }
function change(p, v, name) {
	return ((p, v, name) in fig) ? percent(fig[p, v, name, 1], fig[p, v, name, 2]) : "-"
}
function row(p, v,  r, c0, c1) {
	r = compare(p, "original", v)
	split(counts[p, "original"], c0); split(counts[p, v], c1)
	printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", p, v,
		wrong[p, v] ? "**other output**" : r ? sprintf("%.3f [%.3f-%.3f] (%.3f-%.3f)", r, from, to, low, high) : "not measured",
		r ? sprintf("%.3f", fastest(p, "original", v)) : "-",
		c1[1] ? percent(c0[1], c1[1]) : "-", change(p, v, "taken branches"),
		c1[1] ? sprintf("%.2f -> %.2f", 1000 * c0[2] / c0[1], 1000 * c1[2] / c1[1]) : "-",
		(p, v, EXTTSP) in fig ? sprintf("%.3f -> %.3f", fig[p, v, EXTTSP, 1], fig[p, v, EXTTSP, 2]) : "-",
		change(p, v, "hot bytes"), change(p, v, "hot 64-byte lines"), percent(bytes[p], size[p, v])
}
# Geometric mean of all ratios of v; over the programs that have w too.  How uncertain it is, in `error`: two
# standard errors, each program's being a quarter of its interval.
function mean(v, w, set,  i, s, n, r) {
	s = n = error = 0
	for (i = 1; i <= np; i++) {
		if (set != "" && (set == "-q") != (name[i] ~ /-q$/)) continue
		if (!compare(name[i], "original", w) || !(r = compare(name[i], "original", v))) continue
		s += log(r); n++
		error += (to - from) ^ 2
	}
	among = n
	error = n ? sqrt(error) / 2 / n : 0
	return n ? exp(s / n) : 0
}
# Geometric mean of the ratios of the fastest runs, of all programs that have w too.
function mean_fastest(v, w,  i, s, n, r) {
	for (i = 1; i <= np; i++) {
		if (!compare(name[i], "original", w) || !(r = fastest(name[i], "original", v))) continue
		s += log(r); n++
	}
	return n ? exp(s / n) : 0
}
# What v makes of a count of p, as a ratio; 0: not known.  K of cachegrind's counts, or, with K 0, the figure
# LABEL of the layout's report.
function counted(p, v, k, label,  a, b, c0, c1) {
	split(counts[p, "original"], c0); split(counts[p, v], c1)
	a = k ? c0[k] : fig[p, v, label, 1]; b = k ? c1[k] : fig[p, v, label, 2]
	return a > 0 && b > 0 ? b / a : 0
}
# Its geometric mean less 1, over the programs that have it of v and of w and x.
function counted_mean(v, w, x, k, label,  i, s) {
	s = among = 0
	for (i = 1; i <= np; i++) {
		if (!counted(name[i], v, k, label) || !counted(name[i], w, k, label) || !counted(name[i], x, k, label)) continue
		s += log(counted(name[i], v, k, label)); among++
	}
	return among ? exp(s / among) - 1 : 0
}
function mean_change(v, k, label,  m) {
	m = counted_mean(v, v, v, k, label)
	return among ? sprintf("%+.1f %% of %d", 100 * m, among) : "-"
}
function counted_means(  k, v) {
	print "\nThe same of what is counted, not measured:\n"
	print "| variant | instructions | I1 misses | taken branches | hot lines | jumps across lines |\n|---|---|---|---|---|---|"
	for (k = 1; k <= nv; k++) {
		v = variant[k]
		if (v == "original") continue
		printf "| %s | %s | %s | %s | %s | %s |\n", v, mean_change(v, 1), mean_change(v, 2),
			mean_change(v, 0, "taken branches"), mean_change(v, 0, "hot 64-byte lines"),
			mean_change(v, 0, "jumps across 32-byte lines")
	}
}
# What each pass that a variant is without brings, round by round: the geometric mean of the programs'
# medians, with two standard errors of how these differ.
function passes_left_out(  k, i, v, base, r, s, q, n, up) {
	for (k = 1; k <= nv; k++) {
		v = base = variant[k]
		if (!sub(/\+no\..*/, "", base)) continue
		s = q = n = up = 0
		for (i = 1; i <= np; i++) {
			if (!(r = compare(name[i], v, base))) continue
			s += log(r); q += log(r) ^ 2; n++
			up += r > 1
		}
		if (n < 2) continue
		printf "%sBeside %s, in the same rounds, %s is %.3f ± %.3f times as fast, faster on %d of %d.\n", any++ ? "" : "\n",
			v, base, exp(s / n), 2 * sqrt((q / n - (s / n) ^ 2) / (n - 1)), up, n
	}
}
# How much of the gain of the complete profile is there with N samples; what part of the rest functions
# that they did not hit would have brought: the others' complete counts do without it; what part the others'
# true levels: with their true shapes only it is not there; and what part those.
function lost_line(n, label, all, some, shaped, own) {
	if (all > 0 && among)
		printf "| %s | %s | %d | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", n, label, among, 100 * own / all,
			100 * (all - some) / all, 100 * (some - shaped) / all, 100 * (shaped - own) / all
}
function lost_counts(n, k, label, text,  e, s, o) {
	e = "morph-exact"; s = "morph-exact@" n; o = "morph-" n
	lost_line(n, text, -counted_mean(e, s, o, k, label), -counted_mean(s, e, o, k, label),
		-counted_mean(o "+shapes", s, o, k, label), -counted_mean(o, e, s, k, label))
}
function lost(  i, n, o, size) {
	print "\n## Where the gain is lost\n"
	print "Of the gain of the complete profile, in the geometric mean, N samples have what is said under `there`.  The rest is"
	print "what each of these layouts has less than the one before it: from complete counts; from complete counts of the"
	print "functions that they tell of (`morph-exact@N`); with the shapes of these functions true, how often they run estimated"
	print "(`morph-N+shapes`); with all estimated.\n"
	print "| samples | gain in | programs | there | lost: functions that they tell nothing of | lost: how often the others run | lost: where they go |"
	print "|---|---|---|---|---|---|---|"
	n = split(sizes, size, " ")
	for (i = 1; i <= n; i++) {
		o = "morph-" size[i]
		lost_line(size[i], "CPU time", mean("morph-exact", o) - 1, mean("morph-exact@" size[i], o) - 1, mean(o "+shapes", o) - 1,
			mean(o, o) - 1)
		lost_line(size[i], "CPU time of the fastest runs", mean_fastest("morph-exact", o) - 1,
			mean_fastest("morph-exact@" size[i], o) - 1, mean_fastest(o "+shapes", o) - 1, mean_fastest(o, o) - 1)
		lost_counts(size[i], 0, "taken branches", "taken branches")
		lost_counts(size[i], 2, "", "I1 misses")
	}
}
function verdict(ok) { return ok ? "met" : "**missed**" }
function target(text, figures, ok) { printf "| %s | %s | %s |\n", text, figures, figures == "" ? "not measured" : verdict(ok) }
# Lists programs whose figure is below `least`; worst in `worst`.
function below(kind, v, w, least, pattern,  i, r, e, list) {
	worst = 9; n_seen = 0; list = ""
	for (i = 1; i <= np; i++) {
		if (name[i] !~ pattern) continue
		if (kind == "ratio") r = compare(name[i], w, v)
		else {
			e = compare(name[i], "original", w) - 1; r = compare(name[i], "original", v)
			if (!r || e <= 0.005) continue		# no gain to have a share of
			r = (r - 1) / e
		}
		if (!r) continue
		n_seen++
		if (r < worst) worst = r
		if (r < least) list = list sprintf(" %s %.3f", name[i], r)
	}
	return list
}
function gain_target(n, least, each,  m, e, share, list, text, f) {
	m = mean("morph-" n, "morph-exact"); e = mean("morph-exact", "morph-" n)
	share = e > 1 ? (m - 1) / (e - 1) : 0
	f = mean_fastest("morph-exact", "morph-" n) - 1
	text = sprintf("%.0f %% (%.3f of %.3f, %d programs; of the fastest runs %.0f %%)", 100 * share, m, e, among,
		f > 0 ? 100 * (mean_fastest("morph-" n, "morph-exact") - 1) / f : 0)
	list = each ? below("share", "morph-" n, "morph-exact", each, ".") : ""
	target("Morph, " (n + 0) " samples" (n ~ /counted/ ? ", what they leave uncertain counted" : "") ": at least " 100 * least " % of the complete profile's gain in the geometric mean" \
		(each ? ", " 100 * each " % on each" : ""), !among ? "" : text (list != "" ? "; below:" list : ""),
		share >= least && list == "")
}
function slower_target(text, v, least, pattern,  list) {
	list = below("ratio", v, "original", least, pattern)
	target(text, !n_seen ? "" : sprintf("least %.3f of %d", worst, n_seen) (list != "" ? "; below:" list : ""), list == "")
}
# The best of bolt's variants from that profile.
function best_bolt(p, which,  k, r, most, best) {
	for (k = 1; k <= nv; k++) {
		if (variant[k] !~ "^bolt-" which "(-|$)" || (r = compare(p, "original", variant[k])) <= most) continue
		most = r; best = variant[k]
	}
	return best
}
# Lists programs where Morph is at most `least` times as fast; how far in `worst`, the mean in `average`.
function behind_bolt(which, least,  i, r, s, list, sum) {
	worst = 9; n_seen = 0; list = ""
	for (i = 1; i <= np; i++) {
		s = "morph-" which
		if ((name[i], s "-pc") in column) s = s "-pc"
		if (!(r = compare(name[i], best_bolt(name[i], which), s))) continue
		n_seen++; sum += log(r)
		if (r < worst) worst = r
		if (r <= least) list = list sprintf(" %s %.3f", name[i], r)
	}
	average = n_seen ? exp(sum / n_seen) : 0
	return list
}
function targets(  list, big) {
	print "\n## Targets\n\n| target | measured | |\n|---|---|---|"
	list = behind_bolt("exact", 0.995)
	target("Morph against the best of bolt, each with its complete profile, same binaries: not below 0.995 on any, geometric mean at least 1.01",
		!n_seen ? "" : sprintf("mean %.3f, least %.3f, of %d", average, worst, n_seen) (list != "" ? "; below:" list : ""),
		average >= 1.01 && list == "")
	gain_target(100000, 0.95, 0.85)
	gain_target(20000, 0.88, 0)
	if ("morph-20000+counted" in seen) gain_target("20000+counted", 0.88, 0)
	gain_target(5000, 0.65, 0)
	slower_target("Morph, 5000 samples: no program slower than 0.995 of its original", "morph-5000", 0.995, ".")
	slower_target("Debian's stripped binaries, 20000 samples: none slower than 0.995", "morph-20000", 0.995, "[^q]$")
	big = "^(clang|cc1|postgres|gawk|perl|sqlite3)$"
	slower_target("clang, cc1, postgres, gawk, perl, sqlite3, 20000 samples: at least 1.06", "morph-20000", 1.06, big)
	if ("morph-20000+counted" in seen) slower_target("the same with what they leave uncertain counted", "morph-20000+counted", 1.06, big)
	slower_target("the same with 100000 samples: at least 1.08", "morph-100000", 1.08, big)
	list = behind_bolt(100000, 1)
	target("Morph against the best of bolt, the same 100000 PC samples: ahead on every program",
		!n_seen ? "" : sprintf("mean %.3f, least %.3f of %d", average, worst, n_seen) (list != "" ? "; not ahead:" list : ""),
		list == "")
	growth()
}
function growth(  i, r, h, list, hots, most, mosth) {
	for (i = 1; i <= np; i++) {
		if (!((name[i], "morph-100000") in size)) continue
		r = size[name[i], "morph-100000"] / bytes[name[i]]
		if (r > most) most = r
		if (r > 1.35) list = list sprintf(" %s %.2f", name[i], r)
		if (!fig[name[i], "morph-100000", "hot text bytes", 1]) continue
		h = fig[name[i], "morph-100000", "hot text bytes", 2] / fig[name[i], "morph-100000", "hot text bytes", 1]
		if (h > mosth) mosth = h
		if (h > 1.1) hots = hots sprintf(" %s %.2f", name[i], h)
	}
	target("file at most 1.35 times the original", !most ? "" : sprintf("most %.2f", most) (list != "" ? "; above:" list : ""), list == "")
	target("hot text at most 1.1 times the bytes of the hot blocks", !mosth ? "" : sprintf("most %.2f", mosth) (hots != "" ? "; above:" hots : ""), hots == "")
}
BEGIN { EXTTSP = "Ext-TSP score of an edge" }
$1 == "program" { name[++np] = $2; bytes[$2] = $3 }
$1 == "variant" { size[$2, $3] = $4; if (!seen[$3]++) variant[++nv] = $3 }
$1 == "none" { v = $3; p = $2; sub(/^none [^ ]+ [^ ]+ /, ""); gsub(/\|/, "/"); why[p, v] = $0; if (!seen[v]++) variant[++nv] = v }
$1 == "counts" { counts[$2, $3] = $4 " " $5 }
$1 == "figure" {
	label = $6
	for (i = 7; i <= NF; i++) label = label " " $i
	fig[$2, $3, label] = 1; fig[$2, $3, label, 1] = $4; fig[$2, $3, label, 2] = $5
}
$1 == "times" { for (i = 3; i <= NF; i++) { column[$2, $i] = i - 2; at[$2, i - 2] = $i } }
$1 == "round" { rounds[$2]++; for (i = 3; i <= NF; i++) ms[$2, rounds[$2], i - 2] = $i }
$1 == "same" && $4 == "no" { wrong[$2, at[$2, $3]] = 1 }
END {
	print "| program | variant | ratio [95 %] (range) | fastest | instructions | taken branches | I1 misses / 1,000 | Ext-TSP | hot bytes | hot lines | file |"
	print "|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= np; i++)
		for (k = 1; k <= nv; k++) {
			if ((name[i], variant[k]) in why) print "| " name[i] " | " variant[k] " | " why[name[i], variant[k]] " | | | | | | | | |"
			else if (variant[k] != "original" && (name[i], variant[k]) in size) row(name[i], variant[k])
		}
	print "\n## Geometric means\n\n| variant | built with relocations | Debian's | all | fastest, all |\n|---|---|---|---|---|"
	for (k = 1; k <= nv; k++) {
		if (variant[k] == "original") continue
		line = "| " variant[k]
		for (i = 1; i <= 3; i++) {
			m = mean(variant[k], variant[k], i == 1 ? "-q" : i == 2 ? "debian" : "")
			line = line (among ? sprintf(" | %.3f ± %.3f of %d", m, error, among) : " | -")
		}
		print line (among ? sprintf(" | %.3f |", mean_fastest(variant[k], variant[k])) : " | - |")
	}
	counted_means()
	passes_left_out()
	if (what == "speed") targets()
	if (what == "ablation") lost()
}
