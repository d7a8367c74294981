#!/bin/sh
# lua5.4.sh prepare SIZE SEED [USE...] | run BIN - see lua_uses.lua
here=$(dirname "$(realpath "$0")")
. "$here/uses.sh"
case $1 in
prepare) shift && prepare_uses "$1" "$@" ;;
run) read -r all <size && exec "$2" "$here/lua_uses.lua" $all ;;
esac
