#!/bin/sh
# sort.sh prepare SIZE SEED | run BIN - the tests' lines of words and numbers in several orders
exec "$(dirname "$(realpath "$0")")/../../tests/programs/work/sort.sh" "$@"
