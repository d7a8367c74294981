#!/bin/sh
# perl.sh prepare N SEED | run PERL - see perl.pl
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) echo "$2 $3" >size ;;
run) read -r n seed <size && PERL_HASH_SEED=0 exec "$2" "$here/perl.pl" "$n" "$seed" ;;
esac
