# bash.sh - the test scripts of bash's own source
packages="bash dpkg-dev gcc libc6-dev"
sources=bash
files() { with_libraries "$(program bash)"; }
prepare() {
	local p
	cp -a "$SOURCES/bash/tests/." . || return
	for p in recho zecho printenv xcase; do
		gcc -w -o "$p" "$SOURCES/bash/support/$p.c" || return
	done
}
run() {
	local t
	export THIS_SH=/usr/bin/bash PATH=$PWD:$PATH BASH_TSTOUT=$PWD/.out
	for t in run-*; do
		case $t in
		run-all | run-minimal | run-gprof | run-jobs | run-read | run-trap | run-history | run-coproc) continue ;;
		esac
		unit "$t" /usr/bin/bash "./$t"
	done
}
