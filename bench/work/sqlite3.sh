#!/bin/sh
# sqlite3.sh prepare SIZE SEED | run BIN - the tests' SQL by the shell, whose time goes to libsqlite3.so.0
exec "$(dirname "$(realpath "$0")")/../../tests/programs/work/sqlite3.sh" "$@"
