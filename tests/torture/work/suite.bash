# suite.bash - sourced by the workloads that are the test suite of a source package
#
# The package is configured and built once in $SOURCES; the workload sets suite, and defines
#
#	built		prints the programs that were built, relative to the package
#	tests		runs them through `make`, in a copy of the package
#
# What is moved are the programs that the build made, since the suites test those: in each run they
# are covered by themselves or by their generations.  What is compared is the result of every test.
packages="gcc make libc6-dev dpkg-dev"
sources=$suite

configure() { ./configure --disable-nls CFLAGS="-O2 -g0"; }

# Built where it stays: a copy elsewhere would be configured for the wrong place.
suite_build() {
	[ -e "$SOURCES/$suite/.built" ] && return
	# Documents may need tools that are not here; what counts is whether the programs come out.
	(cd "$SOURCES/$suite" && export FORCE_UNSAFE_CONFIGURE=1 && configure &&
		{ make -k -j2 MAKEINFO=true HELP2MAN=true || true; } && touch .built) >"$SOURCES/$suite.log" 2>&1
}

files() {
	suite_build && (cd "$SOURCES/$suite" && built | xargs realpath)
}

run() {
	cd "$SOURCES/$suite" || return
	tests >"$HOME/log" 2>&1
	sed -nE 's/^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): ([^ ]+).*/unit \2 \1/p' "$HOME/log" | sort -u
}
