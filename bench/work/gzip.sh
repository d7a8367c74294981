#!/bin/sh
# gzip.sh prepare SIZE SEED | run BIN - the tests' text and machine code, packed and unpacked
exec "$(dirname "$(realpath "$0")")/../../tests/programs/work/gzip.sh" "$@"
