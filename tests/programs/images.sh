#!/bin/bash
# images.sh - images of every kind stand what tools do to ELF files, and run as before
#
# Made here with several compilers and linkers, and taken from this machine: each is moved, and each
# tool rewrites the generation, which has to run as the original does.  Build-ids must be found where
# they were.  What cannot be moved is refused with its reason.
MIN_MOVED=70			# of few functions some are shorter than an entry jump
. tests/moving.sh

tools=(strip 'strip --strip-debug' objcopy eu-strip
	'patchelf --set-rpath /nowhere/that/is/long/enough/to/need/room' 'patchelf --add-needed libm.so.6')

notes() {		# FILE: ABI, properties such as IBT, that there is a build-id; not where probes are
	readelf -nW "$1" 2>/dev/null | awk '/notes found in/ { show = !/stapsdt/ } { sub(/Build ID: .*/, "Build ID") } show'
}

build_id() {		# FILE
	readelf -nW "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}

# A generation is not taken for its original: the build-id is as long, and another one.
own_build_id() {	# FILE GENERATION
	local was is
	was=$(build_id "$1") is=$(build_id "$2")
	[ ${#was} = ${#is} ] && { [ -z "$was" ] || [ "$was" != "$is" ]; }
}

# The build-id's bytes are in the first page of the file: kernels look no further.
id_in_first_page() {	# FILE, if it has one
	local from size
	readelf -n "$1" | grep -q 'Build ID' || return 0
	read -r from size < <(readelf -SW "$1" | sed -n 's/.*\.note\.gnu\.build-id *NOTE *[0-9a-f]* *\([0-9a-f]*\) *\([0-9a-f]*\) .*/\1 \2/p')
	[ "$from" ] && [ $((16#$from + 16#$size)) -le 4096 ]
}

works_with() {		# FILE TOOL: the original stands it, too
	command -v "${2%% *}" >/dev/null || return 1
	[ "${2%% *}" != patchelf ] || readelf -lW "$1" | grep -q INTERP || [[ $1 == *.so* ]]
}

# Every tool over the generation $T/generation of FILE; RUN is called with the file that it left.
stands_tools() {	# NAME FILE RUN [TOOL...]
	local name=$1 file=$2 run=$3 tool at=$T/tool/${2##*/}
	shift 3
	mkdir -p "$T/tool"
	check "$name: the notes are the original's" [ "$(notes "$file")" = "$(notes "$T/generation")" ]
	check "$name: its build-id is its own" own_build_id "$file" "$T/generation"
	check "$name: its build-id is in the first page" id_in_first_page "$T/generation"
	cp "$file" "$at" && "$run" "$T/before" "$at"
	for tool in true "$@"; do
		works_with "$file" "$tool" || continue
		cp "$T/generation" "$at"
		$tool "$at" 2>"$T/tool.err" || { not_ok "$name: $tool fails"; note "$(cat "$T/tool.err")"; continue; }
		"$run" "$T/after" "$at"
		same_run "$name after $tool" "$T/before" "$T/after"
	done
	if readelf -lW "$file" | grep -q INTERP; then
		cp "$T/generation" "$at"
		by_loader "$T/after" "$at"
		same_run "$name by its loader" "$T/before" "$T/after"
	fi
}

run_plain() { record_run "$1" env LC_ALL=C "$2" --version; }
by_loader() { record_run "$1" env LC_ALL=C /lib64/ld-linux-x86-64.so.2 --argv0 "$2" "$2" --version; }

# The names of moved functions, turn and deeper, lead to new text, and both originals have one.
names_it() {		# NAME
	local twice
	twice=$(readelf -sW "$T/generation" | awk '$4 == "FUNC" && $8 ~ /^_ZL(4turn|6deeper)ii(\.cold)?$/  && !seen[$8]++ { n++ } END { print n + 0 }')
	[ "$twice" = 4 ] && ok "$1: new text has names" || not_ok "$1: $twice symbols of two functions and their originals"
	command -v gdb >/dev/null || { skip "$1: gdb" "no gdb"; return; }
	gdb -nx -batch -ex 'set confirm off' -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' \
		-ex 'catch throw' -ex run -ex bt -ex kill "$T/generation" >"$T/gdb" 2>&1
	[ "$(grep -c -E '^#.* (turn|deeper)\(int, int\)' "$T/gdb")" -ge 2 ] && grep -q 'in work(int)\|_M_run()' "$T/gdb" &&
		ok "$1: gdb names the frames of an exception" || { not_ok "$1: gdb"; note "$(cat "$T/gdb")"; }
}

# Functions in a section, those that begin with endbr64 marked with a +.
functions_in() {	# FILE SECTION
	objdump -d --no-show-raw-insn -j "$2" "$1" | awk '/>:$/ { name = $2; next }
		name != "" { print name, ($2 == "endbr64" ? "+" : "-"); name = "" }' | sort
}

# An indirect branch may arrive where endbr64 is: every copy has it where its original has.
keeps_marks() {		# ORIGINAL GENERATION
	join <(functions_in "$1" .text) <(functions_in "$2" .morph.text) |
		awk '$2 != $3 { bad = 1 } $3 == "+" { n++ } END { exit bad || n < 4 }'
}

# The object for a compiler and its flags, those of the linker left out, is made once.
compiled() {		# COMPILER FLAGS...
	local key="$*"
	object=${objects[$key]:-}
	[ -z "$object" ] || return 0
	object=$T/object.${#objects[@]}.o
	"$@" -c -o "$object" tests/programs/images.cc -pthread 2>"$T/cc.err" && objects[$key]=$object
}
declare -A objects

# A program made here, moved in the orders of IMAGES_SEEDS; the tools see the first.
orders=${IMAGES_SEEDS:-1}
made() {		# NAME COMPILER FLAGS...
	local name=$1 file=$T/bin/$1 seed flag object compile=()
	shift
	for flag in "$@"; do
		case $flag in -Wl,* | -fuse-ld=*) ;; *) compile+=("$flag") ;; esac
	done
	if ! compiled "${compile[@]}" || ! "$@" -o "$file" "$object" -pthread 2>"$T/cc.err"; then
		skip "$name" "$1 does not make it: $(head -n 1 "$T/cc.err")"
		return
	fi
	run_plain "$T/before" "$file"
	if [ "$(cat "$T/before.rc")" = 127 ]; then
		skip "$name" "it does not run here: $(head -n 1 "$T/before.err")"
		return
	fi
	for seed in $orders; do
		move_all "$file" "$T/generation" "$seed" || continue
		if [ "$seed" != 1 ]; then
			stands_tools "$name seed $seed" "$file" run_plain
		else
			stands_tools "$name seed $seed" "$file" run_plain "${tools[@]}"
			names_it "$name"
		fi
	done
}

real() {		# FILE
	[ -x "$1" ] || { skip "${1##*/}" "this machine has none"; return; }
	move_all "$1" "$T/generation" 1 && stands_tools "${1##*/}" "$1" run_plain "${tools[@]}"
}

run_library() {		# PREFIX FILE: python loads it, and says what it finds
	record_run "$1" python3 -c 'import ctypes, sys
l = ctypes.CDLL(sys.argv[1])
for f in sys.argv[2:]:
	getattr(l, f).restype = ctypes.c_char_p
	print(getattr(l, f)())' "$2" $functions
}

a_library() {		# SONAME FUNCTIONS-WITHOUT-ARGUMENTS
	local file
	file=$(library "$1")
	if [ -z "$file" ] || ! command -v python3 >/dev/null; then
		skip "$1" "this machine lacks it, or python3"
		return
	fi
	functions=$2
	move_all "$file" "$T/generation" 1 && stands_tools "$1" "$file" run_library "${tools[@]}"
}

refused() {		# NAME FILE REASON
	local out rc
	out=$("$edit" optimize "$2" --all -o "$T/generation" 2>&1)
	rc=$?
	if [ $rc = 3 ] && [[ $out == *"$3"* ]]; then ok "$1: refused"; else not_ok "$1: exit code $rc: $out"; fi
}

# Static probe points fire as often as before, with the same arguments, and are found in new text.
fired() {		# FILE
	local name
	{
		printf 'set confirm off\nset startup-with-shell off\nset debuginfod enabled off\n'
		for name in step third third_again turn last; do
			printf 'break -probe-stap morph:%s\ncommands\nsilent\nprintf "%s %%d\\n", $_probe_arg0\ncontinue\nend\n' $name $name
		done
		echo run
	} >"$T/probes.gdb"
	gdb -nx -batch -x "$T/probes.gdb" "$1" 2>&1 | grep -E '^[a-z_]+ -?[0-9]+$'
}

probes() {		# NAME COMPILER FLAGS...
	local name=$1 file=$T/bin/probes seed before
	shift
	"$@" -o "$file" tests/programs/probes.c 2>"$T/cc.err" || { skip "probes, $name" "$(head -n 1 "$T/cc.err")"; return; }
	record_run "$T/before" "$file"
	before=$(fired "$file")
	[ "$(echo "$before" | wc -l)" -ge 20 ] || { skip "probes, $name" "gdb does not stop at them"; return; }
	for seed in $orders; do
		move_all "$file" "$T/generation" "$seed" || continue
		check "probes, $name: a note for each image" [ "$(readelf -nW "$T/generation" | grep -c 'Provider: morph')" = 10 ]
		record_run "$T/after" "$T/generation"
		same_run "probes, $name seed $seed" "$T/before" "$T/after"
		[ "$before" = "$(fired "$T/generation")" ] && ok "probes, $name seed $seed: fire as before" || not_ok "probes, $name seed $seed: fire otherwise"
		[ "$seed" = 1 ] || continue
		strip "$T/generation" && [ "$before" = "$(fired "$T/generation")" ] && ok "probes, $name: after strip, too" || not_ok "probes, $name: after strip"
	done
}

stay() {		# NAME FILE COUNT: functions that stay because of a probe
	local n
	n=$("$edit" analyze --json "$2" | sed -n 's/.*"a static probe point that cannot follow", "functions": \([0-9]*\).*/\1/p')
	[ "${n:-0}" = "$3" ] && ok "$1" || not_ok "$1: ${n:-0}, not $3"
}

made pie g++ -O2
made fixed g++ -O2 -no-pie -fno-pie
made fixed-exporting g++ -O2 -no-pie -fno-pie -rdynamic	# tables of dynamic symbols that move
made static g++ -O2 -static
made static-pie g++ -O2 -static-pie
made bind-now g++ -O2 -Wl,-z,now,-z,relro
made relr g++ -O2 -Wl,-z,pack-relative-relocs
made one-segment g++ -O2 -Wl,-z,noseparate-code
made one-segment-static g++ -O2 -static -Wl,-z,noseparate-code
made large-pages g++ -O2 -Wl,-z,max-page-size=0x200000,-z,separate-code
made large-pages-static g++ -O2 -static -Wl,-z,max-page-size=0x200000
made cet g++ -O2 -fcf-protection=full
check "cet: what begins with endbr64 does so in new text" keeps_marks "$T/bin/cet" "$T/generation"
made gold g++ -O2 -fuse-ld=gold
made gold-static g++ -O2 -static -fuse-ld=gold	# .plt has an FDE with an expression
made sysv-hash g++ -O2 -Wl,--hash-style=sysv
made no-build-id g++ -O2 -Wl,--build-id=none
made clang clang++ -O2
made lld clang++ -O2 -fuse-ld=lld
made lld-fixed clang++ -O2 -no-pie -fuse-ld=lld
made lld-static clang++ -O2 -static -fuse-ld=lld
# lld does not tell the loader that it must know them; a static program needs no loader.
made lld-relr clang++ -O2 -static-pie -fuse-ld=lld -Wl,--pack-dyn-relocs=relr

MIN_MOVED=50			# of two functions and start-up code
if command -v gdb >/dev/null; then
	probes pie cc -O2
	probes fixed cc -O2 -no-pie -fno-pie
	probes static cc -O2 -static
	probes clang clang -O2
	probes slow cc -O0
else
	skip "probes" "no gdb"
fi
MIN_MOVED=70
cc -O2 -DPROBE_STAY -o "$T/bin/probes" tests/programs/probes.c &&
	stay "functions with probes that cannot follow stay" "$T/bin/probes" 2

real /usr/bin/sort
real "$(realpath /usr/bin/python3)"
a_library libz.so.1 zlibVersion
a_library libsqlite3.so.0 'sqlite3_libversion sqlite3_sourceid'
a_library libcrypto.so.3 OpenSSL_version

# Addends to symbols of other files are no addresses of this one, be they as small as its headers.
{
	echo 'extern char big[4096]; int f(int *x) { return x[0] * x[1] + x[2]; } char *p[] = {'
	for at in $(seq 256 8 1024); do echo "big + $at,"; done
	echo '};'
} >"$T/addends.c"
cc -O2 -shared -fPIC -o "$T/bin/addends.so" "$T/addends.c"
MIN_MOVED=1			# what the compiler adds is too short
move_all "$T/bin/addends.so" "$T/generation" 1

printf 'int f(int x) { return x * 3; } int (*p)(int) = f; int main(int c, char **v) { return p(c) == 4; }\n' >"$T/small.c"
cc -O2 -o "$T/bin/small" "$T/small.c"
if command -v llvm-strip-14 llvm-strip >/dev/null; then
	s=$(command -v llvm-strip-14 llvm-strip | head -n 1)
	"$s" --strip-sections "$T/bin/small" -o "$T/bin/bare" && refused "no section headers" "$T/bin/bare" 'no section headers'
else
	skip "no section headers" "no llvm-strip"
fi
cc -O2 -fno-pic -mcmodel=large -shared -Wl,-z,notext -o "$T/bin/textrel.so" "$T/small.c" &&
	refused "text relocations" "$T/bin/textrel.so" 'relocated when loaded'
done_testing
