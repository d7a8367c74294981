#!/bin/sh
# gnugo.sh prepare SIZE SEED | run BIN - the first SIZE moves of a game of Go against itself
case $1 in
prepare) echo "$2 $3" >game ;;
run)
	read -r moves seed <game
	"$2" --quiet --seed "$seed" --level 5 --benchmark "$moves" | grep -v seconds ;;
esac
