# bash.sh - the test scripts of bash's own source, run by the bash that was built from it, moved
suite=bash
. "$TORTURE_HERE/suite.bash"
configure() { ./configure --disable-nls CFLAGS="-O2 -g0 -w" && make recho zecho printenv xcase; }
built() { echo bash; }
prepare() { cp -a "$SOURCES/bash/tests/." .; }
# Without those that need a terminal or measure time.
run() {
	local t
	export THIS_SH=$SOURCES/bash/bash PATH=$PWD:$SOURCES/bash:$PATH BASH_TSTOUT=$PWD/.out
	for t in run-*; do
		case $t in
		run-all | run-minimal | run-gprof | run-jobs | run-read | run-trap | run-history | run-coproc | run-posixpipe) continue ;;
		esac
		unit "$t" "$THIS_SH" "./$t"
	done
}
