#!/bin/sh
# clang.sh prepare LINES SEED | run BIN - clang on preprocessed sources; the time goes to libLLVM-14.so.1
here=$(dirname "$(realpath "$0")")
. "$here/sources.bash"
case $1 in
prepare) sources_prepare clang-14 "$2" "$3" ;;
run)
	for f in *.i; do
		"$2" -cc1 -triple x86_64-pc-linux-gnu -std=gnu17 -w -O2 -S -x cpp-output "$f" -o - || echo "$f: $?"
	done ;;
esac
