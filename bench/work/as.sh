#!/bin/sh
# as.sh prepare LINES SEED | run BIN - the assembler on what the C compiler wrote, with debug information and without
here=$(dirname "$(realpath "$0")")
. "$here/sources.bash"
case $1 in
prepare)
	sources_prepare gcc "$2" "$3" || exit
	for f in *.i; do
		gcc-12 -std=gnu17 -w -O2 -g -S "$f" -o "${f%.i}-g.s" && gcc-12 -std=gnu17 -w -O3 -S "$f" -o "${f%.i}.s" || exit
	done
	rm -f ./*.i ;;
run) for f in *.s; do "$2" --64 "$f" -o out.o; echo "$?"; cksum <out.o; done ;;
esac
