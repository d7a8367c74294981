#!/bin/bash
# madecode.sh - code that programs make while they run, by name in reports of recordings; files that are no such
# programs' own, or not of this run, name nothing
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-made.XXXXXX") || exit 1
trap 'rm -rf "$root" $maps' EXIT
maps=
${CC:-cc} -O2 -o "$root/jit" tests/e2e/madecode/jit.c 2>"$root/why" || skip_all "$(cat "$root/why")"
n=20000000
record() {		# LOG map|dump FOLDER [NAME]: $pid
	"$B/morphctl" record -o "$1" -- "$root/jit" "$2" "$3" $n ${4:+"$4"} >"$root/pid" 2>"$root/why" || return 1
	pid=$(cat "$root/pid")
	maps+=" /tmp/perf-$pid.map"
}
record "$root/map" map /tmp || skip_all "$(cat "$root/why")"
map=/tmp/perf-$pid.map
report() { "$B/morphctl" --json report --log="$1" 2>"$root/said" | jq "$2"; }
made='[.procedures[] | select(.module == "[code made at run time]")]'
# NAME's share of the code that was made is about PCT.
share() { report "$1" "($made | map(.samples) | add) as \$all | ($made[] | select(.procedure == \"$2\")).samples / \$all * 100 |
	. > $3 - 8 and . < $3 + 8" | grep -qx true; }
samples=$(report "$root/map" "$made | map(.samples) | add // 0")
[ "${samples%.*}" -gt 100 ] || skip_all "too few samples ($samples)"
note "$samples samples in code made at run time"
check "a map: a quarter is the first loop's" share "$root/map" "Quarter::run" 25
check "the rest is the second's" share "$root/map" "LazyCompile:*rest of it" 75
check "what was there before is not named" test "$(report "$root/map" "any($made[]; .procedure == \"before\")")" = false
check "nor where it was" test "$(report "$root/map" "all($made[]; .entry == null)")" = true
check "nothing is said of it" not grep -F "$map" "$root/said"
check "they are on flame graphs" grep -qE '^jit;\[code made at run time\];Quarter::run [0-9]+$' \
	<("$B/morphctl" export "$root/map" --format=folded -o -)

record "$root/dump" dump "$root"
check "a jitdump: a quarter is the first loop's" share "$root/dump" "Quarter::run" 25
check "the rest is the second's" share "$root/dump" "LazyCompile:*rest of it" 75
dump=$root/jit-$pid.dump

# --- files that are not to be believed ---

unnamed() { test "$(report "$1" "$made | map(.procedure) == [\"[code made at run time]\"]")" = true; }
not_so() {		# WHAT LOG WORDS: nothing is named, and it is said why
	check "$1: nothing is named" unnamed "$2"
	check "and it is said why" grep -qF -- "$3" "$root/said"
}
cp -p "$map" "$root/kept"
touch -d '1 hour ago' "$map"
not_so "one of before" "$root/map" "'$map': not written while"
touch -d '1 hour' "$map"
not_so "one of later" "$root/map" "'$map': not written while"
rm "$map" && ln -s "$root/kept" "$map"
not_so "a link" "$root/map" "'$map': not a regular file"
rm "$map" && mkfifo "$map"
not_so "a pipe" "$root/map" "'$map': not a regular file"
rm "$map" && cp -p "$root/kept" "$map"
check "it is read again" not unnamed "$root/map"
if [ "$(id -u)" = 0 ]; then
	chown 64001 "$map"
	not_so "another user's" "$root/map" "'$map': another user's"
	chown 64001 "$root/map"
	check "but for that user's recording" not unnamed "$root/map"
	chown 0 "$root/map"
else
	skip "another user's" "not root"
fi
rm "$map"
check "one that is not there: nothing is named" unnamed "$root/map"
check "and nothing said" not grep -F "$map" "$root/said"

# --- files with anything in them ---

damaged() {		# FILE: its times stay what they were
	cp -p "$1" "$root/times"
	cat >"$1"
	touch -r "$root/times" "$1"
}
cp -p "$root/kept" "$map"
head -c 300000 /dev/urandom | damaged "$map"
check "a map of random bytes names nothing" unnamed "$root/map"
yes 'ffffffffffffffff ffffffffffffffff everything' | head -n 200000 | damaged "$map"
check "nor one of code that is nowhere" unnamed "$root/map"
yes '0 ffffffffffffffff all' | head -n 500000 | damaged "$map"
check "half a million pieces on top of each other" test "$(timeout 60 "$B/morphctl" --json report --log="$root/map" |
	jq "$made | map(.procedure) == [\"all\"]")" = true
head -c 60 "$dump" >"$root/cut"
damaged "$dump" <"$root/cut"
check "a jitdump that is cut off names nothing" unnamed "$root/dump"
{ printf 'DTiJ\1\0\0\0\377\377\377\377'; head -c 200 /dev/zero; } | damaged "$dump"
not_so "one with a header that is too long" "$root/dump" "a jitdump with a header of"
{ head -c 40 "$root/cut"; head -c 5000 /dev/urandom; } | damaged "$dump"
check "one of random bytes names nothing" unnamed "$root/dump"

# --- names that would be more than names ---

odd=$'evil\e[31m<b>&\xe2\x80\xae\x80'		# in any locale
record "$root/odd" map /tmp "$odd"
check "a name is shown as every one is" test "$(report "$root/odd" "any($made[]; .procedure == \"evil\\\\x1b[31m<b>&\\\\u202e\\\\x80\")")" = true
check "to people, too" not grep -q $'\e\|\xe2\x80\xae' <("$B/morphctl" report --log="$root/odd")
if "$B/morphctl" record -o "$root/stacks" --stacks -- "$root/jit" map /tmp $n >"$root/pid" 2>"$root/why"; then
	maps+=" /tmp/perf-$(cat "$root/pid").map"
	check "where callers are known, too" grep -qE ';Quarter::run [0-9]+$' \
		<("$B/morphctl" export "$root/stacks" --format=folded -o - 2>/dev/null)
else
	skip "where callers are known, too" "$(cat "$root/why")"
fi
done_testing
