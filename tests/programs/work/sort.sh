#!/bin/sh
# sort.sh prepare N SEED | run SORT - N lines of words and numbers in several orders
case $1 in
prepare)
	awk -v n="$2" -v s="$3" 'BEGIN {
		s = s * 7919 + 1
		for (i = 0; i < n; i++) {
			s = (s * 16807) % 2147483647; w = ""
			for (k = s % 9 + 1; k > 0; k--) { s = (s * 16807) % 2147483647
				w = w sprintf("%c", (s % 13 ? 97 : 65) + int(s / 64) % 26) }
			print w, s % 1000 - 500, int(s / 1024) % 97 "." s % 89
		}
	}' >lines ;;
run)
	sort=$2
	export LC_ALL=C
	"$sort" lines; "$sort" -r lines; "$sort" -k2,2n -k1,1 lines; "$sort" -n -k3 -s lines
	"$sort" -u -k1,1 lines; "$sort" -f -b -d lines; "$sort" -k3,3g -k2,2rn lines
	"$sort" -h -k2 lines; "$sort" -V lines; "$sort" -t' ' -k1.2,1.3 -k2nr lines
	"$sort" -R --random-source=lines -k1,1 -u lines
	"$sort" lines >sorted; "$sort" -m sorted sorted; "$sort" -c sorted; "$sort" --parallel=2 -S 1M lines
	LC_ALL=C.UTF-8 "$sort" lines
	"$sort" -c lines; echo "$?" ;;
esac
