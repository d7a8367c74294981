# clang.sh - clang compiles large sources, its libLLVM and libclang-cpp moved, to the same assembly
packages="clang-14"
files() { with_libraries "$(program clang-14)"; }
. "$TORTURE_HERE/sources.bash"
prepare() { sources_prepare clang-14 clang++-14; }
run() {
	local f o
	for f in *.i *.ii; do
		for o in -O0 -O2 "-O3 -g"; do
			clang-14 $o -w -S -o "$f.s" "$f" || echo "$f $o: $?"
			sha256sum "$f.s"
			clang-14 $o -w -c -o "$f.o" "$f" && sha256sum "$f.o"
		done
	done
	clang-14 -Wall -Wextra --analyze -Xclang -analyzer-output=text program.i
}
