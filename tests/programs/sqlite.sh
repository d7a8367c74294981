#!/bin/bash
# sqlite.sh - sqlite3 and libsqlite3 with every eligible function moved, apart and together
. tests/moving.sh
test_program /usr/bin/sqlite3 sqlite3 800
test_library libsqlite3.so.0 sqlite3 800
done_testing
