# gcc.sh - gcc and g++ compile large sources, cc1, cc1plus and as moved, to the same assembly and objects
packages="gcc-12 g++-12 binutils"
files() {
	local d
	d=$(dirname "$(gcc-12 -print-prog-name=cc1)")
	with_libraries "$d/cc1" "$d/cc1plus" "$(program x86_64-linux-gnu-as)"
}
. "$TORTURE_HERE/sources.bash"
prepare() { sources_prepare gcc-12 g++-12; }
run() {
	local f o
	for f in *.i *.ii; do
		for o in -O0 -O2 -Os "-O3 -g"; do
			gcc-12 $o -w -S -o "$f.s" "$f" || echo "$f $o: $?"
			sha256sum "$f.s"
			gcc-12 -c -o "$f.o" "$f.s" && sha256sum "$f.o"
		done
	done
	gcc-12 -O2 -Wall -Wextra -fanalyzer -S -o /dev/null program.i
}
