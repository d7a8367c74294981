#!/bin/sh
# bash.sh prepare SIZE SEED | run BIN - the tests' script of arrays, functions, expansion, patterns, subshells
exec "$(dirname "$(realpath "$0")")/../../tests/programs/work/bash.sh" "$@"
