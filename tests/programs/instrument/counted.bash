# counted.bash - sourced after moving.sh by the tests of what programs count: instrument.sh, and counting.sh
# with $private set
from=$(realpath tests/programs/instrument)
take=$(realpath "${B:-build}")/tests/programs/takecounts
P=$T/work/counted
private=${private:-}

# The path is the same before and after.  Leaves $T/counts.
instrument() {		# FILE OUT [OPTION...]
	local file=$1 out=$2
	shift 2
	"$edit" instrument "$file" -o "$out" --counts "$T/counts" ${private:+--private} "$@" 2>"$T/e" && return
	not_ok "${file##*/}: instrument"
	note "$(cat "$T/e")"
	return 1
}

profile() {		# NAME FILE
	"$edit" counts "$2" "$T/counts" -o "$T/profile" 2>"$T/e" && return
	not_ok "$1: counts"
	note "$(cat "$T/e")"
	return 1
}

run_mode() {		# PREFIX MODE
	record_run "$1" env LD_LIBRARY_PATH="$T/lib" "$P" "$2"
}

# The same with private counters, which the Verifier knows.  What is counted goes to $T/counts.
take_mode() {		# NAME OBJECT PREFIX MODE
	local out
	out=$("$verify" --counting "$T/original" "$2" 2>&1) && ok "$1: verified" || not_ok "$1: verify: $out"
	run_mode "$3" "$4"
	same_run "$1" "$T/before" "$3"
	record_run "$3" env LD_LIBRARY_PATH="$T/lib" "$take" "$T/counts" -- "$P" "$4"
}

# Where the functions of counted.cc are: start and end of each, in hexadecimal.  hop() is not among them where
# its labels keep their addresses, and so lead to the original's code.
ranges() {		# NAME FILE
	local hop=
	[[ $1 = PIE* ]] && hop='|hop'
	nm -SC "$2" | awk '/ [tT] (.*::)?(work|main|(step|deep|carries'"$hop"'|guarded|throwing|add|twice|flip)\(.*)$/ { print $1, $2 }' |
		tr '\n' ' '
}

# As callgrind counts it, for one object.  What a static program does before main() goes by the
# processor; without symbols callgrind does not know indirect calls.
compare() {		# NAME OBJECT MODE
	local out only=0 calls=1
	[[ $1 = static* ]] && only=1
	[[ $1 = stripped* || $private ]] && calls=0
	if ! command -v valgrind >/dev/null; then
		skip "$1" "this machine has no valgrind"
		return
	fi
	rm -f "$T"/callgrind.*
	LD_LIBRARY_PATH="$T/lib" valgrind -q --tool=callgrind --skip-plt=no --dump-instr=yes --collect-jumps=yes \
		--callgrind-out-file="$T/callgrind.%p" "$P" "$3" >/dev/null 2>&1
	out=$(awk -v object="$2" -v inside="$(ranges "$1" "$2" 2>/dev/null)" -v only=$only -v calls=$calls -f "$from/compare.awk" "$T/profile" "$T"/callgrind.* 2>&1)
	if [ $? = 0 ] && [[ $out =~ ^[1-9][0-9]+\ blocks,\ [1-9] ]]; then
		ok "$1: $out"
	else
		not_ok "$1: counts differ from callgrind's"
		note "$(head -n 20 <<<"$out")"
	fi
}

# Every mode of the program, built so, counted in OBJECT ($P, or a library of it).
modes() {		# NAME OBJECT MODE...
	local name=$1 object=$2 mode option
	shift 2
	cp "$object" "$T/original"
	for mode; do
		option=()
		[ "$mode" = threads ] && [ ! "$private" ] && option=(--threads)
		cp "$T/original" "$object"
		run_mode "$T/before" "$mode"
		instrument "$T/original" "$object.new" "${option[@]}" || continue
		mv -f "$object.new" "$object"
		if [ "$private" ]; then
			take_mode "$name, $mode" "$object" "$T/after" "$mode"
		else
			run_mode "$T/after" "$mode"
		fi
		same_run "$name, $mode" "$T/before" "$T/after"
		profile "$name, $mode" "$T/original" || continue
		cp "$T/original" "$object"
		compare "$name, $mode" "$object" "$mode"
	done
	cp "$T/original" "$object"
}

build() {		# NAME COMPILER FLAGS...
	local name=$1
	shift
	command -v "$1" >/dev/null || { skip "$name" "this machine has no $1"; return 1; }
	"$@" -w -o "$P" "$from/counted.cc" -lpthread 2>"$T/e" && return
	not_ok "$name: build"
	note "$(cat "$T/e")"
	return 1
}

# What counts destroys no flags that are read later.
flags_kept() {		# NAME SOURCE COMPILER FLAG...
	local name=$1 source=$2 out
	shift 2
	command -v "$1" >/dev/null || { skip "$name" "this machine has no $1"; return; }
	"$@" -o "$T/original" "tests/programs/$source" 2>"$T/e" || { not_ok "$name: build"; note "$(cat "$T/e")"; return; }
	cp "$T/original" "$T/work/known"
	record_run "$T/before" "$T/work/known"
	instrument "$T/original" "$T/work/known.new" || return
	[ ! "$private" ] || { out=$("$verify" --counting "$T/original" "$T/work/known.new" 2>&1) && ok "$name: verified" || not_ok "$name: $out"; }
	mv "$T/work/known.new" "$T/work/known"
	record_run "$T/after" "$T/work/known"
	same_run "$name" "$T/before" "$T/after"
}
# In another function than they were set in.
flags_kept_between() {
	flags_kept "flags from a call through memory" flagsback.s gcc
	flags_kept "flags from what jumps through memory" flagsback.s gcc -Wa,--defsym,JUMPED=1
	flags_kept "flags from a call" flagsback.s gcc -Wa,--defsym,DIRECT=1
	flags_kept "flags for what is jumped to" flagsback.s gcc -Wa,--defsym,READ=1
	flags_kept "flags for what is called" flagsback.s gcc -Wa,--defsym,READ=1,--defsym,CALLED=1
	flags_kept "flags for what is called and not looked at" flagsback.s gcc \
		-Wa,--defsym,READ=1,--defsym,CALLED=1,--defsym,SHORT=1
}

# Across computed jumps.
flags_kept_across() {
	local cc source
	for source in flagsacross flagslabels; do
		for cc in gcc clang; do
			flags_kept "$source, $cc" $source.c $cc -O2 -w -fpie -pie
			flags_kept "$source, $cc, fixed address" $source.c $cc -O2 -w -fno-pie -no-pie
		done
	done
	flags_kept "flagslabels, a cold part" flagslabels.c gcc -O1 -w -freorder-blocks-and-partition \
		-foptimize-sibling-calls
	flags_kept "flagsacross, by thunks" flagsacross.c gcc -O2 -w -fcf-protection=none \
		-mindirect-branch=thunk-extern tests/programs/thunks.s
	flags_kept "flagsacross, by thunks through memory" flagsacross.c gcc -O2 -w -mno-red-zone \
		-fcf-protection=none -mindirect-branch=thunk-extern -Wa,--defsym,MEMORY=1 tests/programs/thunks.s
}
