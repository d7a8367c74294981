#!/bin/sh
# sqlite_uses.sh prepare SIZE SEED [USE...] | run BIN - by the sqlite3 shell: queries (joins, windows, sums),
# writes (transactions, indexes, triggers, upserts), words (full text, JSON, string functions)
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -v uses="${*:-queries writes words}" -f "$here/sqlite_uses.awk" >work.sql ;;
run) exec "$2" -batch :memory: <work.sql ;;
esac
