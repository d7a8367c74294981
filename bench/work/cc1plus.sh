#!/bin/sh
# cc1plus.sh prepare SIZE SEED [USE...] | run BIN - the C++ compiler proper on made sources full of templates and
# the standard library: fast (-O2), debug (-O0 -g), check (nothing but parsed and instantiated)
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-fast}" >uses
	rm -f ./*.ii
	for k in 1 2; do
		awk -v n="$n" -v seed="$seed$k" -f "$here/cxx_source.awk" >source.cc &&
			g++-12 -std=gnu++17 -E -P source.cc >"source$k.ii" || exit
	done ;;
run)
	for use in $(cat uses); do
		case $use in
		fast) options=-O2 files=source1.ii ;;
		debug) options="-O0 -g -fdebug-prefix-map=$PWD=." files=source2.ii ;;
		check) options=-fsyntax-only files=source2.ii ;;
		esac
		for f in $files; do
			"$2" -quiet -fpreprocessed -std=gnu++17 -w $options "$f" -o - 2>&1 || echo "$f: $?"
		done
	done ;;
esac
