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

# Both files in the folder; the program exports its functions unless $exports is empty.
exports=-rdynamic
build() {		# FOLDER COMPILER FLAGS...
	local to=$1
	shift
	mkdir -p "$to"
	"$@" -I. -shared -fPIC -o "$to/libnames.so" $code/nameslib.c -Wl,--version-script=$code/names.map 2>"$T/cc.err" &&
		"$@" -I. $exports -o "$to/names" $code/names.c -L"$to" -lnames -Wl,-rpath,'$ORIGIN' 2>"$T/cc.err"
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

# The same of one that defines no versions, and needs those of others.
links_unversioned() {
	local ld so=$T/plain/libplain.so MIN_MOVED=40
	mkdir -p "$T/plain.moved" "$T/plain"
	cat >"$T/plain.c" <<-'END'
	#include <stdio.h>
	int plain_first(int n) { for (int i = 0; i < n; i++) if (printf("%d\n", i) < 0) return -1; return n; }
	int plain_second(int n) { return n > 3 ? plain_first(n) : puts("few"); }
	END
	printf 'int plain_second(int); int main(void) { return plain_second(5); }\n' >"$T/link.c"
	cc -O2 -shared -fPIC -Wl,-soname,libplain.so -o "$so" "$T/plain.c" || { not_ok "unversioned: compile"; return; }
	move_all "$so" "$T/plain.moved/libplain.so" 1 || return
	check "unversioned: parts have names" [ "$(readelf --dyn-syms -W "$T/plain.moved/libplain.so" | grep -c 'plain_')" -gt 2 ]
	for ld in bfd gold lld; do
		command -v ld.$ld >/dev/null || { skip "unversioned: ld.$ld" "no such linker"; continue; }
		if cc -fuse-ld=$ld -o "$T/link" "$T/link.c" "$T/plain.moved/libplain.so" -Wl,--fatal-warnings 2>"$T/cc.err" &&
				[ "$(LD_LIBRARY_PATH=$T/plain "$T/link" | wc -l)" = 5 ] &&
				[ "$(LD_LIBRARY_PATH=$T/plain.moved "$T/link" | wc -l)" = 5 ]; then
			ok "unversioned: ld.$ld links with it"
		else
			not_ok "unversioned: ld.$ld links with it"
			note "$(cat "$T/cc.err")"
		fi
	done
}

# How often gdb stops at each of the places until the program ends, and the calls at the first stop
# in lib_second.
stops() {		# FILE PLACE... [-- gdb options]
	local file=$1 place
	shift
	: >"$T/break.gdb"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		printf 'break %s\ncommands\nsilent\nprintf "at %s\\n"\ncontinue\nend\n' "$1" "${1//%/%%}" >>"$T/break.gdb"
		shift
	done
	shift
	printf 'tbreak lib_second\ncommands\nsilent\nbt\ncontinue\nend\nrun\n' >>"$T/break.gdb"
	gdb "${gdb_quiet[@]}" "$@" -x "$T/break.gdb" "$file" >"$T/gdb" 2>&1
	grep -o 'exited normally' "$T/gdb"
	sed -n 's/^#[0-9]* *\(0x[0-9a-f]* in \)*\([a-z_]*\)\(\[cold\]\)* (.*/\2/p' "$T/gdb" | grep -v -e ^__libc -e ^_start
	grep '^at ' "$T/gdb" | sort | uniq -c
}

# Breakpoints by name and with a condition; the stack where they stop.  In a file that exports names
# gdb also stops where a function goes on in another part: `more`.
places=(inner outer hidden 'inner if $rdi == 7' 'outer if $rdi > 3')
by_name() {		# NAME FOLDER exact|more COMPILER FLAGS...
	local name=$1 at=$T/$2 exact=$3 seed
	shift 3
	command -v gdb >/dev/null || { skip "$name: gdb" "no gdb"; return; }
	[ -e "$at/names" ] || build "$at" "$@" || { skip "$name: gdb" "$1 does not make it"; return; }
	stops "$at/names" "${places[@]}" >"$T/want"
	check "$name: gdb stops in the original" [ "$(grep -c -e ' 21 at inner$' -e '^lib_second$' -e 'exited normally' "$T/want")" = 3 ]
	for seed in 1 2; do
		move "$at" "$at.moved" "$seed"
		stops "$at.moved/names" "${places[@]}" >"$T/have"
		if [ $exact = more ]; then	# more stops count as as many
			awk 'NR == FNR { if ($2 == "at") n[substr($0, index($0, "at"))] = $1; next }
				$2 == "at" { k = substr($0, index($0, "at")); if ($1 > n[k]) sub($1, n[k]) } { print }' "$T/want" "$T/have" >"$T/less"
			mv "$T/less" "$T/have"
		fi
		diff "$T/want" "$T/have" >"$T/diff" && ok "$name seed $seed: gdb stops as often, with the same stack" ||
			{ not_ok "$name seed $seed: gdb stops otherwise"; note "$(cat "$T/diff")"; }
	done
}

# Valgrind names the frames, and a suppression by a function's name is one.  A part of a function is
# NAME.cold in .symtab, as with compilers.
under_valgrind() {	# NAME FOLDER
	local seed file star=
	command -v valgrind >/dev/null || { skip "$1: valgrind" "no valgrind"; return; }
	[ "$2" = stripped ] || star='*'
	printf '{\n careless\n Memcheck:Cond\n fun:careless%s\n fun:main%s\n}\n' "$star" "$star" >"$T/suppressions"
	for seed in original 1 2; do
		file=$T/$2/names
		[ "$seed" = original ] || { move "$T/$2" "$T/$2.moved" "$seed"; file=$T/$2.moved/names; }
		valgrind "$file" leaks >"$T/valgrind" 2>&1
		grep -A2 'Conditional jump' "$T/valgrind" | sed 's/.*: \([a-z]*\)\(\.cold\)* (.*/\1/' | grep -v Cond | tr '\n' ' ' | grep -qx 'careless main ' &&
			ok "$1 $seed: valgrind's stack" || { not_ok "$1 $seed: valgrind's stack"; note "$(cat "$T/valgrind")"; }
		valgrind -q --suppressions="$T/suppressions" "$file" leaks 2>&1 | grep -q Conditional && not_ok "$1 $seed: valgrind's suppression" ||
			ok "$1 $seed: valgrind's suppression"
	done
}

# Calls of functions by their symbols that ltrace counts.  (Of calls over the procedure linkage table it
# misses in generations those that do not go by its stubs: doc/limits.md.)
under_ltrace() {	# NAME FOLDER
	local at=$T/$2 seed
	command -v ltrace >/dev/null || { skip "$1: ltrace" "no ltrace"; return; }
	calls_traced() {
		ltrace -c -x inner -x outer -x hidden "$1" 2>&1 >/dev/null |
			awk 'NF == 5 && $5 ~ /^(inner|outer|hidden)$/ { print $5, $4 }' | sort
	}
	calls_traced "$at/names" >"$T/traced"
	check "$1: ltrace counts the original's calls" grep -qx 'inner 21' "$T/traced"
	for seed in 1 2; do
		move "$at" "$at.moved" "$seed"
		calls_traced "$at.moved/names" >"$T/traced.moved"
		diff "$T/traced" "$T/traced.moved" >"$T/diff" && ok "$1 seed $seed: ltrace counts as many calls" ||
			{ not_ok "$1 seed $seed: ltrace counts other calls"; note "$(cat "$T/diff")"; }
	done
}

# Calls that pass `calls` makes through the slots: by the library's symbol they are seen.  (Those by a stub
# it then counts twice.)
under_ltrace_of_library() {
	local counts seed missed=0
	command -v ltrace >/dev/null || { skip "ltrace: a library's function" "no ltrace"; return; }
	mkdir -p "$T/slots"
	cat >"$T/slots/p.c" <<-'C'
		#include <stdio.h>
		#include <stdlib.h>
		__attribute__((noinline)) static int f(int i) { char b[32]; snprintf(b, sizeof(b), "%d", i * 3); return atoi(b); }
		int main(void) { int sum = 0; for (int i = 0; i < 300; i++) sum += f(i); return sum == 7; }
	C
	gcc -O2 "$T/slots/p.c" -o "$T/slots/p" || exit 1
	calls_of() {		# OPTION PROGRAM
		ltrace -c $1 "$2" 2>&1 >/dev/null | awk '$5 == "snprintf" { print $4 }'
	}
	for seed in 1 2 3; do
		move_all "$T/slots/p" "$T/slots/moved" $seed || exit 1
		counts=$(calls_of "-x snprintf@libc.so*" "$T/slots/moved")
		[ "$counts" = 300 -o "$counts" = 600 ] && ok "seed $seed: ltrace counts a library's function" ||
			{ not_ok "seed $seed: ltrace counts a library's function"; note "$counts"; }
		[ "$(calls_of "-e snprintf" "$T/slots/moved")" = 300 ] || missed=$((missed + 1))
	done
	[ $missed -gt 0 ] && ok "of $missed generations it misses calls that go by no stub" ||
		not_ok "what doc/limits.md says ltrace misses it does not"
}

# Calls that gprof counts; a program that counts them is left alone, whatever it is linked to.
under_gprof() {
	local at=$T/gprof out
	command -v gprof >/dev/null || { skip "gprof" "no gprof"; return; }
	build "$at" gcc -O2 -pg || { skip "gprof" "gcc does not make it"; return; }
	calls() { (cd "$at" && rm -f gmon.out && LD_LIBRARY_PATH=$1 ./names long >/dev/null && gprof -b -p ./names gmon.out | awk '$NF ~ /^(inner|hidden|outer)$/ { print $NF, $(NF - 3) }' | sort); }
	calls "$at" >"$T/calls"
	check "gprof: the original's calls are counted" [ "$(tr '\n' ' ' <"$T/calls")" = "hidden 20000 inner 420000 outer 20000 " ]
	out=$("$edit" optimize "$at/names" --all -o "$T/generation" 2>&1)
	[ $? = 3 ] && [[ $out == *gprof* ]] && ok "gprof: its program is refused" || not_ok "gprof: its program is not refused: $out"
	mkdir -p "$at.moved" && move_all "$at/libnames.so" "$at.moved/libnames.so" 1
	calls "$at.moved" | cmp - "$T/calls" && ok "gprof: beside a moved library" || not_ok "gprof: beside a moved library"
}

# perf mounts tracefs where it is not, and leaves it there.
alone() { if [ "$(id -u)" = 0 ]; then unshare --mount "$@"; else "$@"; fi; }

# What belongs to the original by its build-id or its debuglink is not taken for the generation's: gdb
# has no lines of it, and perf, which keeps symbols by build-id, finds new text.
not_the_original() {	# FOLDER
	local at=$T/$1 id offset from size
	build "$at" gcc -O2 -g || { skip "build-id" "gcc does not make it"; return; }
	id=$(readelf -n "$at/names" | sed -n 's/.*Build ID: //p')
	mkdir -p "$T/debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug "$at/names" "$T/debug/.build-id/${id:0:2}/${id:2}.debug"
	cp "$T/debug/.build-id/${id:0:2}/${id:2}.debug" "$at/names.debug"
	strip "$at/names"
	move "$at" "$at.moved" 1
	cp "$at/names.debug" "$at.moved"
	command -v gdb >/dev/null || skip "build-id: gdb" "no gdb"
	for with in "build-id" "debuglink"; do
		command -v gdb >/dev/null || break
		if [ $with = debuglink ]; then
			(cd "$at" && objcopy --add-gnu-debuglink=names.debug names && move_all names ../$1.moved/names 1 >/dev/null)
			rm -r "$T/debug"
		fi
		gdb "${gdb_quiet[@]}" -iex "set debug-file-directory $T/debug" -ex 'info line inner' "$at/names" 2>&1 | grep -q 'Line [0-9]* of' &&
			ok "$with: gdb finds the original's lines" || not_ok "$with: gdb does not find the original's lines"
		gdb "${gdb_quiet[@]}" -iex "set debug-file-directory $T/debug" -ex 'info line inner' "$at.moved/names" 2>&1 | grep -q 'Line [0-9]* of' &&
			not_ok "$with: gdb takes the original's lines for the generation's" || ok "$with: gdb does not take the original's lines"
	done
	command -v perf >/dev/null || { skip "build-id: perf" "no perf"; return; }
	HOME=$T alone perf --buildid-dir "$T/perf" probe -q -x "$at/names" -D inner >"$T/was" 2>"$T/perf.err" ||
		{ skip "build-id: perf" "$(head -n 1 "$T/perf.err")"; return; }
	HOME=$T alone perf --buildid-dir "$T/perf" probe -q -x "$at.moved/names" -D inner >"$T/is" 2>"$T/perf.err"
	offset=$(sed 's/.*:0x//' "$T/is")
	read -r from size < <(readelf -SW "$at.moved/names" | sed 's/^ *\[ *[0-9]*\] //' | awk '$1 == ".morph.text" { print $4, $5 }')
	[ "$offset" ] && [ $((16#$offset)) -ge $((16#$from)) ] && [ $((16#$offset)) -lt $((16#$from + 16#$size)) ] &&
		ok "build-id: perf probe finds the function in new text" || not_ok "build-id: perf probe: $(cat "$T/was" "$T/is" "$T/perf.err")"
}

# Valgrind's libraries say by names what they replace: it takes each symbol of such a name for the function.
orders() {
	local f=$T/orders.so names
	printf 'int %s(const char *a) { int n = 0; while (a[n] && a[n] != 7) n++; return n; }\n' plain _vgr20160ZU_libcZdsoZa_f _vgw00000ZU_x_g |
		gcc -O2 -shared -fPIC -xc -o "$f" - && move_all "$f" "$f.moved" 1 || return
	names=$(readelf --dyn-syms -W "$f.moved" | awk '$4 == "FUNC" && $7 != "UND" { print $8 }' | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')
	[[ $names = "1 1 "[2-9]" " ]] && ok "a name that is an order is given once" || not_ok "names: $names"
}

names_itself pie pie gcc -O2
links pie "$T/pie"
links_unversioned
names_itself stripped stripped gcc -O2 -s
names_itself fixed fixed gcc -O2 -no-pie -fno-pie
names_itself sysv-hash sysv gcc -O2 -Wl,--hash-style=sysv
names_itself both-hashes both gcc -O2 -Wl,--hash-style=both
names_itself clang clang clang -O2
names_itself lld lld clang -O1 -fuse-ld=lld
by_name pie pie more gcc -O2
by_name stripped stripped more gcc -O2 -s
under_valgrind stripped stripped
exports=
by_name symbols plain exact gcc -O2
by_name "fixed, symbols" plain-fixed exact gcc -O2 -no-pie -fno-pie
by_name "clang, symbols" plain-clang exact clang -O2
under_valgrind symbols plain
under_ltrace symbols plain
under_ltrace_of_library
exports=-rdynamic
orders
not_the_original debugged
under_gprof
done_testing
