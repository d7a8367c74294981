#!/bin/sh
# clang.sh prepare LINES SEED [USE...] | run BIN - clang on preprocessed sources, fast (-O2), debug (-O0 -g) or
# small (-Os); the time goes to libLLVM-14.so.1
here=$(dirname "$(realpath "$0")")
. "$here/sources.bash"
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-fast}" >uses
	sources_prepare clang-14 "$n" "$seed" ;;
run)
	for use in $(cat uses); do
		case $use in
		fast) options=-O2 ;;
		debug) options="-O0 -debug-info-kind=limited" ;;
		small) options=-Os ;;
		esac
		for f in *.i; do
			"$2" -cc1 -triple x86_64-pc-linux-gnu -std=gnu17 -w $options -S -x cpp-output "$f" -o - || echo "$f: $?"
		done
	done ;;
esac
