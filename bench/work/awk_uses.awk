# awk_uses.awk - report: sums by field, a sorted table; strings: lines taken apart and put together;
# numbers: primes, matrices, a fractal, a queue: awk -v use=USE -v n=N -v seed=SEED -f awk_uses.awk log
function rnd(k) { state = (state * 16807) % 2147483647; return state % k }
function sort(a, lo, hi,  i, last, t) {
	if (lo >= hi) return
	i = int((lo + hi) / 2); t = a[lo]; a[lo] = a[i]; a[i] = t
	last = lo
	for (i = lo + 1; i <= hi; i++)
		if (a[i] < a[lo]) { last++; t = a[last]; a[last] = a[i]; a[i] = t }
	t = a[lo]; a[lo] = a[last]; a[last] = t
	sort(a, lo, last - 1); sort(a, last + 1, hi)
}
function reversed(s,  i, r) { for (i = length(s); i > 0; i--) r = r substr(s, i, 1); return r }
function primes(m,  i, j, k, no) {
	for (i = 2; i <= m; i++) {
		if (i in no) continue
		k++
		for (j = i * i; j <= m; j += i) no[j] = 1
	}
	return k
}
function fractal(m,  i, cx, cy, x, y, t, k, sum) {
	for (i = 0; i < m; i++) {
		cx = i % 60 / 20 - 2; cy = int(i / 60) % 50 / 20 - 1.2; x = y = k = 0
		while (x * x + y * y < 4 && k < 40) { t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; k++ }
		sum += k
	}
	return sum
}
function trace(k,  i, j, a, s) {
	for (i = 0; i < k; i++) for (j = 0; j < k; j++) a[i, j] = rnd(10)
	for (i = 0; i < k; i++) for (j = 0; j < k; j++) s += a[i, j] * a[j, i]
	return s
}
BEGIN {
	state = seed * 7919 + 1
	if (use == "numbers") {
		print primes(n * 2), fractal(n / 8), trace(int(sqrt(n) / 2))
		for (i = 0; i < n; i++) { queue[tail++] = rnd(1000); if (i % 3) { sum += queue[head]; delete queue[head++] } }
		printf "%d %.6f %s\n", sum, exp(log(n) / 3) * sin(1), int(cos(2) * 1000)
		exit
	}
}
use == "report" {
	hosts[$1]++; bytes[$9] += $10; split($4, when, "[[/:]"); hours[when[5]]++
	if ($7 ~ /\?id=[0-9]+/) { id = $7; sub(/.*id=/, "", id); sub(/&.*/, "", id); ids[id % 100]++ }
	if ($9 >= 400 && $6 != "\"HEAD") wrong[$9 " " $7]++
	if (NR % 500 == 0) print NR ": " $0
}
use == "strings" {
	gsub(/%20/, " "); line = tolower($7)
	k = split(line, part, /[\/?&=.]/)
	out = ""
	for (i = k; i > 0; i--) out = out (i < k ? "-" : "") toupper(substr(part[i], 1, 1)) substr(part[i], 2)
	if (match($0, /"[A-Z][a-z]+\/[0-9.]+/)) out = out " " substr($0, RSTART + 1, RLENGTH - 1)
	if (index(out, "Html")) out = reversed(out)
	len += length(out); if (NR % 100 == 0) print sprintf("%-40s|%5d|%x", out, len, NR)
	gsub(/[aeiou][a-z]/, "<&>", out); sum += length(out)
}
END {
	if (use == "report") {
		for (h in hosts) list[++m] = sprintf("%06d %s", hosts[h], h)
		sort(list, 1, m)
		for (i = m; i > m - 10; i--) print list[i]
		m = 0
		for (h in wrong) many[++m] = h
		sort(many, 1, m)
		print m, many[1], many[m], bytes[200], bytes[404], hours["00"], ids[7]
	}
	if (use == "strings") print len, sum
}
