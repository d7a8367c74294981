# coreutils.sh - the test suite of coreutils, its programs moved after they were built
suite=coreutils
. "$TORTURE_HERE/suite.bash"
packages="$packages gperf bison texinfo"
built() { find src -maxdepth 1 -type f | elf_only; }
tests() {
	# Without those that need much memory, other users or a terminal; one after the other, which takes
	# five minutes, most of them asleep.  Not VERBOSE, by which what failed is told twice.
	make check-TESTS SUBDIRS=. VERBOSE= RUN_EXPENSIVE_TESTS=no RUN_VERY_EXPENSIVE_TESTS=no \
		TESTS="$(sed -n 's/^[ \t]*\(tests\/\(cp\|mv\|rm\|ls\|misc\|dd\|cut\|join\|sort\|split\|tail-2\|touch\|mkdir\|install\|ln\|fmt\|pr\|chmod\|du\)\/[a-z0-9_-]*\.\(sh\|pl\)\).*/\1/p' tests/local.mk | sort -u | tr '\n' ' ')"
}
