# weblog.awk - an access log of N lines made from SEED: awk -v n=N -v seed=SEED -f weblog.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function pick(list,  a, k) { k = split(list, a, " "); return a[rnd(k) + 1] }
function word(  i, w) { w = ""; for (i = rnd(6) + 3; i > 0; i--) w = w substr("etaoinshrdlucmfwypvbgkqjxz", int(rnd(26) * rnd(26) / 26) + 1, 1); return w }
BEGIN {
	state = seed * 7919 + 13
	for (i = 0; i < 300; i++)
		path[i] = "/" pick("shop blog api static img") "/" word() (rnd(3) ? "/" word() : "") pick(" .html .php .json .png")
	for (i = 0; i < 200; i++)
		host[i] = rnd(224) "." rnd(256) "." rnd(256) "." rnd(256)
	for (i = 0; i < n; i++) {
		t += rnd(9)
		printf "%s - %s [%02d/%s/2023:%02d:%02d:%02d +0000] \"%s %s%s HTTP/1.%d\" %d %d \"%s\" \"%s\"\n",
			host[int(rnd(200) * rnd(200) / 200)], rnd(8) ? "-" : word(), 1 + int(t / 86400) % 28,
			pick("Jan Feb Mar Apr May Jun"), int(t / 3600) % 24, int(t / 60) % 60, t % 60,
			pick("GET GET GET GET POST HEAD PUT"), path[int(rnd(300) * rnd(300) / 300)],
			rnd(4) ? "" : "?id=" rnd(1000) "&q=" word() "%20" word(), rnd(2),
			pick("200 200 200 200 200 301 304 404 500"), rnd(50000), rnd(3) ? "-" : "https://" word() ".example.org/" word(),
			pick("Mozilla/5.0 curl/7.88 Wget/1.21 Bot/2.1") " (" pick("X11 Windows Macintosh Android") "; " word() ")"
	}
}
