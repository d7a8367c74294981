# compare.awk - a profile against what callgrind counted
#
#	awk -v object=PATH -f compare.awk PROFILE CALLGRIND...
#
# -v inside='START SIZE ...' (hexadecimal without 0x) are functions in which nothing may be missing;
# with -v only=1 nothing else is looked at.  With -v calls=0 no calls are looked at.
#
# Every block of the profile ran as often as callgrind says of its first instruction; branches that
# callgrind saw taken are edges of the profile, taken as often; functions were called by the
# instructions of `call` lines as often.  What ran in a function of `inside` is in a block that ran as
# often, or more often if a call in it did not come back.  Prints what differs, then
# "N blocks, N branches, N calls".
function hex(s,   i, v) {
	v = 0
	for (i = 3; i <= length(s); i++)
		v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}
function position(s) {
	if (s == "*")
		return last
	if (substr(s, 1, 2) == "0x")
		return hex(s)
	return substr(s, 1, 1) == "+" || substr(s, 1, 1) == "-" ? last + s : s + 0
}
function name(s,   i, key) {
	i = index(s, ")")
	key = substr(s, 1, i)
	if (length(s) > i)
		names[key] = substr(s, i + 2)
	return names[key]
}
function differs(what, addr, got, want) {
	printf "# %s at 0x%x: profile %d, callgrind %d\n", what, addr, got, want
	bad++
}
BEGIN {
	nrange = split(inside, range, " ") / 2
	for (i = 1; i <= nrange; i++) {
		start[i] = hex("0x" range[2 * i - 1])
		end[i] = start[i] + hex("0x" range[2 * i])
	}
}
function is_inside(addr,   i) {
	for (i = 1; i <= nrange; i++)
		if (addr + 0 >= start[i] && addr + 0 < end[i])
			return 1
	return 0
}
function wanted(addr) {
	return !only || is_inside(addr)
}
function block_of(addr,   b) {
	for (b = addr + 0; b > addr - 65536 && !(b in block); b--)
		;
	return b
}
FNR == NR {
	if ($1 == "block")
		block[hex($2)] = $3
	else if ($1 == "edge")
		edge[hex($2), hex($3)] = $4
	else if ($1 == "call")
		call[hex($2), hex($3)] = $4
	next
}
/^version/ { last = 0 }
/^ob=/ { ours = name(substr($0, 4)) == object; next }
/^cob=/ { callee = name(substr($0, 5)); next }
/^calls=/ {
	target = hex($2)
	n = substr($1, 7)
	pending = "call"
	next
}
/^jump=|^jcnd=/ {
	pending = "skip"
	if (/^jcnd=/) {
		split(substr($1, 6), part, "/")
		target = position($2)
		n = part[1]
		pending = "branch"
	}
	next
}
/^[0-9+*-]/ {
	last = position($1)
	if (pending == "call" && ours && (callee == "" || callee == object))
		called[last, target] += n
	else if (pending == "branch" && ours) {
		taken[last, target] += n
		branch[last] = 1
	} else if (pending == "" && ours)
		ran[last] += $3
	if (pending == "call")
		callee = ""
	pending = ""
}
END {
	for (a in block) {
		if (!wanted(a))
			continue
		nblock++
		if (block[a] != ran[a])
			differs("block", a, block[a], ran[a])
	}
	for (key in taken) {
		split(key, part, SUBSEP)
		a = part[1] + 0
		if (!wanted(a))
			continue
		b = block_of(a)
		if (!(b in block)) {
			differs("no block holds a branch", a, 0, taken[key])
			continue
		}
		if (taken[key] == 0)
			continue
		inside = (part[2] + 0) in block
		nbranch++
		if (inside && edge[b, part[2] + 0] != taken[key])
			differs("branch", a, edge[b, part[2] + 0], taken[key])
	}
	for (a in ran)
		if (is_inside(a) && ran[a] > block[block_of(a)])
			differs("instruction", a, block[block_of(a)], ran[a])
	for (key in call) {
		split(key, part, SUBSEP)
		if (!calls || !wanted(part[1]))
			continue
		ncall++
		if (call[key] != called[key])
			differs("call", part[1], call[key], called[key])
	}
	printf "%d blocks, %d branches, %d calls\n", nblock, nbranch, ncall
	exit bad > 0
}
