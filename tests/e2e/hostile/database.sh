#!/bin/bash
# database.sh - a Manager that was taken over, by way of its database: it makes the daemon believe that
# one program's original is another's
#
# Everything but the ledger and the originals is the daemon's user's to write, the database too.  What
# stands there is not enough to put one program in the place of another.
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
command -v sqlite3 >/dev/null || skip_all "no sqlite3"
make_root gzip sort
seq 100000 | shuf >"$root/data"
work() { LC_ALL=C "$root/bin/sort" "$root/data" && "$root/bin/gzip" -n -c "$root/data"; }
db() { as_manager sqlite3 "$root/store/morph.db" "$@"; }
hex() { echo "x'$(sha "$1")'"; }

check_here "the daemon starts" start_daemon
check "gzip has samples" sampled gzip 20 work
check "so has sort" sampled sort 20 work
check "gzip is laid out anew: its original is kept" ctl reoptimize "$root/bin/gzip"
check "root's log tells of the swap" grep -q "swapped '$root/bin/gzip'" "$root/log"
check_here "the daemon ends" stop_daemon

check "the database says that sort is a generation of gzip" \
	db "UPDATE generation SET digest = $(hex "$root/bin/sort"); UPDATE module SET ctime_ns = 0"
check_here "the daemon starts again" start_daemon
ctl look >/dev/null
check "it believes that" [ "$(listed sort generation)" -ge 1 ]
said=$(ctl restore "$root/bin/sort" 2>&1)
rc=$?
check "sort is not replaced by gzip" same_file "$root/bin/sort" "$root/orig/sort"
check "it is refused ($rc)" [ $rc = 3 ]
check "and says what helps" grep -q "the ledger knows no such generation of it.*root's .morphctl undo" <<<"$said"
check "root's log tells of the refusal" grep -q "restore refused: '$root/bin/sort': the ledger" "$root/log"
ctl reoptimize "$root/bin/sort" >"$root/said" 2>&1
check "nor by what is made of gzip" grep -q "the ledger knows no such generation" "$root/said"
check "sort is as it was" same_file "$root/bin/sort" "$root/orig/sort"
check_here "the daemon ends once more" stop_daemon

# What was put where is root's to know: the daemon's user cannot write it, nor the folder itself.
try() { setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@" 2>/dev/null; }
check "the daemon's user does not see the ledger" not try ls "$root/store/ledger"
check "nor puts another one in its place" not try mv "$root/store/ledger" "$root/store/mine"
check "nor of the originals" not try mv "$root/store/originals" "$root/store/mine"

# What a manager may make and none after it may move.
for part in morph.db morph.db-wal morph.db-shm policy.good; do
	rm -rf "$root/store"/morph.db* "$root/store/$part"
	try mkdir -p "$root/store/$part/folder"
	check_here "a folder in the place of $part: the daemon starts" start_daemon
	check "and says so" grep -q "'$root/store/$part' is no file: now '$part.no-file" "$root/log"
	[ -z "$daemon" ] || check_here "and ends" stop_daemon
done
done_testing
