#!/bin/sh
# perl_uses.sh prepare SIZE SEED [USE...] | run BIN - see perl_uses.pl
here=$(dirname "$(realpath "$0")")
. "$here/uses.sh"
case $1 in
prepare) shift && prepare_uses "$1" "$@" ;;
run) read -r all <size && PERL_HASH_SEED=0 exec "$2" "$here/perl_uses.pl" $all ;;
esac
