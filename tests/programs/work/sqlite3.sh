#!/bin/sh
# sqlite3.sh prepare N SEED | run SQLITE3 - see sqlite_work.sql; a file database in this folder
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) sed "s/@N@/$2/g; s/@SEED@/$3/g" "$here/sqlite_work.sql" >work.sql ;;
run) rm -f work.db && exec "$2" -batch work.db <work.sql ;;
esac
