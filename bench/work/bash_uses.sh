#!/bin/sh
# bash_uses.sh prepare SIZE SEED [USE...] | run BIN - see bash_uses_script.sh
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed ${*:-text numbers lists}" >size ;;
run) read -r all <size && LC_ALL=C exec "$2" "$here/bash_uses_script.sh" $all ;;
esac
