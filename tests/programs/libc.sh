#!/bin/bash
# libc.sh - the C library with every eligible function moved, under programs that use it
# differently; unwinding through moved code by backtrace() and by thread cancellation
. tests/moving.sh
test_library libc.so.6 perl 60
test_library libc.so.6 sort 1000
test_library libc.so.6 bash 500
test_library libc.so.6 sqlite3 300
test_library libc.so.6 git 30

unwind=$(realpath "${B:-build}")/tests/programs/unwind
libc=$(library libc.so.6)
unwind() {		# PREFIX COMMAND...; what a sanitizer says of makecontext() has the process's number in it
	record_run "$@"
	sed -i "/^==[0-9]*==WARNING: ASan doesn't fully support makecontext/d" "$1.err"
}
unwind "$T/before" "$unwind"
[ "$(cat "$T/before.rc")" = 0 ] && ok "unwinding with the original" || not_ok "unwinding with the original"
for seed in $SEEDS; do
	[ -e "$T/libc.so.6.$seed" ] || { not_ok "unwinding, seed $seed: no generation"; continue; }
	cp "$T/libc.so.6.$seed" "$T/lib/libc.so.6"
	unwind "$T/after" env LD_LIBRARY_PATH="$T/lib" "$unwind"
	same_run "unwinding, seed $seed" "$T/before" "$T/after"
done
done_testing
