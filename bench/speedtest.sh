#!/bin/bash
# speedtest.sh - how often a generation is taken back for nothing, and how soon when it is slower
set -eu
cd "$(dirname "$0")/.."
. bench/common.bash

result speedtest "Is a generation slower? On simulated use"
cat <<-'END'
32 observations before the swap and up to 32 since, looked at after 6, 12, 20 and 32 (policy/speedtest.h). How many
swaps of a generation that is as fast are called slower, and of slower ones how many, after how many observations
(median). One in a thousand is allowed. The uses are described in bench/speedtest.c; the seed is 1.

| use | as fast | 2 % slower | 5 % | 10 % | 20 % |
|---|---|---|---|---|---|
END
"$B/bench/speedtest"
result_end
