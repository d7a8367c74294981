#!/bin/bash
# names.sh - names and lines in generations, by the tools that people use
#
# A program and a library (tests/programs/names/) are moved, and tools are run on the original and on
# the generation: what they say of the one they must say of the other.
MIN_MOVED=60			# of few functions some are shorter than an entry jump
. tests/moving.sh

code=tests/programs/names
gdb_quiet=(-nx -batch -ex 'set confirm off' -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off'
	-ex 'set breakpoint pending on' -ex 'set width 0')

# Both files in the folder, with symbols.
build() {		# FOLDER COMPILER FLAGS...
	local to=$1
	shift
	mkdir -p "$to"
	"$@" -I. -shared -fPIC -o "$to/libnames.so" $code/nameslib.c -Wl,--version-script=$code/names.map 2>"$T/cc.err" &&
		"$@" -I. -rdynamic -o "$to/names" $code/names.c -L"$to" -lnames -Wl,-rpath,'$ORIGIN' 2>"$T/cc.err"
}

# Generations of both, in another folder; the tests in it say whether they verify.
move() {		# FROM TO SEED
	mkdir -p "$2"
	move_all "$1/libnames.so" "$2/libnames.so" "$3" && move_all "$1/names" "$2/names" "$3"
}

# Addresses on stdin that are in the section; the program prints those of its frames.
in_section() {		# FILE SECTION
	local from size
	read -r from size < <(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] //' | awk -v s="$2" '$1 == s { print $3, $5 }')
	while read -r at; do
		[ $((16#$at)) -ge $((16#${from:-0})) ] && [ $((16#$at)) -lt $((16#${from:-0} + 16#${size:-0})) ] && echo "$at"
	done
}

# dladdr(), backtrace_symbols(), _Unwind_FindEnclosingFunction(), dlsym() and dlvsym() in the program.
names_itself() {	# NAME FOLDER COMPILER FLAGS...
	local name=$1 at=$T/$2 seed mode cold=0
	shift 2
	if ! build "$at" "$@"; then
		skip "$name" "$1 does not make it: $(head -n 1 "$T/cc.err")"
		return
	fi
	record_run "$T/frames" "$at/names" frames
	record_run "$T/look" "$at/names" look
	check "$name: the original's frames have names" [ "$(grep -c 'dladdr=[a-z_]* symbols=[a-z_]' "$T/frames.out")" -ge 16 ]
	for seed in $SEEDS 4; do
		move "$at" "$at.moved" "$seed" || continue
		for mode in frames look; do
			record_run "$T/after" "$at.moved/names" $mode
			[ $mode = look ] || cold=$((cold + $(in_section "$at.moved/names" .morph.fluff <"$T/after.err" | wc -l)))
			: >"$T/after.err"; : >"$T/$mode.err"	# addresses
			same_run "$name seed $seed, $mode" "$T/$mode" "$T/after"
		done
	done
	[ $cold -ge 4 ] && ok "$name: $cold frames were in split parts" || not_ok "$name: $cold frames were in split parts"
}

# Linkers take a generation for the library that it is.
links() {		# NAME FOLDER
	local ld want have
	printf 'int lib_first(int, void *), lib_versioned(int); int main(void) { return lib_first(3, 0) + lib_versioned(3); }\n' >"$T/link.c"
	for ld in bfd gold lld; do
		command -v ld.$ld >/dev/null || { skip "$1: ld.$ld" "no such linker"; continue; }
		cc -fuse-ld=$ld -o "$T/link" "$T/link.c" "$2/libnames.so" -Wl,--fatal-warnings || { not_ok "$1: ld.$ld"; continue; }
		want=$(readelf --dyn-syms -W "$T/link" | awk '/lib_/ { print $4, $5, $8 }' | sort)
		"$T/link"
		want="$want $?"		# and what it returns
		cc -fuse-ld=$ld -o "$T/link" "$T/link.c" "$2.moved/libnames.so" -Wl,--fatal-warnings 2>"$T/cc.err"
		have=$(readelf --dyn-syms -W "$T/link" | awk '/lib_/ { print $4, $5, $8 }' | sort)
		"$T/link"
		have="$have $?"
		[ "$want" = "$have" ] && ok "$1: ld.$ld links with it as before" || { not_ok "$1: ld.$ld"; note "$(cat "$T/cc.err")"; }
	done
}

names_itself pie pie gcc -O2
links pie "$T/pie"
names_itself stripped stripped gcc -O2 -s
names_itself fixed fixed gcc -O2 -no-pie -fno-pie
names_itself sysv-hash sysv gcc -O2 -Wl,--hash-style=sysv
names_itself both-hashes both gcc -O2 -Wl,--hash-style=both
names_itself clang clang clang -O2
names_itself lld lld clang -O1 -fuse-ld=lld
done_testing
