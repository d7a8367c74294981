#!/bin/bash
# pointers.sh - pointers to functions of a program and of its library, compared and called from
# both, with the program moved, the library, or both, as different compilers and linkers make them
. tests/moving.sh
from=$(realpath tests/programs/pointers)

# A generation with redirected pointers, which there must be but in libraries of the large model:
# that adds distances to addresses of functions.
redirect() {		# FILE OUT SEED
	local out
	rm -f "$2"
	if ! out=$("$edit" optimize "$1" --all --shuffle="$3" -o "$2" --stats "$T/stats" 2>&1); then
		not_ok "${1##*/} seed $3: optimize"
		note "$out"
		return 1
	fi
	if out=$("$verify" "$1" "$2" 2>&1); then
		ok "${1##*/} seed $3: verified"
	else
		not_ok "${1##*/} seed $3: verify"
		note "$out"
	fi
	chmod +x "$2"
	[ "$(stat_of functions_redirected)" -gt 0 ] || [[ $1 = */library && $flags = *large ]] && ok "${1##*/} seed $3: pointers redirected" ||
		not_ok "${1##*/} seed $3: pointers redirected"
}

build() {		# COMPILER LIBRARY-FLAGS
	$1 -D_GNU_SOURCE -O2 $2 -fPIC -shared -o "$T/library" "$from/library.c" 2>"$T/e" &&
	cp "$T/library" "$T/lib/libpointers.so" &&
	$1 -D_GNU_SOURCE -O2 -pie -fPIE -rdynamic -o "$T/program" "$from/main.c" \
		-L"$T/lib" -lpointers -lpthread -Wl,-rpath,"$T/lib" 2>"$T/e"
}

for cc in gcc clang; do
	for flags in "" "-Wl,-Bsymbolic" "-fcf-protection=full" "-Wl,-z,pack-relative-relocs -O0" \
		     "-mcmodel=large"; do
		name="$cc $flags"
		command -v $cc >/dev/null || { skip "$name" "this machine has no $cc"; continue; }
		build $cc "$flags" || { not_ok "$name: build"; note "$(cat "$T/e")"; continue; }
		record_run "$T/before" "$T/program"
		for seed in $SEEDS; do
			redirect "$T/library" "$T/library.new" "$seed" &&
			redirect "$T/program" "$T/program.new" "$seed" || continue
			cp "$T/library.new" "$T/lib/libpointers.so"
			record_run "$T/after" "$T/program"
			same_run "$name seed $seed: library" "$T/before" "$T/after"
			record_run "$T/after" "$T/program.new"
			same_run "$name seed $seed: both" "$T/before" "$T/after"
			cp "$T/library" "$T/lib/libpointers.so"
			record_run "$T/after" "$T/program.new"
			same_run "$name seed $seed: program" "$T/before" "$T/after"
		done
	done
done

flags=
for cc in g++ clang++; do
	command -v $cc >/dev/null || { skip "virtual functions, $cc" "this machine has no $cc"; continue; }
	for level in -O2 -Os; do	# with -Os functions begin at even addresses, as pointers to members need
		name="virtual functions, $cc $level"
		$cc $level -o "$T/program" "$from/virtual.cc" 2>"$T/e" ||
			{ not_ok "$name: build"; note "$(cat "$T/e")"; continue; }
		record_run "$T/before" "$T/program"
		for seed in $SEEDS; do
			redirect "$T/program" "$T/program.new" "$seed" || continue
			record_run "$T/after" "$T/program.new"
			same_run "$name, seed $seed" "$T/before" "$T/after"
		done
	done
done
done_testing
