#!/bin/sh
# speedtest1.sh prepare SIZE SEED | run BIN - SQLite's own bench (BIN is bench/build.sh's), without its
# times; the seed chooses the size of pages
case $1 in
prepare) echo "$2 $((1024 << $3 % 4))" >size ;;
run)
	read -r size page <size
	for set in main cte orm; do
		"$2" --memdb --size "$size" --pagesize "$page" --verify --testset $set || echo "$?"
	done | sed -E 's/\.*[ ]+[0-9]+\.[0-9]+s$//' ;;
esac
