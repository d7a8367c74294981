# prose.awk - N lines of made-up words, common and rare: awk -v n=N -v seed=SEED -f prose.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function word(  i, w) {
	w = ""
	for (i = rnd(8) + 2; i > 0; i--)
		w = w (rnd(40) ? substr("etaoinshrdlucmfwypvbgkqjxz", int(rnd(26) * rnd(26) / 26) + 1, 1) : rnd(2) ? "é" : "ß")
	return w
}
BEGIN {
	state = seed * 7919 + 23
	for (i = 0; i < 3000; i++) words[i] = word()
	for (i = 0; i < n; i++) {
		line = ""
		for (k = rnd(12) + 4; k > 0; k--) {
			w = words[int(rnd(3000) * rnd(3000) / 3000)]
			if (!rnd(9)) w = toupper(substr(w, 1, 1)) substr(w, 2)
			if (!rnd(15)) w = rnd(10000)
			line = line w (rnd(8) ? " " : ", ")
		}
		print line (rnd(4) ? "" : words[rnd(3000)] "@" words[rnd(300)] ".example.org")
	}
}
