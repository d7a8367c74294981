#!/bin/bash
# trylimit.sh - morphctl try: a command that does not end is ended, soon after its time, and leaves nothing
#
# run.sh: waits
. tests/tap.sh
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-trylimit.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
mkdir "$T/tmp"
SECONDS=0
TMPDIR=$T/tmp timeout 300 "${B:-build}/morphctl" try --time=0.1 -- sleep 1234568 >"$T/said" 2>&1 </dev/null
code=$?
note "$(cat "$T/said")"
check "it says so" grep -q "it took more than 60.0 s" "$T/said"
check "which is a failure" [ $code = 1 ]
check "it did not wait much longer" [ $SECONDS -lt 200 ]
check "nothing runs on" eval '! pgrep -f "^sleep 1234568"'
check "no file is left" [ -z "$(ls -A "$T/tmp")" ]
done_testing
