#!/bin/bash
# counting.sh - programs with private counters are verified, do what they did, and count what
# callgrind counts
#
# Besides: signals, forks, exec, a system that refuses the memory; what the Verifier says to the wrong
# kind of generation; real programs under their workloads.
private=1
. tests/moving.sh
. tests/programs/instrument/counted.bash

can_take() { [ "$(id -u)" = 0 ] || { skip "$1" "counters are opened by root"; return 1; }; }

if can_take "what is counted"; then
	build "PIE" g++ -O2 -fpie -pie && modes "PIE" "$P" plain throw jump _exit exit signal
	build "PIE, checked branches" g++ -O1 -fpie -pie -fcf-protection=full && modes "PIE, checked branches" "$P" plain throw
	build "not optimized" g++ -O0 -fpie -pie && modes "not optimized" "$P" plain jump
	build "fixed address" g++ -O2 -fno-pie -no-pie && modes "fixed address" "$P" plain throw jump
	build "static" g++ -O2 -static && modes "static" "$P" plain
	build "clang" clang++ -O2 -fpie -pie && modes "clang" "$P" plain throw jump
	if build "library" g++ -O2 -shared -fpic -Dmain=counted_main && mv "$P" "$T/lib/libcounted.so"; then
		echo 'extern "C" int counted_main(int, char **) __asm__("_Z12counted_mainiPPc");
		      int main(int argc, char **argv) { return counted_main(argc, argv); }' >"$T/main.cc"
		g++ -O1 -o "$P" "$T/main.cc" -L"$T/lib" -lcounted &&
			modes "library" "$T/lib/libcounted.so" plain throw jump _exit signal
		rm -f "$T"/lib/*
	fi
fi

# --- what programs do ---

known() {		# NAME COMPILER FLAGS...
	local name=$1 mode out
	shift
	command -v "$1" >/dev/null || { skip "$name" "this machine has no $1"; return; }
	"$@" -D_GNU_SOURCE -w -o "$T/original" tests/programs/knowncounting.c 2>"$T/e" ||
		{ skip "$name" "$1 does not make it: $(head -n 1 "$T/e")"; return; }
	instrument "$T/original" "$T/work/known.new" || return
	out=$("$verify" --counting "$T/original" "$T/work/known.new" 2>&1) && ok "$name: verified" || not_ok "$name: $out"
	for mode in signals jumps children looks root exec quick killed aborted; do
		cp "$T/original" "$T/work/known"
		record_run "$T/before" "$T/work/known" $mode
		cp "$T/work/known.new" "$T/work/known"
		record_run "$T/after" "$T/work/known" $mode
		same_run "$name, $mode" "$T/before" "$T/after"
		record_run "$T/after" "${take%/*}/forbid" "$T/work/known" $mode
		same_run "$name, $mode, without shared memory" "$T/before" "$T/after"
	done
}

ulimit -c 0
known "C" gcc -O2 -fpie -pie
known "C, static" gcc -O2 -static
known "C, static by gold" gcc -O2 -static -fuse-ld=gold	# .plt has an FDE, and the loader does not fill it
known "C, static PIE" gcc -O2 -static-pie
known "C, by clang" clang -O1 -fpie -pie

flags_kept_between
flags_kept_across

# --- what the Verifier says ---

refused() {		# NAME WANTED ARGUMENT...
	local out
	out=$("$verify" "${@:3}" 2>&1)
	[ $? = 3 ] && [[ $out = *"$2"* ]] && ok "$1" || not_ok "$1: $out"
}
gcc -O2 -w -o "$T/original" tests/programs/knowncounting.c -D_GNU_SOURCE
instrument "$T/original" "$T/counting"
"$edit" optimize "$T/original" --all -o "$T/moved" 2>"$T/e"
"$edit" instrument "$T/original" -o "$T/shared" --counts "$T/shared.counts" 2>"$T/e"
refused "a counting generation must be asked for" "it counts what it does besides" "$T/original" "$T/counting"
refused "what does not count is none" "no segment of counters" --counting "$T/original" "$T/moved"
refused "counters in a file are not private" "does more than map the counters" --counting "$T/original" "$T/shared"
instrument "$T/original" "$T/again"
cmp -s "$T/counting" "$T/again" && ok "the same input gives the same bytes" || not_ok "the same input gives the same bytes"

# --- real programs ---

real() {		# PROGRAM WORKLOAD SIZE
	local name=$2 out
	[ -x "$1" ] || { skip "$name" "this machine has no $1"; return; }
	(cd "$T/work" && rm -rf ./* && "$work/$name.sh" prepare "$3" 7) || { not_ok "$name: prepare"; return; }
	cp "$1" "$T/bin/$name"
	record_run "$T/before" "$work/$name.sh" run "$T/bin/$name"
	instrument "$1" "$T/bin/$name" || return
	out=$("$verify" --counting "$1" "$T/bin/$name" 2>&1) && ok "$name: verified" || not_ok "$name: $out"
	record_run "$T/after" "$work/$name.sh" run "$T/bin/$name"
	same_run "$name" "$T/before" "$T/after"
}

real "$(realpath /usr/bin/perl 2>/dev/null)" perl 5
real "$(realpath /usr/bin/sqlite3 2>/dev/null)" sqlite3 5
for file in libstdc++.so.6 libcrypto.so.3 libsqlite3.so.0; do
	file=$(library $file)
	[ -n "$file" ] || continue
	instrument "$file" "$T/lib/counting" || continue
	out=$("$verify" --counting "$file" "$T/lib/counting" 2>&1) && ok "${file##*/}: verified" || not_ok "${file##*/}: $out"
done
done_testing
