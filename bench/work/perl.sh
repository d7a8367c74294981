#!/bin/sh
# perl.sh prepare SIZE SEED | run BIN - the tests' workload of regular expressions, hashes, sorting, closures, pack
exec "$(dirname "$(realpath "$0")")/../../tests/programs/work/perl.sh" "$@"
