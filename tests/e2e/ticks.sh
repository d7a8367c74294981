#!/bin/bash
# ticks.sh - with the tick as the clock, timers that programs and other profilers set are no samples
. tests/tap.sh

[ "$(id -u)" = 0 ] || skip_all "needs root to sample by the tick"
dir=$(mktemp -d "${TMPDIR:-/tmp}/morph-ticks.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
"$B/tests/e2e/timers" 0.01 2>"$dir/why" || skip_all "$(cat "$dir/why")"

# Two seconds of CPU time with 20,000 interrupts: a sample stands for that long a time.  A virtual machine may have
# fewer ticks than its clock says, so that less is known of how few they are.
is() { [ "$(jq ".recording[0] | $1" "$dir/out")" = true ] || { cat "$dir/out"; return 1; }; }
for options in "" "--registers" "--registers --memory"; do
	if ! "$B/morphctl" record -o "$dir/log" --clock=tick $options -- "$B/tests/e2e/timers" 2 2>"$dir/why"; then
		skip "a program with many timers $options" "$(cat "$dir/why")"
		continue
	fi
	"$B/morphctl" --json report --log="$dir/log" --limit=1 >"$dir/out" 2>"$dir/why"
	check "samples of a program with many timers are its time $options" \
		is '.samples * .period_ms / 1000 | 0.3 < . and . < 4'
	check "and none is lost $options" is '.lost == 0'
done
done_testing
