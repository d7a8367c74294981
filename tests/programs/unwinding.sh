#!/bin/bash
# unwinding.sh - programs that unwind in every way, with their functions moved
#
# Each source of unwinding/ is built by several compilers in several ways.  It checks itself and
# prints what happened; original and generations (all functions in their order, all in orders made
# from seeds, every other function) must print the same bytes.  Program counters that it prints as
# `@ADDRESS` are taken back to the original's by the block map before that.
#
# UNWINDING=full builds everything in every way (make torture); without it a selection.
. tests/moving.sh

src=$(realpath tests/programs/unwinding)
morph_edit=$edit morph_verify=$verify
gdc=$(command -v gdc gdc-14 gdc-12 | head -n 1)
gdc=${gdc:-gdc}
SEEDS=${UNWINDING_SEEDS:-$([ "${UNWINDING:-}" = full ] && echo 1 2 3 || echo 1)}

# START and END of every FDE, and 1 if it has an LSDA.
fdes() {		# FILE
	readelf --debug-dump=frames "$1" 2>/dev/null | awk '
	function flush() { if (start != "") print start, end, lsda; start = "" }
	/ CIE$/ { flush(); cie = $1 }
	/^  Augmentation: / { has_lsda[cie] = $0 ~ /L/ }
	/ FDE cie=/ {
		flush()
		of = substr($5, 5); lsda = 0
		start = substr($6, 4); end = substr(start, 19); start = substr(start, 1, 16)
	}
	/^  Augmentation data:/ && start != "" {
		sub(/^[^:]*:/, ""); gsub(/[ 0]/, "")
		lsda = has_lsda[of] && length($0) > 0
	}
	END { flush() }'
}

# A profile of every other function, beginning with the first or second: the rest stays.
half_profile() {	# FILE FIRST
	echo "morph-profile 2"
	echo "module $1"
	echo "sha256 $(sha256sum "$1" | cut -d ' ' -f 1)"
	printf 'clock exact\noutside 0.000\n'
	awk -v first="$2" 'NR == FNR { fde[$1]; next }
		$1 in fde && $3 !~ /\.cold/ && !seen[$1]++ && n++ % 2 == first {
			sub(/^0+/, "", $1); print "block 0x" $1 " 100.000" }' \
		<(fdes "$1") <(nm -n "$1" | grep -i ' t ')
}

# Addresses of new text in the output become the original's.
translate() {		# GENERATION PREFIX
	local list
	list=$(grep -o '@0x[0-9a-f]*' "$2.out" | tr -d @ | sort -u)
	[ -n "$list" ] || return 0
	# shellcheck disable=SC2086	# a list of addresses
	"$morph_edit" map "$1" $list | awk 'NR > 1 && $1 != $2 { print "s/@" $1 "\\>/@" $2 "/g" }' >"$2.sed"
	sed -i -f "$2.sed" "$2.out"
}

generation() {		# NAME FILE OUT OPTIONS...
	local name=$1 file=$2 out=$3 text
	shift 3
	rm -f "$out"
	if ! text=$("$morph_edit" optimize "$file" -o "$out" --stats "$T/stats" "$@" 2>&1); then
		not_ok "$name: optimize"
		note "$text"
		return 1
	fi
	if ! text=$("$morph_verify" "$file" "$out" 2>&1); then
		not_ok "$name: verify"
		note "$text"
	fi
	[ "$(stat_of functions_moved)" -gt 0 ] || not_ok "$name: nothing moved"
}

# Runs the generation under the original's name.
compare() {		# NAME GENERATION PLACE COMMAND...
	local name=$1 gen=$2 place=$3
	shift 3
	cp "$gen" "$place.new" && mv -f "$place.new" "$place"
	record_run "$T/after" timeout 60 "$@"
	translate "$gen" "$T/after"
	same_run "$name" "$T/before" "$T/after"
}

# Functions with exception tables, their cold parts included, are in new text: 9 of 10 at least.
tables_moved() {	# NAME FILE GENERATION
	local list all moved
	list=$(fdes "$2" | awk '$3 { print "0x" $1 }')
	[ -n "$list" ] || return 0
	all=$(echo "$list" | wc -l)
	# shellcheck disable=SC2086	# a list of addresses
	moved=$("$morph_edit" map "$3" --reverse $list | awk 'NR > 1 && $0 !~ /not moved/' | wc -l)
	[ $((moved * 10)) -ge $((all * 9)) ] && ok "$1: $moved of $all exception tables moved" ||
		not_ok "$1: $moved of $all exception tables moved"
}

# All generations of FILE, which stands at PLACE where COMMAND finds it.
generations() {		# NAME FILE PLACE COMMAND...
	local name=$1 file=$2 place=$3 seed
	shift 3
	record_run "$T/before" timeout 60 "$@"
	if [ "$(cat "$T/before.rc")" != 0 ]; then
		not_ok "$name: the original"
		note "$(grep -a -A 1 -e BAD "$T/before.out"; cat "$T/before.err")"
		return
	fi
	generation "$name, in order" "$file" "$T/gen" --all --passes=align,fluff,layout,calls &&
		compare "$name, in order" "$T/gen" "$place" "$@" &&
		tables_moved "$name" "$file" "$T/gen"
	for seed in $SEEDS; do
		generation "$name, seed $seed" "$file" "$T/gen" --all --shuffle="$seed" &&
			compare "$name, seed $seed" "$T/gen" "$place" "$@"
		half_profile "$file" $((seed % 2)) >"$T/profile"
		generation "$name, half" "$file" "$T/gen" --profile "$T/profile" --shuffle="$seed" &&
			compare "$name, half" "$T/gen" "$place" "$@"
	done
}

build() {		# OUT COMPILER SOURCE FLAGS...
	local out=$1 compiler=$2 source=$3 text
	shift 3
	case "$source" in
	specification.cc) set -- -std=gnu++14 -Wno-deprecated "$@" ;;
	# clang before 15 has them, and does not say so.
	coroutines.cc) set -- -std=gnu++20 -U__cpp_impl_coroutine -D__cpp_impl_coroutine=201902L "$@" ;;
	*.cc) set -- -std=gnu++17 "$@" ;;
	esac
	case "$source $compiler" in
	signals.cc*g++*) set -- -fnon-call-exceptions "$@" ;;
	esac
	# what has been built in this way is there
	local key="$compiler $source $* $libs"
	[ -z "${built[$key]:-}" ] || { cp "${built[$key]}" "$out"; return; }
	# shellcheck disable=SC2086	# a list of flags
	if text=$("$compiler" -w -pthread "$src/$source" "$@" -o "$out" $libs 2>&1); then
		[ "${UNWINDING:-}" != full ] || return 0	# too many to keep
		built[$key]=$T/built/${#built[@]}
		cp "$out" "${built[$key]}"
		return
	fi
	note "$text"
	return 1
}
declare -A built runtime_flags
mkdir "$T/built"

# One way to build one source.
try() {			# COMPILER SOURCE FLAGS...
	local name="$*" libs=
	if ! command -v "$1" >/dev/null; then
		skip "$name" "no $1"
		return
	fi
	if [[ "$*" = *lld* ]] && ! command -v ld.lld >/dev/null; then
		skip "$name" "no ld.lld"
		return
	fi
	case "$*" in
	*-static*trace.cc* | *trace.cc*-static*) ;;
	*trace.cc*) [ -n "$libunwind" ] && libs="-DHAVE_LIBUNWIND -lunwind" ;;
	esac
	if ! build "$T/bin/program" "$@"; then
		not_ok "$name: compile"
		return
	fi
	cp "$T/bin/program" "$T/original"
	generations "$name" "$T/original" "$T/bin/program" "$T/bin/program"
}

# throw.cc as a library: it moves, then the program that uses it, then both.
try_library() {		# COMPILER FLAGS...
	local name="library $*" libs=
	if ! command -v "$1" >/dev/null; then
		skip "$name" "no $1"
		return
	fi
	if ! build "$T/lib/libthrow.so" "$1" throw.cc "${@:2}" -fPIC -shared -Dmain=library_main ||
		! build "$T/bin/uses" "$1" uses.cc "${@:2}" -L"$T/lib" -lthrow -Wl,-rpath,"$T/lib"; then
		not_ok "$name: compile"
		return
	fi
	cp "$T/lib/libthrow.so" "$T/original"
	generations "$name" "$T/original" "$T/lib/libthrow.so" "$T/bin/uses"
	cp "$T/bin/uses" "$T/original"
	generations "$name, and its program" "$T/original" "$T/bin/uses" "$T/bin/uses"
}

# The unwinder itself and the C++ library, moved, under programs that stay, of any flags.
try_runtime() {		# SOURCE...
	local libs= soname file source seed way
	for source in "$@"; do
		# shellcheck disable=SC2086	# a list of flags
		build "$T/bin/${source%.*}" g++ "$source" ${runtime_flags[$source]:--O2} || { not_ok "$source: compile"; return; }
		record_run "$T/before.${source%.*}" timeout 60 "$T/bin/${source%.*}"
	done
	for soname in libgcc_s.so.1 libstdc++.so.6; do
		file=$(library $soname)
		[ -n "$file" ] || { skip "$soname" "this machine has none"; continue; }
		for seed in order $SEEDS; do
			way=--shuffle=$seed
			[ "$seed" = order ] && way=
			# shellcheck disable=SC2086	# no option at all
			generation "$soname, seed $seed" "$file" "$T/lib/$soname" --all $way || continue
			for source in "$@"; do
				record_run "$T/after" env LD_LIBRARY_PATH="$T/lib" timeout 60 "$T/bin/${source%.*}"
				same_run "$soname, seed $seed, under $source" "$T/before.${source%.*}" "$T/after"
			done
		done
	done
	rm -f "$T"/lib/lib*
}

# A personality routine that reads few forms of tables: what it serves stays, and says so; but Rust's (whatever has
# that name here), of which it is known what it reads.
stays() { "$morph_edit" analyze "$1" 2>&1 | grep -q 'personality routine may not take'; }
moves() { ! stays "$1"; }
try_narrow() {		# FLAGS..., and $routine
	local to=${routine:-narrow_personality} what=stays from=
	[ "$to" != rust_eh_personality ] || what=moves from=-DFROM_START
	local name="narrow.cc $to $*" how
	if ! g++ -w "$src/narrow.cc" -DTHROWS -c "$@" -o "$T/throws.o" ||
			! objcopy --redefine-sym __gxx_personality_v0="$to" "$T/throws.o" ||
			! g++ -w "$src/narrow.cc" -DROUTINE="$to" $from "$T/throws.o" "$@" -o "$T/bin/program"; then
		not_ok "$name: compile"
		return
	fi
	record_run "$T/before" timeout 60 "$T/bin/program"
	for how in "" --strip-unneeded; do
		[ -z "$how" ] || strip "$how" "$T/bin/program"
		cp "$T/bin/program" "$T/original"
		check "$name $how: what its personality routine serves $what" $what "$T/original"
		for seed in 1 2 3; do
			generation "$name $how, seed $seed" "$T/original" "$T/gen" --all --shuffle="$seed" &&
				compare "$name $how, seed $seed" "$T/gen" "$T/bin/program" "$T/bin/program"
		done
		cp "$T/original" "$T/bin/program"
	done
}

# D: its routines know a function by the address of its table (GDC), or read few forms (LDC).
try_d() {		# COMPILER FLAGS...
	local name="$1 chained.d ${*:2}" how text
	if ! command -v "$1" >/dev/null; then
		skip "$name" "no $1"
		return
	fi
	if ! text=$("$1" "$src/chained.d" "${@:2}" 2>&1); then
		not_ok "$name: compile"
		note "$text"
		return
	fi
	record_run "$T/before" timeout 60 "$T/bin/program"
	grep -q 'here mine: chained.Mine deep object.Exception second' "$T/before.out" ||
		not_ok "$name: the original"
	for how in "" --strip-unneeded; do
		[ -z "$how" ] || strip "$how" "$T/bin/program"
		cp "$T/bin/program" "$T/original"
		for seed in 1 2 3 4; do
			generation "$name $how, seed $seed" "$T/original" "$T/gen" --all --shuffle="$seed" &&
				compare "$name $how, seed $seed" "$T/gen" "$T/bin/program" "$T/bin/program"
		done
		cp "$T/original" "$T/bin/program"
	done
}

# The stack at every single instruction, seen from outside by libunwind.
try_steps() {		# COMPILER SOURCE FLAGS...
	local name="every instruction of $*" libs= text lib=${B:-build} sanitize=
	nm "$lib/lib.a" 2>/dev/null | grep -q __asan_init && sanitize=-fsanitize=address,undefined
	if [ -z "$libunwind" ] || ! command -v "$1" >/dev/null; then
		skip "$name" "no libunwind or no $1"
		return
	fi
	if [ ! -x "$T/steps" ] && ! text=$(cc -std=gnu17 -D_GNU_SOURCE -O2 $sanitize -I. "$src/steps.c" "$lib/postmorph.a" \
		"$lib/binary.a" "$lib/lib.a" -o "$T/steps" -lunwind-ptrace -lunwind-x86_64 -lunwind -lZydis -lelf -lnettle 2>&1); then
		not_ok "$name: compile steps.c"
		note "$text"
		return
	fi
	build "$T/bin/a" "$@" -Wl,-z,now || { not_ok "$name: compile"; return; }
	generation "$name" "$T/bin/a" "$T/bin/b" --all --shuffle=1 || return
	chmod +x "$T/bin/b"
	if text=$(timeout 300 "$T/steps" "$T/bin/a" "$T/bin/b" 2>&1); then
		ok "$name: the same stacks"
		note "$text"
	else
		not_ok "$name: other stacks"
		note "$text"
	fi
}

has_libunwind() {
	echo 'int main(void) { unw_context_t c; return unw_getcontext(&c); }' |
		cc -DUNW_LOCAL_ONLY -include libunwind.h -x c - -o "$T/probe" -lunwind 2>/dev/null && echo yes
}
libunwind=$(has_libunwind)
[ -n "$libunwind" ] || skip "libunwind" "libunwind-dev is not installed"

fixed="-no-pie -fno-pie -fno-pic"
all="throw.cc objects.cc specification.cc terminate.cc threads.cc frames.cc trace.cc signals.cc coroutines.cc"
if [ "${UNWINDING:-}" = full ]; then
	for compiler in g++ g++-11 clang++ clang++-16 clang++-19; do
		for source in $all; do
			for how in "-fPIE -pie" "$fixed" "-static $fixed" "-static-pie -fPIE" \
				"-ffunction-sections -Wl,--gc-sections" "-flto" "-fuse-ld=lld -Wl,--icf=all -ffunction-sections" \
				"-fstack-protector-all -fcf-protection=full" "-fno-omit-frame-pointer" "-mcmodel=large $fixed"; do
				case "$how $compiler $source" in
				*-flto*clang*) continue ;;
				*-static-pie*) [ -e /usr/lib/x86_64-linux-gnu/rcrt1.o ] || continue ;;
				esac
				for level in -O0 -O1 -O2 -O3 -Os; do
					# shellcheck disable=SC2086	# lists of flags
					try "$compiler" "$source" $level $how
				done
			done
		done
		for level in -O0 -O2 -Os; do
			try_library "$compiler" $level
		done
	done
	for source in $all; do
		for level in -O1 -O2 -Os; do
			try g++ "$source" $level -mno-accumulate-outgoing-args -mpreferred-stack-boundary=4
			try g++ "$source" $level -fno-reorder-blocks-and-partition -fno-asynchronous-unwind-tables
		done
	done
	for compiler in gcc gcc-11 clang clang-16 clang-19; do
		for level in -O0 -O1 -O2 -O3 -Os; do
			for how in "-fPIE -pie" "$fixed" "-static $fixed" "-fstack-protector-all -fcf-protection=full"; do
				# shellcheck disable=SC2086	# lists of flags
				{
					try "$compiler" cancel.c -fexceptions $level $how
					try "$compiler" cancel.c $level $how
					try "$compiler" features.c $level $how
				}
			done
		done
	done
	for level in -O0 -O1 -O2 -Os; do
		try_narrow $level -rdynamic
		routine=rust_eh_personality try_narrow $level -rdynamic
		routine=rust_eh_personality try_narrow $level
		# shellcheck disable=SC2086	# a list of flags
		try_narrow $level -rdynamic $fixed
		for how in "-fPIE -pie" "-static-libphobos" "$fixed" "-static-libphobos $fixed"; do
			# shellcheck disable=SC2086	# a list of flags
			try_d "$gdc" $level $how -o "$T/bin/program"
		done
	done
	try_d ldc2 -O0 -od="$T" -of="$T/bin/program"
	try_d ldc2 -O2 -od="$T" -of="$T/bin/program"
	try_d ldc2 -O2 -link-defaultlib-shared=false -L--no-as-needed -L-l:libz.so.1 -od="$T" -of="$T/bin/program"
	try_runtime throw.cc objects.cc threads.cc terminate.cc frames.cc signals.cc coroutines.cc
	for level in -O0 -O1 -O2 -Os; do
		try_steps gcc features.c $level
		try_steps clang features.c $level
		try_steps g++ frames.cc $level -mno-accumulate-outgoing-args
		try_steps clang++ frames.cc $level
	done
	done_testing
fi

try_steps gcc features.c -O2
try_steps clang features.c -O1 $fixed

# Every source by both compilers, every way to build at least once.
# What is built in these ways is there when the runtime's turn comes.
runtime_flags=([objects.cc]="-O0 $fixed" [terminate.cc]="-O2 -fcf-protection=full" [threads.cc]="-O2 -flto"
	[frames.cc]="-Os -mno-accumulate-outgoing-args -fstack-protector-all")
try g++ throw.cc -O2
try clang++ throw.cc -O0 $fixed
try g++ objects.cc -O0 $fixed
try clang++ objects.cc -O2 -ffunction-sections -fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all
try g++ specification.cc -O2 $fixed
try clang++ specification.cc -O2
try g++ terminate.cc -O2 -fcf-protection=full
try clang++ terminate.cc -O1 $fixed
try g++ threads.cc -O2 -flto
try clang++ threads.cc -O2
try g++ frames.cc -Os -mno-accumulate-outgoing-args -fstack-protector-all
try clang++ frames.cc -O2 -fstack-protector-all
try g++ trace.cc -O2
try clang++ trace.cc -O0 $fixed
try g++ signals.cc -O2 $fixed
try clang++ signals.cc -O2
try g++ coroutines.cc -O2
try clang++ coroutines.cc -O1
try gcc cancel.c -O2 -fexceptions
try clang cancel.c -O0
try gcc features.c -O2 -fstack-protector-all
try clang features.c -O2 $fixed
try g++ throw.cc -O2 -static $fixed
try_library g++ -O2
try_narrow -O2 -rdynamic
routine=rust_eh_personality try_narrow -O2 -rdynamic
routine=rust_eh_personality try_narrow -O2		# stripped, it has no name
# shellcheck disable=SC2086	# a list of flags
try_narrow -O1 -rdynamic $fixed
try_d "$gdc" -O2 -o "$T/bin/program"
try_d "$gdc" -O0 -static-libphobos -o "$T/bin/program"
# shellcheck disable=SC2086	# a list of flags
try_d "$gdc" -O2 $fixed -o "$T/bin/program"
try_d ldc2 -O2 -od="$T" -of="$T/bin/program"
try_d ldc2 -O2 -link-defaultlib-shared=false -L--no-as-needed -L-l:libz.so.1 -od="$T" -of="$T/bin/program"
try_runtime throw.cc objects.cc threads.cc terminate.cc frames.cc
done_testing
