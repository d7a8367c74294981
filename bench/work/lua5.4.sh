#!/bin/sh
# lua5.4.sh prepare SIZE SEED [USE...] | run BIN - see lua_uses.lua
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed ${*:-text numbers objects}" >size ;;
run) read -r all <size && exec "$2" "$here/lua_uses.lua" $all ;;
esac
