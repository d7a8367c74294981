#!/bin/sh
# grep.sh prepare LINES SEED [USE...] | run BIN - words (fixed strings, one and many), patterns (extended, groups,
# back references), letters (without case, in UTF-8, perl's)
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-words patterns letters}" >uses
	awk -v n="$n" -v seed="$seed" -f "$here/prose.awk" >text &&
		awk 'NR % 97 == 0 { print $2 }' text | sort -u | head -n 200 >list ;;
run)
	for use in $(cat uses); do
		case $use in
		words)
			export LC_ALL=C
			for w in shan tho qqq example; do "$2" -c "$w" text; "$2" -n -F -w "$w" text; done
			"$2" -F -o -f list text | tail; "$2" -v -c -F -e the -e e text; "$2" -l -r zzzz .; "$2" -A1 -B2 -F -x -f list text ;;
		patterns)
			export LC_ALL=C
			"$2" -E -c '^[a-m]+ .*(tion|ing|es)$' text; "$2" -n -E '([a-z])\1[a-z]*\1' text | tail
			"$2" -o -E '[a-z]+@[a-z]+\.example\.(org|com)' text; "$2" -c '[0-9]\{3,\}.*,.*[A-Z]' text
			"$2" -E -v '(.)(.).*\2\1' text | cksum; "$2" -c -E '(a|e|i)(s|t|n)+[^a-z ]{1,3}(o|u|h)' text ;;
		letters)
			export LC_ALL=C.UTF-8
			"$2" -i -c 'É[a-z]' text; "$2" -n -i -w 'sEn\|ta' text | cksum; "$2" -o 'ß.é*[[:alpha:]]\+' text | tail
			"$2" -P -c '(?<=é)\w+(?=,)' text; "$2" -P -o '\b(\w)\w*\1\b(?!,)' text | cksum; "$2" -E -i -c '(é|ß)[[:lower:]]{2}' text ;;
		esac
	done ;;
esac
