# machine.awk - tables of bench/machine.sh from its facts: awk -v idle_s=N -v days=N -f machine.awk facts
#
# What is saved is the part of the CPU time without Morph.  Its interval, of 95 %, is that of a ratio of sums:
# how far each piece is from the ratio of its kind; of several kinds, the squares of their parts are added up.
# Times are in microseconds until they are printed.
function add(k, w, o,  i) {		# one piece: CPU time with and without
	i = ++pieces[k]; with[k, i] = w; without[k, i] = o
	sum_with[k] += w; sum_without[k] += o
}
# Variance of the sum of differences of k.
function variance(k,  i, n, r, s) {
	n = pieces[k]
	if (n < 2 || !sum_without[k]) return 0
	r = sum_with[k] / sum_without[k]
	for (i = 1; i <= n; i++) s += (with[k, i] - r * without[k, i]) ^ 2
	return s * n / (n - 1)
}
function t95(df) { return df < 1 ? 0 : 1.96 + 2.37 / df + 2.8 / df ^ 2 + 5.58 / df ^ 4 }
function saved(w, o, var, df,  half) {
	if (!o) return "-"
	half = 100 * t95(df) * sqrt(var) / o
	return sprintf("%.1f", 100 * (o - w) / o) (df < 1 ? "" : sprintf(" (%.1f to %.1f)", 100 * (o - w) / o - half, 100 * (o - w) / o + half))
}
function seconds(us) { return sprintf("%.1f", us / 1e6) }
# Of several keys together, each with a variance of its own.
function together(keys,  k, i, n, key) {
	n = split(keys, key, " ")
	all_with = all_without = all_variance = all_df = 0
	for (i = 1; i <= n; i++) {
		k = key[i]
		all_with += sum_with[k]; all_without += sum_without[k]; all_variance += variance(k)
		all_df += pieces[k] > 1 ? pieces[k] - 1 : 0
	}
	return saved(all_with, all_without, all_variance, all_df)
}
$1 == "slice" {
	id = $2 " " $3 " " $4 " " $5; cpu[id, $6] = $7 + $8; kernel[id, $6] = $8; wall[id, $6] = $9; sum[id, $6] = $10
	if ($6 != "without") next
	if (!($4 in pieces)) order = order " " $4
	add($4, cpu[id, "with"], cpu[id, "without"])
	d = "day" $2 "." $4
	if (!(d in pieces)) of_day[$2] = of_day[$2] " " d
	add(d, cpu[id, "with"], cpu[id, "without"])
	kernel_without[$4] += $8; kernel_with[$4] += kernel[id, "with"]
	wall_with[$4] += wall[id, "with"]; wall_without[$4] += $9
	compared++
	if (sum[id, "with"] != $10) { differ++; different = different " " $4 " " $5 "," }
}
$1 == "cpu" {
	n = ++accounts; at[n] = $2; day_of[n] = $3; morph[n] = $4; rest_with[n] = $5 - $4; rest_without[n] = $6
	used[n] = used_with(); unused[n] = used_without(); day_end[$3] = n
	if (!n1 || $7 < load_least) load_least = $7
	if ($7 > load_most) load_most = $7
	n1 = 1
}
function used_with(  k, s) { for (k in sum_with) if (k !~ /^day/) s += sum_with[k]; return s }
function used_without(  k, s) { for (k in sum_without) if (k !~ /^day/) s += sum_without[k]; return s }
$1 == "generations" { generations[$2] = $3 }
function row(name, w, o, text, kw, ko, ww, wo) {
	printf "| %s | %s | %s | %s | %s, %s | %s, %s |\n", name, seconds(o), seconds(w), text, ko, kw, wo, ww
}
function percent(part, all) { return all ? sprintf("%.0f", 100 * part / all) : "-" }
function net(n) { return (unused[n] - used[n]) - (morph[n] - morph[1]) - ((rest_with[n] - rest_with[1]) - (rest_without[n] - rest_without[1])) }
function verdict(ok) { return ok ? "met" : "**missed**" }
END {
	if (!accounts) exit 1
	print "| kind of use | CPU s without | with | saved % | of it kernel %, without, with | wall s without, with |"
	print "|---|---|---|---|---|---|"
	m = split(order, kind, " ")
	for (i = 1; i <= m; i++) {
		k = kind[i]
		row(k " (" pieces[k] ")", sum_with[k], sum_without[k], saved(sum_with[k], sum_without[k], variance(k), pieces[k] - 1),
			percent(kernel_with[k], sum_with[k]), percent(kernel_without[k], sum_without[k]),
			sprintf("%.0f", wall_with[k] / 1000), sprintf("%.0f", wall_without[k] / 1000))
		kw += kernel_with[k]; ko += kernel_without[k]; ww += wall_with[k]; wo += wall_without[k]
	}
	text = together(order)
	row("**all use**", all_with, all_without, text, percent(kw, all_with), percent(ko, all_without), sprintf("%.0f", ww / 1000), sprintf("%.0f", wo / 1000))
	last = accounts
	of_morph = morph[last] - morph[1]; rest = (rest_with[last] - rest_with[1]) - (rest_without[last] - rest_without[1])
	printf "| Morph itself (its unit) | 0 | %s | %.1f | | |\n", seconds(of_morph), -100 * of_morph / all_without
	printf "| all else in the systems | %s | %s | %.1f | | |\n", seconds(rest_without[last] - rest_without[1]), seconds(rest_with[last] - rest_with[1]), -100 * rest / all_without
	week_text = saved(all_with + of_morph + rest, all_without, all_variance, all_df)
	week = 100 * net(last) / all_without
	printf "| **the week, everything that Morph costs on the bill** | %s | %s | %s | | |\n", seconds(all_without), seconds(all_with + of_morph + rest), week_text

	print "\nA line a day; the hours are those of the run, idle times included, and \"net\" is what has been saved since the\nbeginning less all that Morph took.\n"
	print "| day | hours | CPU s without | with | saved % | Morph itself s | net s | generations so far |"
	print "|---|---|---|---|---|---|---|---|"
	for (d = 1; d <= days; d++) {
		n = day_end[d]; b = d > 1 ? day_end[d - 1] : 1
		if (!n) continue
		text = together(of_day[d])
		printf "| %d | %.2f | %s | %s | %s | %s | %s | %s |\n", d, at[n] / 3600, seconds(all_without), seconds(all_with), text,
			seconds(morph[n] - morph[b]), seconds(net(n)), generations[d]
	}
	# It stays above nothing from then on.
	for (n = last; n > 0 && net(n) > 0; n--) even = n
	print ""
	if (even) printf "Break-even: %.2f hours after the beginning, on day %d.\n", at[even] / 3600, day_of[even]
	else print "Break-even: not within this week."
	# all_* are of the last day
	rate = all_without ? (all_without - all_with) / all_without : 0
	if (rate > 0) printf "What Morph took (%s s) is brought back by %s s of use that saves as much as the last day's (%.1f %%).\n",
		seconds(of_morph + rest), seconds((of_morph + rest) / rate), 100 * rate
	printf "\nOutputs compared: %d, different: %d%s.\n", compared, differ, differ ? " (" substr(different, 2) ")" : ""
	printf "\nLoad average during the week: %.1f to %.1f.\n", load_least, load_most

	print "\n| target | measured | |\n|---|---|---|"
	c = 100 * (1 - sum_with["c++"] / sum_without["c++"])
	printf "| C++ builds at least 10 %% | %s | %s |\n", together("c++"), verdict(c >= 10)
	c = 100 * (1 - sum_with["c"] / sum_without["c"])
	printf "| C builds at least 7 %% | %s | %s |\n", together("c"), verdict(c >= 7)
	printf "| the week at least 5 %% | %s | %s |\n", week_text, verdict(week >= 5)
	printf "| break-even within the first day | %s | %s |\n", even ? sprintf("day %d", day_of[even]) : "not reached", verdict(even && day_of[even] == 1)
	printf "| no output different | %d of %d | %s |\n", differ, compared, verdict(!differ)
	exit differ > 0
}
