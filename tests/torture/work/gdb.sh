# gdb.sh - sessions of gdb with programs and files of the machine
packages="gdb perl gcc-12"
# Not the C library: the program that is debugged has it too, and gdb shows what it finds there.
files() { with_libraries "$(program gdb)" | grep -v /libc.so; }
prepare() {
	local top
	top=$(realpath "$TORTURE_HERE/../../..")
	gcc-12 -g -O1 -o target "$top/tests/torture/work/target.c"
}
# Process numbers are the one thing that differs from run to run.
run() {
	sessions 2>&1 | sed -E 's/(process|LWP) [0-9]+/\1 N/g'
}
sessions() {
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set startup-with-shell off' -ex 'break visit' \
		-ex run -ex bt -ex 'info locals' -ex 'info registers rip rsp' -ex 'ptype struct tree' \
		-ex finish -ex 'print *$->left' -ex 'watch visited' -ex c -ex c -ex bt -ex 'disassemble /s visit' \
		-ex 'info sharedlibrary' -ex 'delete' -ex 'stepi 400' -ex 'x/20i $pc' -ex bt -ex c ./target
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'info functions .' -ex 'info types .' \
		-ex 'info line main' -ex 'list main' -ex 'info scope visit' ./target
	gdb -nx -batch -ex 'python print(sum(i * i for i in range(1000)))' \
		-ex 'python print(gdb.parse_and_eval("(1 + 2) * sizeof(long)"))' -ex 'help all'
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'disassemble main' /usr/bin/perl
	gdb -nx -batch -ex 'maint info sections' /usr/bin/git
}
