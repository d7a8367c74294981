#!/bin/sh
# clang++.sh prepare SIZE SEED | run BIN - clang's front end for C++, optimizing nothing; the time goes to
# libclang-cpp.so.14
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/cxx_source.awk" >source.cc &&
		clang++-14 -std=gnu++17 -E -P source.cc >source.ii ;;
run)
	"$2" -cc1 -triple x86_64-pc-linux-gnu -std=gnu++17 -fcxx-exceptions -fexceptions -w -x c++-cpp-output \
		-O0 -S -emit-llvm source.ii -o - | cksum ;;
esac
