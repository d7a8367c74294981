#!/bin/bash
# machine_use.bash KIND SEED - one piece of what people do with a machine, in one of bench/machine.sh's systems
#
# What it prints depends on KIND and SEED alone, and tells all that the work made: output of programs, sums of
# objects and libraries.  Of several sources or uses the seed says which.  Pieces take a few seconds.
#
# `kinds PART DAY DAYS` prints the kinds of the mornings and of the afternoons; the second half of the days has
# a new habit.
set -u
kind=$1 seed=${2:-0}
if [ "$kind" = kinds ]; then
	case $2 in
	morning) echo "$([ $(($3 % 2)) = 0 ] || echo "configure ")c c++" ;;
	afternoon)
		echo "scripts small git database documents compress$([ $(($3 * 2)) -le $(($4 + 1)) ] || echo " habit")" ;;
	esac
	exit
fi

here=/use work=/tmp/use/$kind
export LC_ALL=C.UTF-8 HOME=/root MAKEFLAGS= CFLAGS=-O2 CXXFLAGS=-O2
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1

one_of() { shift $((seed % $#)); echo "$1"; }
source_of() { cp -a "$(ls -d /sources/"$1"-*/ | head -n 1)" source && cd source; }
sums() { find . \( -name '*.o' -o -name '*.a' -o -name '*.so*' \) -type f | sort | xargs cksum; }

# A workload of bench/work in a folder of its own.
workload() {		# NAME SIZE PROGRAM [USE...]
	local name=$1 size=$2 program
	program=$(readlink -f "$(command -v "$3")") || { echo "no $3"; return; }
	shift 3
	mkdir -p "$work/$name" && cd "$work/$name" || return
	"$here/bench/work/$name.sh" prepare "$size" "$seed" "$@" 2>&1
	"$here/bench/work/$name.sh" run "$program" 2>&1
	echo "$name: exit code $?"
}

use_configure() {
	source_of zlib && ./configure 2>&1 && cksum Makefile zconf.h
}
use_c() {
	case $(one_of zlib bzip2) in
	zlib) source_of zlib && ./configure --static >configure.log && make -s test 2>&1 ;;
	bzip2) source_of bzip2 && make -s test 2>&1 ;;
	esac
	echo "exit code $?"
	sums
}
# By make's own rules: objects, a program of them all.
build_cxx() {		# OPTIONS FILE...
	local options=$1
	shift
	printf 'program: %s\n\tg++ -o $@ $^\n' "$(echo "$@" | sed 's/\.cpp/.o/g')" >build.mk
	make -s -f build.mk CXXFLAGS="-O2 $options" 2>&1
}
use_c++() {
	case $(one_of libjsoncpp tinyxml2) in
	libjsoncpp)
		source_of libjsoncpp && cat >main.cpp <<-'END' &&
			#include <iostream>
			#include <json/json.h>
			int main() { Json::Value v; std::cin >> v; std::cout << v; return v.size() ? 0 : 1; }
		END
			build_cxx -Iinclude main.cpp src/lib_json/json_reader.cpp src/lib_json/json_value.cpp \
				src/lib_json/json_writer.cpp &&
			seq 2000 | sed '1s/^/[/; $!s/$/,/; $s/$/]/' | ./program | cksum ;;
	tinyxml2) source_of tinyxml2 && build_cxx "" tinyxml2.cpp xmltest.cpp && ./program | grep -c Pass ;;
	esac
	echo "exit code $?"
	sums
}
use_scripts() {
	workload perl_uses 2500 perl
	workload python_uses 2500 python3
	workload bash 600 bash
	workload awk_uses 4000 gawk
}
use_small() {
	workload libc 1200 dash
}
use_git() { workload git_uses 80 git; }
use_database() {
	workload sqlite_uses 800 sqlite3
	workload postgres 1000 /usr/lib/postgresql/15/bin/postgres
}
use_documents() {
	workload gs_uses 1 gs
	workload troff 1200 troff
	workload convert 100 convert
}
use_compress() {
	workload gzip 150 gzip
	workload xz 100 xz
	workload zstd 200 zstd
	workload bzip2 150 bzip2
}
use_habit() {
	workload ruby 2500 ruby
	workload lua5.4 4000 lua5.4
	workload php 6000 php
}
declare -F "use_$kind" >/dev/null || { echo "no such kind: $kind"; exit 1; }
"use_$kind"
