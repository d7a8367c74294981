#!/bin/bash
# build.sh - programs as llvm-bolt likes them best: Debian's sources, built with relocations kept
#
#	bench/build.sh [NAME...]	of: perl python3.11 speedtest1 gawk postgres
#
# The sources of Debian's packages are fetched once (as tests/torture does) and only the one program
# is built, with `-O2 -fno-reorder-blocks-and-partition -Wl,-q`: bolt can then move functions and put
# in its counters, and GCC has not split what it wants to split itself.  The results stay in
# BENCH_CACHE (/var/tmp/morph-bench-cache), outside of the tree:
#
#	bin/NAME		the program
#	lib/			what it loads at run time (perl's and Python's own modules)
#	bin/speedtest1-shared	the same bench of SQLite over the machine's libsqlite3.so.0
#
# A program that is there is not built again; an interrupted build goes on where it was.  Afterwards
# no network is needed.  Prints what is missing, and fails, when a program cannot be had.
cd "$(dirname "$0")/.." || exit 1
CACHE=${BENCH_CACHE:-/var/tmp/morph-bench-cache}
mkdir -p "$CACHE/src" "$CACHE/bin" "$CACHE/lib" "$CACHE/state" || exit 1
SOURCES=$CACHE/src STATE=$CACHE/state
. tests/torture/fetch.bash

compile="-O2 -fno-reorder-blocks-and-partition"
link=-Wl,-q
jobs=-j$(nproc)

# Each runs in its unpacked source and leaves its program in $CACHE/bin.

build_perl() {
	[ -e config.sh ] || sh Configure -des -Dusethreads -Doptimize="$compile" -Dldflags="$link" -Dcc=gcc \
		-Dprefix="$CACHE" -Dprivlib="$CACHE/lib/perl" -Darchlib="$CACHE/lib/perl" -Uuseshrplib || return
	make "$jobs" perl && rm -rf "$CACHE/lib/perl" && cp -a lib "$CACHE/lib/perl" && cp perl "$CACHE/bin/perl"
}

# Debian's own program has these modules built in, too.
python_modules() {
	cat <<-END
	*static*
	array arraymodule.c
	math mathmodule.c -lm
	_bisect _bisectmodule.c
	_csv _csv.c
	_datetime _datetimemodule.c
	_heapq _heapqmodule.c
	_json _json.c
	_random _randommodule.c
	_struct _struct.c
	END
}

build_python3.11() {
	python_modules >Modules/Setup.local
	[ -e Makefile ] || ./configure --prefix="$CACHE" --without-ensurepip --disable-test-modules \
		CC=gcc OPT="-DNDEBUG $compile" LDFLAGS="$link" || return
	make "$jobs" python && rm -rf "$CACHE/lib/python3.11" && cp -a Lib "$CACHE/lib/python3.11" &&
		mkdir -p "$CACHE/lib/python3.11/lib-dynload" && cp python "$CACHE/bin/python3.11"
}

build_speedtest1() {
	[ -e Makefile ] || ./configure --disable-tcl --disable-readline || return
	make sqlite3.c &&
		gcc $compile $link -I. -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_RTREE -o speedtest1 \
			test/speedtest1.c sqlite3.c -lm -lpthread -ldl &&
		gcc -O2 -I. -o speedtest1-shared test/speedtest1.c -l:libsqlite3.so.0 &&
		cp speedtest1 speedtest1-shared "$CACHE/bin/"
}

build_gawk() {
	export FORCE_UNSAFE_CONFIGURE=1
	[ -e Makefile ] || ./configure --disable-nls --disable-mpfr --disable-extensions --without-readline \
		CC=gcc CFLAGS="$compile" LDFLAGS="$link" || return
	make "$jobs" -C support && make "$jobs" gawk && cp gawk "$CACHE/bin/gawk"
}

# With the paths of Debian's package, whose initdb and catalogs it then uses.
build_postgres() {
	local at=/usr/lib/postgresql/15
	[ -e config.status ] || ./configure --prefix=$at --datadir=/usr/share/postgresql/15 --libdir=$at/lib \
		--without-readline --without-zlib --with-system-tzdata=/usr/share/zoneinfo \
		CC=gcc CFLAGS="$compile" LDFLAGS="$link" || return
	make "$jobs" -C src/backend generated-headers && make "$jobs" -C src/port &&
		make "$jobs" -C src/common && make "$jobs" -C src/backend postgres &&
		cp src/backend/postgres "$CACHE/bin/postgres"
}

# What the source packages are called.
declare -A source=([perl]=perl [python3.11]=python3.11 [speedtest1]=sqlite3 [gawk]=gawk [postgres]=postgresql-15)
declare -A needs=([speedtest1]="tcl libsqlite3-dev" [postgres]="bison flex perl postgresql-15")

failed=0
for name in ${*:-perl python3.11 speedtest1 gawk postgres}; do
	if [ -z "${source[$name]:-}" ]; then
		echo "build.sh: there is no way to build '$name'" >&2
		exit 2
	fi
	[ -x "$CACHE/bin/$name" ] && continue
	missing_packages gcc make libc6-dev dpkg-dev ${needs[$name]:-} &&
		missing_sources "${source[$name]}" || { failed=1; continue; }
	echo "building $name" >&2
	if ! (cd "$SOURCES/${source[$name]}" && "build_$name") >"$STATE/$name.log" 2>&1; then
		echo "$name: the build failed, see $STATE/$name.log: $(tail -n 1 "$STATE/$name.log")"
		failed=1
	fi
done
exit $failed
