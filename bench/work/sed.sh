#!/bin/sh
# sed.sh prepare LINES SEED | run BIN - substitutions, addresses, the hold space, loops, transliteration
here=$(dirname "$(realpath "$0")")
case $1 in
prepare) awk -v n="$2" -v seed="$3" -f "$here/prose.awk" >text ;;
run)
	LC_ALL=C "$2" -e 's/  */ /g' -e 's/\([a-z]*\)@\([a-z]*\)/\2 at \1/' -e '/^[A-Z]/s/^/* /' text | cksum
	LC_ALL=C "$2" -n -e '/example/{=;p;}' -e '$=' -e '10,/th/p' text | cksum
	LC_ALL=C "$2" -E -e ':a' -e 's/^(.*[0-9])([0-9]{3})/\1.\2/;ta' -e 'y/abcdef/ABCDEF/' text | cksum
	LC_ALL=C "$2" -e '1!G;h;$!d' -e 's/\n.*//' text | cksum
	LC_ALL=C "$2" -n -e 'N;N;s/\n/ | /g;P' -e '/ing/{H;g;s/.*\n//p;}' text | cksum
	LC_ALL=C.UTF-8 "$2" -E 's/(\w+) (\w+)/\2 \1/g; s/é|ß/\U&/g; /[[:digit:]]{3}/!s/[[:punct:]]/;/2' text | cksum ;;
esac
