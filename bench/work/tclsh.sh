#!/bin/sh
# tclsh.sh prepare SIZE SEED [USE...] | run BIN - see tcl_uses.tcl; the time goes to libtcl8.6.so
here=$(dirname "$(realpath "$0")")
. "$here/uses.sh"
case $1 in
prepare) shift && prepare_uses "$(($1 / 8))" "$@" ;;
# Without: a brk() up and one down for each line read.
run) read -r all <size && MALLOC_TRIM_THRESHOLD_=67108864 exec "$2" "$here/tclsh_uses.tcl" $all ;;
esac
