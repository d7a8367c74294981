#!/bin/bash
# attribute.sh - samples per second of one core, from spool file to store
set -eu
cd "$(dirname "$0")/.."
. bench/common.bash

"$B/bench/attribute" "$T/store" >"$T/out"
result attribute "Samples per second of the Manager"
echo "Spool files of 200,000 samples read, attributed to the blocks of 60 modules, every second one by the"
echo "block map of a generation, and committed to the store; CPU time of one core, 21 files. The target is"
echo "5,000,000 samples a second."
echo
echo "| | |"
echo "|---|---|"
sed 's/^\([^ ]*\) \(.*\)$/| \1 | \2 |/' "$T/out"
result_end
