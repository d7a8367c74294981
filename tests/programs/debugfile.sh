#!/bin/bash
# debugfile.sh - the debug files of generations, by the tools that people use
#
# Programs with debug information of several kinds are moved, and the generation gets its debug file.
# What a tool says of an instruction's image must be what it says of the instruction, and a debugger
# must stop at each line as often as in the original.  DEBUGFILE=full takes more seeds, and levels.
MIN_MOVED=50			# small programs have few functions
. tests/moving.sh

code=tests/programs/debugfile
gdb_quiet=(-nx -batch -ex 'set confirm off' -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off'
	-ex 'set breakpoint pending on' -ex 'set width 0' -iex 'set auto-solib-add off')	# its own symbols will do

# A program in folder NAME, its generation and the generation's debug file.
build() {		# NAME COMPILER FLAGS... SOURCE
	local at=$T/$1
	shift
	mkdir -p "$at"
	"$@" -I. -o "$at/prog" 2>"$T/cc.err"
}
make_debug() {		# NAME SEED [DEBUG-OPTIONS...]
	local at=$T/$1 out
	move_all "$at/prog" "$at/gen" "$2" || return 1
	shift 2
	out=$("$edit" debugfile "$at/prog" "$at/gen" -o "$at/gen.debug" "$@" 2>&1) || { not_ok "debugfile: $out"; return 1; }
}

# Addresses on stdin -> one line for each: functions and lines, inlined ones too.  Parts of functions
# have .cold in their names, and which of a constructor's two names is taken depends on the symbols.
lines_of() {		# FILE TOOL...
	local file=$1
	shift
	"$@" -e "$file" | awk '/^0x/ { if (n++) print l; l = ""; next } { sub(/\.cold( |$)/, " "); gsub(/[CD][12]E/, "XE"); gsub(/[CD][12]I/, "XI"); l = l "|" $0 } END { print l }' |
		sed 's/ *|/|/g; s/ *$//; s/ (discriminator [0-9]*)//g'
}

# morph-edit map over any number of addresses; second column.
mapped() {		# GENERATION [--reverse]
	xargs -n 2000 "$edit" map "$@" | awk '$1 ~ /^0x/ { print $2 }'
}

# Every instruction of new text of which the block map says to which original it belongs exactly.
every_instruction() {	# NAME ORIGINAL'S-DEBUG TOOL...
	local at=$T/$1 name=$1 debug=$2 n
	shift 2
	command -v "$1" >/dev/null || { skip "$name: $1" "no $1"; return; }
	objdump -d -j .morph.text -j .morph.fluff --no-show-raw-insn "$at/gen" 2>/dev/null | sed -n 's/^ *\([0-9a-f]*\):\t.*/0x\1/p' >"$T/images"
	mapped "$at/gen" <"$T/images" >"$T/originals"
	mapped "$at/gen" --reverse <"$T/originals" | paste -d' ' "$T/images" "$T/originals" - | awk '$1 == $3 { print $1, $2 }' >"$T/pairs"
	cut -d' ' -f1 "$T/pairs" | lines_of "$at/gen.debug" "$@" >"$T/have"
	cut -d' ' -f2 "$T/pairs" | lines_of "$debug" "$@" >"$T/want"
	# what has no debug information is not asked for
	paste -d' ' "$T/pairs" "$T/want" "$T/have" | awk '{ split($0, p, " "); if ($3 ~ /\|[^|]*:[1-9][0-9]*$/) { n++; if ($3 != $4) print } } END { print n + 0, "instructions" }' >"$T/differ"
	n=$(sed -n '$s/ .*//p' "$T/differ")
	[ "$(wc -l <"$T/differ")" = 1 ] && [ "$n" -ge 80 ] && ok "$name: $1 says the same of $n instructions" ||
		{ not_ok "$name: $1 says otherwise of $(($(wc -l <"$T/differ") - 1)) of $n instructions"; note "$(head -n 4 "$T/differ" | cut -c 1-400)"; }
}

# Ranges of addresses in which a variable has a place.
places_of() {		# FILE
	readelf -wo "$1" 2>/dev/null | sed -n 's/.* \([0-9a-f]\{16\} [0-9a-f]\{16\}\) (DW_OP.*/\1/p' | sort -u
}
# The original's code is still there, and runs where nothing has moved.
places_stay() {		# ORIGINAL DEBUG-FILE
	places_of "$1" >"$T/places.was"
	places_of "$2" >"$T/places.now"
	comm -23 "$T/places.was" "$T/places.now" | sed 's/^/lost: /' | grep . && return 1
	[ "$(wc -l <"$T/places.was")" -ge 20 ] && [ "$(wc -l <"$T/places.now")" -gt "$(wc -l <"$T/places.was")" ]
}

# Hits of a breakpoint at each of the lines, and whether gdb finds it exactly.
hits() {		# SOURCE LINES FILE [gdb options]
	local src=$1 lines=$2 i
	shift 2
	for i in $lines; do
		printf 'break %s:%d\nignore $bpnum 1000000\n' "${src##*/}" "$i"
	done >"$T/hits.gdb"
	printf 'run\ninfo break\n' >>"$T/hits.gdb"
	gdb "${gdb_quiet[@]}" -x "$T/hits.gdb" "$@" >"$T/gdb.hits" 2>&1
	grep -q 'exited normally' "$T/gdb.hits" || echo "does not end: $(tail -n 1 "$T/gdb.hits")"
	awk -v lines="${lines//$'\n'/ }" 'BEGIN { count = split(lines, line) }
		/^[0-9]+ +breakpoint/ { n = $1; at[n] = $0 } /^[0-9]+\.[0-9]/ { at[n] = at[n] " " $0 } /already hit/ { hit[n] = $4 }
		END { for (n = 1; n <= count; n++) if (n in hit) { k = split(at[n], w, /\.cc?:/); exact = 1; for (i = 2; i <= k; i++) if (w[i] + 0 != line[n]) exact = 0; print line[n], hit[n], exact } }' "$T/gdb.hits"
}

# In the original gdb takes what stands below a function's entry for its prologue, as it does of parts
# that gcc has split off: lines that it does not stop at exactly are left out.  MORE lines may be hit
# more often, never less: those of which the original has places in nested blocks.
same_hits() {		# NAME SOURCE MORE FILE...: original's file; then gdb's options for the generation
	local name=$1 src=$2 more=$3 orig=$4
	shift 4
	command -v gdb >/dev/null || { skip "$name: gdb" "no gdb"; return; }
	[ -e "$orig.hits" ] || hits "$src" "$(seq "$(wc -l <"$src")")" "$orig" >"$orig.hits"	# the same for all generations
	hits "$src" "$(awk '$3 == 1 { print $1 }' "$orig.hits")" "$@" >"$T/hits.have"
	awk -v more="$more" 'NR == FNR { if ($3 == 1) want[$1] = $2; else if (NF != 3) print; next }
		NF != 3 { print; next } { have[$1] = $2 }
		END { for (l in want) { n++; if (have[l] + 0 < want[l]) print "line " l ": " want[l] " hits, then " have[l] + 0; if (have[l] > want[l] && ++over > more) print "line " l ": " want[l] " hits, then " have[l] } print n + 0, "lines" }' \
		"$orig.hits" "$T/hits.have" >"$T/hits.differ"
	n=$(sed -n '$s/ .*//p' "$T/hits.differ")
	[ "$(wc -l <"$T/hits.differ")" = 1 ] && [ "$n" -ge 18 ] && ok "$name: gdb stops as often at $n lines" ||
		{ not_ok "$name: gdb stops otherwise"; note "$(head -n 10 "$T/hits.differ")"; }
}

# By function and by condition on an argument, the stack with its lines, variables, in callers too, by
# what these left for arguments.  A breakpoint has a place in the original as well.
session() {		# FILE [gdb options]
	gdb "${gdb_quiet[@]}" -ex 'tbreak work if n == 27' -ex run -ex bt -ex 'p *p' -ex 'p n' -ex 'info locals' -ex 'info args' \
		-ex "tbreak lines.c:$bottom" -ex c -ex 'bt full' -ex 'up' -ex 'p depth' -ex 'tbreak lines.c:'"$cold" -ex 'run again' \
		-ex bt -ex 'p sum' -ex 'p total' -ex 'info line deep' -ex c "$@" 2>&1 |
		sed -z 's/warning: (Internal error: pc [^\n]*\n//g' |	# of originals, of DWARF 2
		sed -e 's/0x[0-9a-f]*/ADDRESS/g; s/ <[a-z.+0-9]*>//g; s/process [0-9]*//; s/ [a-z0-9A-Z]*@entry=[^,)]*,*//g; s/, *)/)/g; s/breakpoint \([0-9]*\)\.[0-9]*/breakpoint \1/' |
		grep -v -e '^\[Thread\|^Using host\|No such file' -e '^$' -e '^Line .* ends at' -e '^Temporary breakpoint [0-9]* at'
}
bottom=$(sed -n '/line: bottom/=' $code/lines.c)
cold=$(sed -n '/sum++;/=' $code/lines.c)
without_entries='s/n=n@entry=/n=/; s/deep (depth=[^)]*)/deep (...)/'	# what is lost where calls name nothing
same_session() {	# NAME ORIGINAL GDB-OPTIONS...; leaves out what the commands of sed in $lost make of it
	local name=$1 orig=$2
	shift 2
	command -v gdb >/dev/null || { skip "$name: a session with gdb" "no gdb"; return; }
	session "$orig" | sed "${lost:-}" >"$T/session.want"
	session "$@" | sed "${lost:-}" >"$T/session.have"
	check "$name: gdb's session with the original has stops" [ "$(grep -c -e '^#[0-9]* .*lines.c:' -e 'y = 5' "$T/session.want")" -ge 5 ]
	diff "$T/session.want" "$T/session.have" >"$T/session.diff" && ok "$name: gdb's session is the same" ||
		{ not_ok "$name: gdb's session differs"; note "$(head -n 20 "$T/session.diff")"; }
}

# A generation in which control never goes on in the original, which has no variables.
whole() {		# NAME [DEBUG-OPTIONS...]
	local at=$T/$1
	shift
	rm -f "$at/gen"
	check "a generation by the passes" "$edit" optimize "$at/prog" --all --passes=-leave -o "$at/gen" && chmod +x "$at/gen"
	check "its debug file" "$edit" debugfile "$at/prog" "$at/gen" -o "$at/gen.debug" "$@"
}

in_c() {		# NAME COMPILER FLAGS...
	local name=$1 seed
	shift
	build "$name" "$@" $code/lines.c || { skip "$name" "$1 does not make it: $(head -n 1 "$T/cc.err")"; return; }
	for seed in $SEEDS; do
		make_debug "$name" "$seed" || continue
		every_instruction "$name" "$T/$name/prog" llvm-addr2line -a -i -f
		case $name in clang*) ;; *) every_instruction "$name" "$T/$name/prog" eu-addr2line -a -i -f ;; esac
		same_hits "$name seed $seed" $code/lines.c 0 "$T/$name/prog" -s "$T/$name/gen.debug" -e "$T/$name/gen"
	done
	whole "$name" && same_session "$name" "$T/$name/prog" -s "$T/$name/gen.debug" -e "$T/$name/gen"
}

in_cxx() {		# NAME COMPILER FLAGS...
	local name=$1
	shift
	build "$name" "$@" $code/lines.cc || { skip "$name" "$1 does not make it: $(head -n 1 "$T/cc.err")"; return; }
	make_debug "$name" 2 || return
	every_instruction "$name" "$T/$name/prog" llvm-addr2line -a -i -f
	same_hits "$name" $code/lines.cc 1 "$T/$name/prog" -s "$T/$name/gen.debug" -e "$T/$name/gen"
}

full=$([ "${DEBUGFILE:-}" = full ] && echo 1)
SEEDS=${full:+1 2 }3
in_c gcc-O2 gcc -O2 -g
SEEDS=2${full:+ 3}
in_c gcc-O0 gcc -O0 -g
in_c gcc-fixed gcc -O2 -g -no-pie -fno-pie
SEEDS=2
in_c gcc-dwarf4 gcc -O2 -g -gdwarf-4
in_c gcc-dwarf2 gcc -O2 -g -gdwarf-2 -gstrict-dwarf
in_c clang-O2 clang -O2 -g
in_cxx g++-O2 g++ -O2 -g
in_cxx g++-O0 g++ -O0 -g
in_cxx g++-lto g++ -O2 -g -flto
in_cxx g++-types g++ -O2 -g -gdwarf-4 -fdebug-types-section
in_cxx clang++-O2 clang++ -O2 -g
if [ "$full" ]; then
	in_c gcc-dwarf3 gcc -O1 -g -gdwarf-3 -gstrict-dwarf
	in_c gcc-zlib gcc -O2 -g -gz
	in_c clang-O0 clang -O0 -g
	in_c gcc-O3 gcc -O3 -g
	in_c gcc-macros gcc -O2 -g3
	in_c clang-O3 clang -O3 -g
	in_c clang-dwarf4 clang -O2 -g -gdwarf-4
	in_cxx g++-O3 g++ -O3 -g
	in_cxx clang++-O0 clang++ -O0 -g
fi

# --- a stripped program with a separate debug file, and where tools find that of the generation ---

at=$T/apart
mkdir -p "$at/debug" "$at/.debug"
gcc -O2 -g -o "$at/full" $code/lines.c
objcopy --only-keep-debug --compress-debug-sections "$at/full" "$at/prog.debug"
strip -o "$at/prog" "$at/full"
out=$("$edit" debugfile "$at/prog" "$at/prog" -o "$at/none" 2>&1) && not_ok "an original is taken for a generation" || ok "an original is no generation: $out"
if make_debug apart 3 --debug "$at/prog.debug"; then
	every_instruction apart "$at/prog.debug" llvm-addr2line -a -i -f
	id=$(readelf -n "$at/gen" 2>/dev/null | sed -n 's/.*Build ID: //p')
	check "the debug file has the generation's build-id" [ "$(readelf -n "$at/gen.debug" 2>/dev/null | sed -n 's/.*Build ID: //p')" = "$id" ]
	mkdir -p "$at/debug/.build-id/${id:0:2}"
	cp "$at/gen.debug" "$at/debug/.build-id/${id:0:2}/${id:2}.debug"
	same_hits "found by build-id" $code/lines.c 0 "$at/full" -iex "set debug-file-directory $at/debug" "$at/gen"
	whole apart --debug "$at/prog.debug"
	id=$(readelf -n "$at/gen" 2>/dev/null | sed -n 's/.*Build ID: //p')
	mkdir -p "$at/debug/.build-id/${id:0:2}"
	cp "$at/gen.debug" "$at/debug/.build-id/${id:0:2}/${id:2}.debug"
	same_session "found by build-id" "$at/full" -iex "set debug-file-directory $at/debug" "$at/gen"
	readelf -wi -wl "$at/gen.debug" >"$T/readelf" 2>"$T/readelf.err"
	check "readelf finds nothing wrong" [ ! -s "$T/readelf.err" ]
	check "variables have the places that they had, and more" places_stay "$at/full" "$at/gen.debug"
	nm "$at/gen.debug" 2>/dev/null | grep -q ' T work$' && nm "$at/gen.debug" | grep -q ' t work.cold$' && ok "symbols of a stripped program" || not_ok "symbols of a stripped program"
fi
out=$("$edit" debugfile "$at/prog" "$at/gen" -o "$at/none" 2>&1) && not_ok "a program without debug information" || ok "no debug information: $out"
out=$("$edit" debugfile "$at/prog" "$at/gen" --debug "$T/gcc-O0/prog" -o "$at/none" 2>&1)
[ $? = 3 ] && [[ $out == *build-id* ]] && ok "debug information of another program: $out" || not_ok "debug information of another program: $out"
out=$("$edit" debugfile "$T/gcc-O0/prog" "$at/gen" -o "$at/none" 2>&1)
[ $? = 3 ] && [[ $out == *"not one of this original"* ]] && ok "a generation of another program: $out" || not_ok "a generation of another program: $out"

# Two files share what dwz put into a third one.
if command -v dwz >/dev/null; then
	cp "$at/prog.debug" "$at/one.debug" && objcopy --decompress-debug-sections "$at/one.debug"
	objcopy --only-keep-debug "$T/gcc-O0/prog" "$at/two.debug"
	if dwz -q -m "$at/shared.debug" "$at/one.debug" "$at/two.debug" 2>"$T/dwz.err" && readelf -SW "$at/one.debug" 2>/dev/null | grep -q altlink; then
		make_debug apart 1 --debug "$at/one.debug" && every_instruction apart "$at/one.debug" llvm-addr2line -a
		whole apart --debug "$at/one.debug"
		lost=$without_entries same_session "after dwz" "$at/full" -s "$at/gen.debug" -e "$at/gen"
	else
		skip "dwz" "nothing shared: $(head -n 1 "$T/dwz.err")"
	fi
else
	skip "dwz" "no dwz"
fi

# What is not read is refused by its reason.
refused() {		# NAME REASON COMPILER FLAGS...
	local name=$1 reason=$2
	shift 2
	build refused "$@" $code/lines.c || { skip "$name" "$1 does not make it"; return; }
	"$edit" optimize "$T/refused/prog" --all -o "$T/refused/gen" 2>/dev/null
	out=$("$edit" debugfile "$T/refused/prog" "$T/refused/gen" -o "$T/refused/none" 2>&1)
	[ $? = 3 ] && [[ $out == *"$reason"* ]] && [ ! -e "$T/refused/none" ] && ok "$name: $out" || not_ok "$name: $out"
}
(cd "$T" && clang -I"$OLDPWD" -O2 -g -gsplit-dwarf -c "$OLDPWD/$code/lines.c" -o split.o && mkdir -p split && clang -g -gsplit-dwarf split.o -o split/prog) 2>"$T/cc.err" &&
	"$edit" optimize "$T/split/prog" --all -o "$T/split/gen" && { out=$("$edit" debugfile "$T/split/prog" "$T/split/gen" -o "$T/split/none" 2>&1)
	[ $? = 3 ] && [[ $out == *gsplit-dwarf* ]] && ok "split debug information: $out" || not_ok "split debug information: $out"; }
refused "the 64-bit form" "64-bit form" gcc -O2 -g -gdwarf64

# --- perf probe: by function, by line, with arguments and variables ---

# perf mounts tracefs where it is not, and leaves it there.
alone() { if [ "$(id -u)" = 0 ]; then unshare --mount "$@"; else "$@"; fi; }
probe() {		# FILE WHAT: the events' addresses and variables, without those of originals
	HOME=$T alone perf --buildid-dir "$T/perf" probe -q -x "$1" -D "$2" 2>"$T/perf.err" | sed 's/.*:0x\([0-9a-f]*\)/0x\1/'
}
# How often the places that `perf probe WHAT` finds are met, by the kernel's count.
uprobe_hits() {		# FILE WHAT
	local group=morph_$$
	HOME=$T alone perf --buildid-dir "$T/perf" probe -q -x "$1" -D "$2" 2>/dev/null | sed "s/^p:[^/]*/p:$group/" >"$T/uprobes"
	unshare --mount bash -c '
		[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
		cd /sys/kernel/tracing && [ -e uprobe_events ] || { echo "no uprobes: not root, or not in this kernel" >&2; exit 1; }
		while read -r probe; do echo "$probe" >>uprobe_events || exit 1; done <"$2/uprobes" 2>"$2/trace.err" &&
			mkdir instances/$1 && echo 1 >instances/$1/events/$1/enable && "$3" >/dev/null || cat "$2/trace.err" >&2
		awk -v file="$3" "\$1 == file { n += \$3 } END { print n + 0 }" uprobe_profile
		[ ! -e instances/$1 ] || { echo 0 >instances/$1/events/$1/enable; rmdir instances/$1; }
		sed -n "s|^p:\($1/[^ ]*\) .*|-:\1|p" uprobe_events | while read -r probe; do echo "$probe" >>uprobe_events; done
	' uprobes "$group" "$T" "$1"
}

in_perf() {
	local at=$T/gcc-O2 what want image text_at text_off dot_text
	command -v perf >/dev/null || { skip "perf probe" "no perf"; return; }
	make_debug gcc-O2 2 || return
	mkdir -p "$at/p/.debug"
	strip -g -o "$at/p/gen" "$at/gen"
	cp "$at/gen.debug" "$at/p/.debug/gen"
	read -r text_at text_off < <(readelf -SW "$at/p/gen" | sed 's/^ *\[ *[0-9]*\] //' | awk '$1 == ".morph.text" { print "0x" $3, "0x" $4 }')
	dot_text=$(readelf -SW "$at/p/gen" | sed 's/^ *\[ *[0-9]*\] //' | awk '$1 == ".text" { print "0x" $3 " - 0x" $4 }')
	dot_text=$((dot_text))
	[ "$(probe "$at/prog" work)" ] || { skip "perf probe" "$(head -n 1 "$T/perf.err")"; return; }
	for what in work deep careless "work n" "deep depth" "lines.c:$((bottom - 1))" "lines.c:$cold"; do
		want=$(probe "$at/prog" "$what" | head -n 1)
		probe "$at/p/gen" "$what" >"$T/probes"
		image=$("$edit" map "$at/gen" --reverse "${want%% *}" | awk '$1 ~ /^0x/ { print $2 }')
		[ "$want" ] || { not_ok "perf probe $what: nothing in the original"; continue; }
		# the place in the file, or what perf 6.1 takes for it: as far from the address as .text
		for image in $((image - text_at + text_off)) $((image - dot_text)); do
			image=$(printf '0x%x' "$image")
			! grep -qx -- "${want/${want%% *}/$image}" "$T/probes" || break
			image=
		done
		[ "$image" ] && ok "perf probe $what: $image" || not_ok "perf probe $what: want $want, have $(cat "$T/probes" "$T/perf.err" | head -n 3)"
	done
	# By its place in the file it is found whatever perf takes for that.
	image=$(printf '0x%x' $((16#$(nm "$at/gen" | awk '$3 == "work" { print $1 }') - text_at + text_off)))
	for what in "$at/prog work" "$at/p/gen $image"; do		# in 4 calls
		uprobe_hits $what >"$T/uprobe" 2>"$T/uprobe.err" || { skip "uprobes" "$(cat "$T/uprobe.err")"; return; }
		[ "$(cat "$T/uprobe")" = 4 ] && ok "uprobes at ${what##*/}: each call" ||
			not_ok "uprobes at ${what##*/}: $(cat "$T/uprobe" "$T/uprobe.err")"
	done
}
in_perf

# --- valgrind gives names; it knows lines in sections named .text only ---
under_valgrind() {
	local at=$T/gcc-O2
	command -v valgrind >/dev/null || { skip "valgrind" "no valgrind"; return; }
	(cd "$at" && strip -g -o linked gen && objcopy --add-gnu-debuglink=gen.debug linked && chmod +x linked && valgrind ./linked once >"$T/valgrind" 2>&1)
	grep -A2 'Conditional jump' "$T/valgrind" | sed -n 's/.*: \([a-z]*\)\(\.cold\)* (.*/\1/p' | tr '\n' ' ' | grep -qx 'careless main ' &&
		ok "valgrind's stack has names" || { not_ok "valgrind's stack"; note "$(grep -A3 Conditional "$T/valgrind")"; }
}
under_valgrind
done_testing
