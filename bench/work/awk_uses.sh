#!/bin/sh
# awk_uses.sh prepare SIZE SEED [USE...] | run BIN - any awk, see awk_uses.awk
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed" >size &&
		echo "${*:-report strings numbers}" >uses ;;
run)
	read -r n seed <size
	for use in $(cat uses); do
		LC_ALL=C "$2" -v use="$use" -v n="$n" -v seed="$seed" -f "$here/awk_uses.awk" log || echo "$use: $?"
	done ;;
esac
