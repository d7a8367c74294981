#!/bin/sh
# cc1_uses.sh prepare LINES SEED [USE...] | run BIN - the C compiler proper: debug (-O0 -g), fast (-O3), check
# (nothing but parsed and warned about)
here=$(dirname "$(realpath "$0")")
. "$here/sources.bash"
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-debug fast check}" >uses
	sources_prepare gcc "$n" "$seed" ;;
run)
	for use in $(cat uses); do
		case $use in
		debug) options="-O0 -g" ;;
		fast) options="-O3 -funroll-loops" ;;
		check) options="-fsyntax-only -Wall -Wextra" ;;
		esac
		for again in 1 2 3 4; do
			[ "$again" = 1 ] || [ "$use" = check ] || [ "$use-$again" = debug-2 ] || continue
			for f in *.i; do "$2" -quiet -fpreprocessed -std=gnu17 -fPIE -fdebug-prefix-map="$PWD=." $options "$f" -o - 2>&1 || echo "$f: $?"; done
		done
	done ;;
esac
