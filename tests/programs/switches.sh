#!/bin/bash
# switches.sh - switches as every compiler here makes them: their jump tables are proven and moved
#
# COMPILERS are those tried, of which each counts once, whatever names it has.  Which one it is it says
# itself: behind a name in PATH may be a wrapper like ccache, the same one for all.
SEEDS=${SEEDS:-1} MIN_MOVED=50
. tests/moving.sh
source=$(realpath tests/programs/switches/switches.c)

# Jumps of the last analysis of that kind; functions that have one of another, but for tail calls.
jumps() {		# KIND
	awk -v kind="\"$1\"" '/"jumps": [0-9]/ && index($0, kind) { sub(/.*"jumps": /, ""); print $0 + 0; found = 1 }
		END { if (!found) print 0 }' "$T/json"
}
without() {
	sed -n 's/.*"function": "\([^"]*\)".*"kind": "\([^"]*\)".*/\1 \2/p' "$T/json" |
		grep -v -e ' jump table$' -e ' tail call$' | sed 's/ .*//' | sort -u
}

# What no comparison bounds has no proof: a default that cannot be; with clang the low byte of an argument,
# of which it knows that there is no more.  An absolute table whose address GCC adds is not followed; without
# optimization clang compares what it has subtracted.
built() {		# COMPILER FLAGS
	local name="$1 $2" few=14 n known='unreachable_default' others
	# shellcheck disable=SC2086
	$1 $2 -w -o "$T/bin/made" "$source" 2>"$T/e" || { not_ok "$name: build"; note "$(cat "$T/e")"; return; }
	[[ $1$2 = *gcc*-O0*-no-pie ]] && known="$known|of_long"
	[[ $1 = *clang* ]] && known="$known|of_byte|shifted"
	[[ $1$2 = *clang*-O0* ]] && known='.*' few=3
	"$edit" analyze --jumps --json "$T/bin/made" >"$T/json"
	others=$(without | grep -v -x -E "$known")
	n=$(jumps "jump table")
	if [ "$n" -ge "$few" ] && [ -z "$others" ]; then
		ok "$name: $n tables"
	else
		not_ok "$name: $n tables, jumps without one"
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
