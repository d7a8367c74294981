#!/bin/sh
# python_uses.sh prepare SIZE SEED [USE...] | run BIN - see python_uses.py
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed ${*:-text numbers objects}" >size ;;
run) read -r all <size && PYTHONHOME=/usr PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 exec "$2" -S -B "$here/python_uses.py" $all ;;
esac
