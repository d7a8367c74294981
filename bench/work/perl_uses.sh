#!/bin/sh
# perl_uses.sh prepare SIZE SEED [USE...] | run BIN - see perl_uses.pl
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	awk -v n="$n" -v seed="$seed" -f "$here/weblog.awk" >log && echo "$n $seed ${*:-text numbers objects}" >size ;;
run) read -r all <size && PERL_HASH_SEED=0 exec "$2" "$here/perl_uses.pl" $all ;;
esac
