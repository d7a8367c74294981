#!/bin/bash
# knows_address.sh - programs that know where their code is: they do the same when all that can be
# moved is moved, in three orders and as a profile of the program itself says, and by that profile alone
# what runs often; each generation is verified.  KNOWS=full: built in all ways; ADDRESS='label front' only these
SEEDS=${SEEDS:-1 2 3}
. tests/moving.sh
from=$(realpath tests/programs/knows)
all=${ADDRESS:-align label tables entries patched mcount kcfi section range end keys order between stubs front own bytes callee argument caller unaligned xray}

if [ "${KNOWS:-}" = full ]; then
	ways=()
	for cc in gcc clang; do
		for kind in "-pie -fPIE" "-no-pie -fno-pie" "-static"; do
			for o in -O0 -O1 -O2 -O3 -Os; do ways+=("$cc $kind $o"); done
		done
	done
else
	ways=("gcc -pie -fPIE -O2" "gcc -no-pie -fno-pie -O2" "clang -pie -fPIE -O2" "clang -no-pie -fno-pie -O0")
fi
static=("gcc -static -O2")		# of these few, since they are large
static_of="label tables caller"
# distances from the GOT; a linker that takes the end of the segment for that of the code
others=("gcc -pie -fPIE -O2 -mcmodel=medium" "gcc -pie -fPIE -O2 -fuse-ld=gold")
others_of="range end"
of_clang="xray kcfi"
of_gcc="mcount"
of_fixed="mcount"		# gcc has this for code that is not position-independent
of_shared="callee"		# callees are known by the linker's names for those of other modules (doc/limits.md)

flags_of() {		# NAME
	case $1 in
	patched) echo "-fpatchable-function-entry=5,2" ;;
	mcount) echo "-pg -mfentry -mnop-mcount -mrecord-mcount" ;;
	kcfi) echo "-fsanitize=kcfi" ;;
	xray) echo "-fxray-instrument" ;;
	esac
}
linked_with() {		# NAME
	[ "$1" != xray ] || echo "-fxray-instrument -lstdc++"	# its runtime is in C++
}
build() {		# NAME WAY SOURCE
	# shellcheck disable=SC2046,SC2086	# words
	$2 -D_GNU_SOURCE $(flags_of "$1") -c -o "$T/program.o" -xc "$3" &&
	$2 -o "$T/program" "$T/program.o" $(linked_with "$1")
}
# The newest clang that is there, for what the default one is too old for.
newest() {		# NAME WAY
	local v
	[ "$1" = kcfi ] && for v in $(compgen -c clang- | sed -n 's/^clang-\([0-9]*\)$/\1/p' | sort -rnu); do
		[ "$v" -ge 16 ] && echo "${2/clang/clang-$v}" && return
	done
	echo "$2"
}
# XRay has a runtime, which not every clang comes with; not every clang has kcfi.
can_build() {		# NAME WAY
	case $1 in
	xray | kcfi) echo "int main(void) { return 0; }" | build "$1" "$2" - 2>/dev/null ;;
	esac
}

# A generation of $T/program, verified; it runs as the original does.
same_as_moved() {	# NAME OPTIONS...
	local name=$1 out
	shift
	rm -f "$T/generation"
	if ! out=$("$edit" optimize "$T/program" "$@" -o "$T/generation" --stats "$T/stats" 2>&1); then
		[[ " $* " != *" --all "* && $out = *"worth moving"* ]] && return
		not_ok "$name: optimize"
		note "$out"
		return
	fi
	[ "$(stat_of functions_moved)" -gt 0 ] || { not_ok "$name: something moved"; return; }
	if ! out=$("$verify" "$T/program" "$T/generation" 2>&1); then
		not_ok "$name: verify"
		note "$out"
	fi
	chmod +x "$T/generation"
	mv "$T/generation" "$T/bin/program"
	record_run "$T/after" "$T/bin/program"
	same_run "$name" "$T/before" "$T/after"
}

# What the program itself ran: a training run that counts, if the counting one does the same.
profile() {
	"$edit" instrument "$T/program" -o "$T/bin/program" --counts "$T/counts" 2>"$T/e" &&
	chmod +x "$T/bin/program" && record_run "$T/counted" "$T/bin/program" &&
	"$edit" counts "$T/program" "$T/counts" -o "$T/profile" 2>>"$T/e" && [ -s "$T/profile" ]
}

check() {		# NAME WAY
	local name="$1, $2" seed
	record_run "$T/before" "$T/program"
	[ "$(cat "$T/before.rc")" = 0 ] && [ -s "$T/before.out" ] || { not_ok "$name: runs"; return; }
	for seed in $SEEDS; do
		same_as_moved "$name, seed $seed" --all --shuffle="$seed"
	done
	if profile; then
		same_as_moved "$name, profile" --all --profile "$T/profile"
		same_as_moved "$name, few functions" --profile "$T/profile"
	else
		not_ok "$name: profile"
		note "$(cat "$T/e")"
	fi
}

try() {			# NAME WAY
	local cc=${2%% *}
	[[ " $of_clang " = *" $1 "* && $cc != clang* ]] && return
	[[ " $of_gcc " = *" $1 "* && $cc != gcc* ]] && return
	[[ " $of_fixed " = *" $1 "* && $2 != *-no-pie* ]] && return
	[[ " $of_shared " = *" $1 "* && $2 = *-static* ]] && return
	command -v "$cc" >/dev/null || { skip "$1, $2" "this machine has no $cc"; return; }
	can_build "$1" "$2" || { skip "$1, $2" "this machine's $cc has no $(flags_of "$1")"; return; }
	if build "$1" "$2" "$from/address_$1.c" 2>"$T/e"; then
		cp "$T/program" "$T/bin/program"
		check "$1" "$2"
	else
		not_ok "$1, $2: build"
		note "$(cat "$T/e")"
	fi
}

for name in $all; do
	[ "$name" = library ] && continue
	for way in "${ways[@]}"; do try "$name" "$(newest "$name" "$way")"; done
	for way in "${others[@]}"; do
		[[ " $others_of " != *" $name "* ]] && continue
		case $way in *gold*) command -v ld.gold >/dev/null || { skip "$name, $way" "no gold"; continue; } ;; esac
		try "$name" "$way"
	done
	[ "${KNOWS:-}" = full ] || [[ " $static_of " != *" $name "* ]] && continue
	for way in "${static[@]}"; do try "$name" "$way"; done
done

# A library that knows a label of its own by its symbol.
library() {		# COMPILER
	local name="library, $1" seed
	command -v "$1" >/dev/null || { skip "$name" "this machine has no $1"; return; }
	"$1" -O2 -D_GNU_SOURCE -fPIC -shared -o "$T/lib/libknows.so" "$from/address_library.c" 2>"$T/e" &&
	"$1" -O2 -D_GNU_SOURCE -DMAIN -o "$T/bin/program" "$from/address_library.c" -L"$T/lib" -lknows \
		-Wl,-rpath,"$T/lib" 2>>"$T/e" || { not_ok "$name: build"; note "$(cat "$T/e")"; return; }
	cp "$T/lib/libknows.so" "$T/program"
	record_run "$T/before" "$T/bin/program"
	for seed in $SEEDS; do
		"$edit" optimize "$T/program" --all --shuffle="$seed" -o "$T/generation" 2>"$T/e" &&
		"$verify" "$T/program" "$T/generation" >"$T/e" 2>&1 || { not_ok "$name, seed $seed: verify"; note "$(cat "$T/e")"; }
		mv "$T/generation" "$T/lib/libknows.so"
		record_run "$T/after" "$T/bin/program"
		same_run "$name, seed $seed" "$T/before" "$T/after"
	done
	if "$edit" instrument "$T/program" -o "$T/lib/libknows.so" --counts "$T/counts" 2>"$T/e" &&
		"$T/bin/program" >"$T/after.out" &&
		"$edit" counts "$T/program" "$T/counts" -o "$T/profile" 2>>"$T/e" &&
		"$edit" optimize "$T/program" --profile "$T/profile" -o "$T/generation" 2>>"$T/e" &&
		"$verify" "$T/program" "$T/generation" >>"$T/e" 2>&1; then
		mv "$T/generation" "$T/lib/libknows.so"
		record_run "$T/after" "$T/bin/program"
		same_run "$name, few functions" "$T/before" "$T/after"
	else
		not_ok "$name: profile"
		note "$(cat "$T/e")"
	fi
}
[[ -n ${ADDRESS:-} && " $ADDRESS " != *" library "* ]] || { library gcc; library clang; }
done_testing
