#!/bin/bash
# coverage.sh - which code another build of the Editor can move, and which this one
#
#	OLDER=FILE [DIRS='/usr/bin /usr/lib'] bench/coverage.sh
#
# Analyses every ELF file below DIRS with both (FILE is the other build's morph-edit) and adds up what they say.
# Linkage tables, which the linker makes and no pass moves, are told apart.  JOBS at a time.
. bench/common.bash
[ -n "${OLDER:-}" ] || { echo "skipped: OLDER names no other morph-edit"; exit 0; }
OLDER=$(realpath -e "$OLDER") || exit 1
result coverage "Which code can be moved: two Editors beside each other"
export OLDER B T

"$B/tests/torture/elves" "$T/files" ${DIRS:-/usr/bin /usr/sbin /usr/lib /usr/libexec} || exit 1
# One file with both: a line of OLD|NEW, what, functions, bytes, path.
one() {			# PATH
	local who edit
	for who in old new; do
		edit=$OLDER
		[ $who = new ] && edit=$B/morph-edit
		timeout 300 "$edit" analyze --json "$1" 2>/dev/null >"$T/$who.$$" || { rm -f "$T"/*."$$"; return; }
	done
	for who in old new; do
		jq -r --arg who $who --arg path "$1" '(.module[0] | [$who, "all", .functions, .fde_bytes, $path]),
			(.reasons[] | [$who, .reason, .functions, .bytes, $path]),
			(.pointers[] | select(.to == "entry") | [$who, "pointers known", .known, 0, $path],
				[$who, "pointers unknown", .unknown, 0, $path]) | @tsv' "$T/$who.$$"
	done >"$T/said.$$" && cat "$T/said.$$"
	rm -f "$T"/*."$$"
}
export -f one
awk -F '\t' '$4 !~ /^(object|debug file|32-bit|other machine)$/ { print $NF }' "$T/files" | tr '\n' '\0' |
	xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'one "$1"' one >"$T/rows"

awk -F '\t' '
$2 == "all" { files[$1]++ }
{ functions[$1, $2] += $3; bytes[$1, $2] += $4; what[$2] }
$2 == "movable" { moves[$1, $5] = $4; paths[$5] }
function share(who, plt) {
	plt = plt ? bytes[who, "procedure linkage table"] : 0
	return sprintf("%.3f %%", 100 * bytes[who, "movable"] / (bytes[who, "all"] - plt))
}
END {
	printf "%d files that both analyse, %.1f MiB under unwind information in %d functions.\n\n", files["new"],
		bytes["new", "all"] / 1048576, functions["new", "all"]
	print "| | older | this one |\n|---|---:|---:|"
	printf "| can be moved | %s | %s |\n", share("old", 0), share("new", 0)
	printf "| the same without linkage tables | %s | %s |\n", share("old", 1), share("new", 1)
	printf "| functions all pointers to which are known, and can be redirected | %d | %d |\n",
		functions["old", "pointers known"], functions["new", "pointers known"]
	print "\n## Bytes that stay\n\n| reason | older | this one | share |\n|---|---:|---:|---:|"
	sort = "sort -t \"|\" -k 4,4nr"
	for (w in what)
		if (w != "all" && w != "movable" && w !~ /^pointers/)
			printf "| %s | %d | %d | %.4f %% |\n", w, bytes["old", w], bytes["new", w],
				100 * bytes["new", w] / bytes["new", "all"] | sort
	close(sort)
	print "\n## Files that lose most\n\n| file | bytes less |\n|---|---:|"
	sort = "sort -t \"|\" -k 3,3nr | head -n 10"
	for (p in paths)
		printf "| `%s` | %d |\n", p, moves["old", p] - moves["new", p] | sort
	close(sort)
}' "$T/rows"
result_end
