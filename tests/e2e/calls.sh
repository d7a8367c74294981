#!/bin/bash
# calls.sh - calls of an exact profile, by what was called, are those that the program makes
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-calls.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
morphctl() { "$B/morphctl" "$@"; }

${CC:-cc} -O2 -o "$root/calls" tests/e2e/calls/calls.c 2>"$root/why" || skip_all "$(cat "$root/why")"
"$B/morph-edit" instrument "$root/calls" -o "$root/counting" --counts "$root/counts" && "$root/counting" >"$root/out" &&
	"$B/morph-edit" counts "$root/calls" "$root/counts" -o "$root/exact" || skip_all "the program does not count itself"

report() { morphctl --json report "${@:2}" --log="$1" --by=caller; }
report "$root/exact" >"$root/report" 2>"$root/said" || { cat "$root/said"; exit 1; }
calls() {		# CALLEE CALLER
	jq -r --arg p "$1" --arg by "$2" '[.callers[] | select(.procedure == $p and .called_by == $by) | .calls] | add // 0' "$root/report"
}
is() { [ "$1" = "$2" ] || { echo "$1, not $2"; cat "$root/report"; return 1; }; }
check "direct and indirect calls of a function by one caller are added up" is "$(calls twice main)" 1800
check "an indirect one of another function" is "$(calls other main)" 200
check "direct ones" is "$(calls passes main)" 1000
check "jumps to a function are calls, as often as they are taken" is "$(calls twice passes)" 250
check "the most frequent ones come first" is "$(jq -r '[.callers[].calls] | . == (sort | reverse)' "$root/report")" true
check "nobody is called by the way" is "$(jq -r '[.callers[] | select(.called_by == "other")] | length' "$root/report")" 0
check "shares are of all calls" is "$(jq -r '[.callers[].share_pct] | add | round' "$root/report")" 100
check "the recording's own table has executions" jq -e '.recording[0].executions > 0' "$root/report"

form() { "$B/morph-edit" export "$root/calls" --profile "$root/exact" --format="$1" -o "$root/as.$1"; }
check "calls are written one by one" form calls
check "as many" is "$(awk '{ n += $4 } END { print n }' "$root/as.calls")" \
	"$(jq -r '[.callers[].calls] | add' "$root/report")"
check "fdata has the indirect ones" form fdata
check "as often" is "$(awk '$5 == "other/1" { n += $8 } END { print n }' "$root/as.fdata")" 200
check "a graph has them" form dot
check "as well" grep -qE 'n[0-9]+ -> n[0-9]+ \[label="200"\]' "$root/as.dot"

# --- where there are none ---

sed 's/^clock .*/clock tick/' "$root/exact" >"$root/sampled"
check "samples have none, which is said" fails 1 'no profile has counted calls' report "$root/sampled"
check "callees of executions are not known" fails 1 'no recording has stacks' morphctl report --log="$root/exact" --sort=callees
rm "$root/calls"
check "a gone program is told of" fails 1 "$root/calls" report "$root/exact"
done_testing
