#!/bin/bash
# switches.sh - switches as every compiler here makes them: their jump tables are proven and moved
#
# COMPILERS are those tried, of which each counts once, whatever names it has.  Which one it is it says
# itself: behind a name in PATH may be a wrapper like ccache, the same one for all.
SEEDS=${SEEDS:-1} MIN_MOVED=50
. tests/moving.sh
source=$(realpath tests/programs/switches/switches.c)

# Of the last analysis.
jumps() {		# KIND
	awk -v kind="\"$1\"" '/"jumps": [0-9]/ && index($0, kind) { sub(/.*"jumps": /, ""); print $0 + 0; found = 1 }
		END { if (!found) print 0 }' "$T/json"
}

# An absolute table whose address GCC adds is not followed; without optimization clang compares what it has
# subtracted, and of two tables of one function of which nothing bounds the index neither has a certain end.
built() {		# COMPILER FLAGS
	local name="$1 $2" lost=0 few=14 others=0 kind n
	# shellcheck disable=SC2086
	$1 $2 -w -o "$T/bin/made" "$source" 2>"$T/e" || { not_ok "$name: build"; note "$(cat "$T/e")"; return; }
	[[ $1$2 = *gcc*-O0*-no-pie ]] && lost=1
	[[ $1$2 = *clang*-O0*-no-pie ]] && lost=4 few=13
	"$edit" analyze --jumps --json "$T/bin/made" >"$T/json"
	for kind in "no table" "no bound" "table too short" "address used" "two tables" "other jump" "too much work"; do
		n=$(jumps "$kind")
		others=$((others + n))
	done
	n=$(jumps "jump table")
	if [ "$n" -ge "$few" ] && [ "$others" -le "$lost" ]; then
		ok "$name: $n tables"
	else
		not_ok "$name: $n tables, $others jumps without one"
		note "$(grep '"address"' "$T/json" | grep -v '"jump table"')"
	fi
	record_run "$T/before" "$T/bin/made"
	move_all "$T/bin/made" "$T/bin/moved" "${SEEDS%% *}" || return
	record_run "$T/after" "$T/bin/moved"
	same_run "$name" "$T/before" "$T/after"
}

declare -A tried
all=$(echo gcc gcc-{8..15} clang clang-{11..22})
for cc in ${COMPILERS:-$all}; do
	command -v "$cc" >/dev/null || continue
	says=$("$cc" --version 2>/dev/null | sed 's/^[^ ]*gcc[^ ]* //; q')
	[ -n "$says" ] && [ -z "${tried[$says]:-}" ] || continue
	tried[$says]=1
	for level in -O0 -O1 -O2 -O3 -Os; do
		built "$cc" "$level -fpie -pie"
		built "$cc" "$level -fno-pie -no-pie"
	done
done
[ ${#tried[@]} -gt 0 ] || skip_all "this machine has no compiler"
done_testing
