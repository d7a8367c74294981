#!/bin/bash
# farcalls.sh - calls over the linkage table and without it, to functions near and far
set -eu
cd "$(dirname "$0")/.."
. bench/common.bash

result farcalls "Calls of other modules"
cat <<-'END'
Nanoseconds for a call of an empty function and a branch that nobody can predict in front of it, by the number
of different calls that run in turn (bench/farcalls.c). `stub`: a call of a stub of the linkage table, which
jumps through a slot; `slot`: a call through the slot. `near`: the function is mapped beside the caller, as one
library is beside another; `far`: 64 GiB away, as libraries are from the program.

| calls | near, stub | near, slot | far, stub | far, slot |
|---|---|---|---|---|
END
"$B/bench/farcalls"
result_end
