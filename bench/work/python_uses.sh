#!/bin/sh
# python_uses.sh prepare SIZE SEED [USE...] | run BIN - see python_uses.py
here=$(dirname "$(realpath "$0")")
. "$here/uses.sh"
case $1 in
prepare) shift && prepare_uses "$1" "$@" ;;
run) read -r all <size && PYTHONHOME=/usr PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 exec "$2" -S -B "$here/python_uses.py" $all ;;
esac
