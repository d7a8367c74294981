#!/bin/bash
# trypage.sh - the page of a trial has what the trial says, and is written or refused before time goes into it
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/pages.bash
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/var/tmp}/morph-trypage.XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT
mkdir "$root/tmp"
under=
cp "$B/tests/e2e/tried" "$root/tried <b>"
try() { TMPDIR="$root/tmp" timeout 300 $under "$B/morphctl" --json try --time=2 "$@" >"$root/json" 2>"$root/said"; }
try --html="$root/page" -- "$root/tried <b>"
code=$?
grep -q "only the program itself" "$root/said" && skip_all "no namespaces here"
check "a trial ends as it does without a page ($code)" [ "$code" = 0 -o "$code" = 1 ]
check "there is a page" [ -s "$root/page" ] || note "$(cat "$root/said")"
sound "$root/page" try
check "links lead to what is there" no_dangling "$root/page"
empty() { sed 's/null//g' | numbers; }
check "its modules are those of the trial" diff <(table "$root/page" try | numbers) <(rows try <"$root/json" | empty)
check "they are some" grep -q "tried <b>.*counted" <(table "$root/page" try)
verdict() { jq -r '.verdict[] | [.ratio, .low, .high, .pairs, .same, .text] | map(tostring) | join("\t")' "$root/json" | numbers; }
check "so is the verdict" diff <(table "$root/page" verdict | cut -f 1-5,7 | numbers) <(verdict)
check "its functions have executions that were counted" grep -q 'data-confidence="high"' "$root/page"
check "and samples of the first run" [ "$(table "$root/page" modules | grep -c 'tried <b>')" = 1 ]
check "nothing is left" [ -z "$(ls -A "$root/tmp")" ]
under="$B/tests/e2e/without perf_event_open --"
rm "$root/page"
try --html="$root/page" -- "$root/tried <b>"
check "without samples there is a page" [ -s "$root/page" ] || note "$(cat "$root/said")"
sound "$root/page" unsampled
check "with the verdict" diff <(table "$root/page" verdict | cut -f 1-5,7 | numbers) <(verdict)
begun=$SECONDS
for p in "$root/none/page" "$root"; do
	check "a page that cannot be written is known before (${p##*/})" fails 1 "^morphctl: '$p': " timeout 10 "$B/morphctl" try --html="$p" -- sleep 60
done
for p in "" "$root/none/"; do
	check "nor one without a name (${p##*/none})" fails 2 "^morphctl: '$p': no name of a file" timeout 10 "$B/morphctl" try --html="$p" -- sleep 60
done
check "at once" [ $((SECONDS - begun)) -lt 3 ]
check "a process has none" fails 2 usage "$B/morphctl" try --html="$root/page" --pid=$$
done_testing
