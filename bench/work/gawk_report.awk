# gawk_report.awk - what people ask of a log: counts by host, path and hour, slow and wrong requests,
# word frequencies of queries, a table with running sums, rewritten lines
function decode(s) { gsub(/%20/, " ", s); gsub(/\+/, " ", s); return s }
function human(n,  u) {
	u = 1
	while (n >= 1024 && u < 4) { n /= 1024; u++ }
	return sprintf("%.1f%s", n, substr("BKMG", u, 1))
}
function top(count, k, title,  keys, n, i) {
	print "== " title
	n = asorti(count, keys, "by_count")
	for (i = 1; i <= n && i <= k; i++)
		printf "%6d %5.2f%% %s\n", count[keys[i]], 100 * count[keys[i]] / NR, keys[i]
}
function by_count(i1, v1, i2, v2) { return v1 != v2 ? v2 - v1 : (i1 < i2 ? -1 : i1 > i2) }
{
	hosts[$1]++
	split($4, when, /[\[\/:]/)
	hours[when[5]]++
	method = substr($6, 2)
	methods[method]++
	url = $7
	query = ""
	if ((at = index(url, "?")) > 0) {
		query = substr(url, at + 1)
		url = substr(url, 1, at - 1)
	}
	paths[url]++
	bytes[url] += $10
	status[$9]++
	if ($9 >= 400)
		wrong[$9 " " method " " url]++
	if (match(query, /id=([0-9]+)/, found))
		ids[found[1] % 100]++
	if (query ~ /q=/) {
		sub(/.*q=/, "", query)
		n = split(decode(query), words, / +/)
		for (i = 1; i <= n; i++)
			terms[tolower(words[i])]++
	}
	agent = $0
	sub(/.*"[^"]*" "/, "", agent)
	sub(/ .*/, "", agent)
	agents[agent]++
	if (url ~ /\.(png|jpg)$/ || url ~ "^/static/")
		static += $10
	else if (toupper(method) == "POST" && length(url) > 12)
		posted[substr(url, 2, index(substr(url, 2), "/") - 1)] += $10
	if (NR % 50 == 0) {
		line = $0
		gsub(/[0-9]+\.[0-9]+/, "#", line)
		gsub(/"[^"]*"/, "<&>", line)
		print NR ": " line
	}
}
END {
	top(hosts, 10, "hosts"); top(paths, 15, "paths"); top(hours, 24, "hours"); top(methods, 5, "methods")
	top(status, 9, "status"); top(wrong, 10, "wrong"); top(terms, 15, "terms"); top(ids, 10, "ids"); top(agents, 5, "agents")
	PROCINFO["sorted_in"] = "@ind_str_asc"
	for (p in bytes) {
		sum += bytes[p]
		if (bytes[p] > 100000)
			printf "%-30s %10s %12d\n", p, human(bytes[p]), sum
	}
	for (p in posted)
		print p, human(posted[p])
	print "static", human(static), "all", human(sum)
}
