# git_history.awk - a stream for git fast-import: awk -v n=COMMITS -v seed=SEED -f git_history.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function line() { return "\tline " rnd(50) (rnd(5) ? " common " : " rare ") rnd(1000) }
function data(text) { printf "data %d\n%s\n", length(text), text }
function content(f,  i, t) {
	for (i = 0; i < lines[f]; i++) t = t text[f, i] "\n"
	return t
}
function edit(f,  i, at, k) {
	for (k = rnd(4); k >= 0; k--) {
		at = rnd(lines[f])
		if (rnd(3)) text[f, at] = line()
		else {
			for (i = lines[f]++; i > at; i--) text[f, i] = text[f, i - 1]
			text[f, at] = line()
		}
	}
}
BEGIN {
	state = seed * 7919 + 11
	files = 24
	for (f = 0; f < files; f++) {
		name[f] = "dir" f % 5 "/file" f ".c"
		lines[f] = 60 + rnd(200)
		for (i = 0; i < lines[f]; i++) text[f, i] = line()
	}
	for (c = 1; c <= n; c++) {
		print "commit refs/heads/main\nmark :" c
		printf "committer Author %d <a%d@example.org> %d +0100\n", c % 7, c % 7, 1000000000 + c * 5000
		data("commit " c "\n\nchanges " line() "\n")
		if (c > 1) print "from :" c - 1
		if (c > 40 && c % 20 == 0) print "merge :" c - 12
		for (k = c == 1 ? files : 1 + rnd(4); k > 0; k--) {
			f = c == 1 ? k - 1 : rnd(files)
			if (c > 1 && rnd(25) == 0) {
				print "D " name[f]
				name[f] = "dir" rnd(5) "/moved" c "_" f ".c"
			}
			if (c > 1) edit(f)
			print "M 100644 inline " name[f]
			data(content(f))
		}
		print ""
	}
}
