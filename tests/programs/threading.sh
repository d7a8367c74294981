#!/bin/bash
# threading.sh - interpreters that jump through labels run in new text and do what they did: some
# made here, as different compilers make them, and those of the system
. tests/moving.sh
MIN_MOVED=50
from=$(realpath tests/programs/threading)

# Labels of position-dependent programs stay; the others' main loops run in new text.
made() {		# COMPILER FLAGS WANT-THREADED [SOURCE]
	local name="$1 $2${4:+ $4}" seed n
	command -v "$1" >/dev/null || { skip "$name" "this machine has no $1"; return; }
	# shellcheck disable=SC2086
	$1 $2 -w -o "$T/bin/made" "$from/${4:-interpreters.c}" 2>"$T/e" || { not_ok "$name: build"; note "$(cat "$T/e")"; return; }
	record_run "$T/before" "$T/bin/made"
	for seed in $SEEDS; do
		move_all "$T/bin/made" "$T/bin/moved" "$seed" || continue
		record_run "$T/after" "$T/bin/moved"
		same_run "$name seed $seed" "$T/before" "$T/after"
		n=$(stat_of functions_threaded)
		if [ "$3" = no ]; then
			[ "$n" = 0 ] && ok "$name seed $seed: no labels redirected" || not_ok "$name seed $seed: $n with redirected labels"
			continue
		fi
		"$T/bin/moved" where | grep -q '^label new' && ok "$name seed $seed: runs in new text" ||
			not_ok "$name seed $seed: runs in original text"
		"$edit" optimize "$T/bin/made" --all --shuffle="$seed" --keep-pointers -o "$T/bin/kept" --stats "$T/stats"
		[ "$(stat_of functions_threaded)" = 0 ] && "$T/bin/kept" where | grep -q '^label original' &&
			ok "$name seed $seed: pointers are kept when told so" || not_ok "$name seed $seed: --keep-pointers"
	done
}

for cc in gcc clang; do
	made $cc "-O2 -fpie -pie" yes
	made $cc "-O3 -fpie -pie -fcf-protection=full" yes
	made $cc "-O2 -fpie -pie -Wl,-z,pack-relative-relocs" yes
	made $cc "-O2 -fno-pie -no-pie" no
done
# There the target is kept in the frame, where it could have been calculated: such functions stay.
MIN_MOVED=30
made clang "-O0 -fpie -pie" no

# Handlers of exceptions are code that something leads to.
MIN_MOVED=40
for cxx in g++ clang++; do
	made $cxx "-O2 -fpie -pie" yes catching.cc
	made $cxx "-Os -fpie -pie" yes catching.cc
done
MIN_MOVED=50

# A file of the system, as it is and moved, under a command that finds it in bin or lib.
moved() {		# FILE THREADED COMMAND...
	local file=$1 want=$2 name seed dir
	shift 2
	name="${file##*/} under $1"
	if [ -z "$file" ] || [ ! -e "$file" ] || ! command -v "$1" >/dev/null; then
		skip "${file:-a library} under $1" "this machine lacks one of them"
		return
	fi
	dir=$T/bin
	[[ $file = *.so* ]] && dir=$T/lib
	cp "$file" "$dir/${soname:-${file##*/}}"
	record_run "$T/before" env LD_LIBRARY_PATH="$T/lib" PATH="$T/bin:$PATH" "$@"
	for seed in $SEEDS; do
		move_all "$file" "$T/generation" "$seed" || continue
		[ "$(stat_of functions_threaded)" -ge "$want" ] && ok "$name seed $seed: labels redirected" ||
			not_ok "$name seed $seed: labels redirected"
		mv -f "$T/generation" "$dir/${soname:-${file##*/}}"
		record_run "$T/after" env LD_LIBRARY_PATH="$T/lib" PATH="$T/bin:$PATH" "$@"
		same_run "$name seed $seed" "$T/before" "$T/after"
	done
	rm -f "$dir/${soname:-${file##*/}}"
}

cp "$from"/script.* "$T/work/"
soname=$(newest 'libruby-*.so.*')
f=${soname:+$(library "$soname")}
moved "$f" 1 ruby --disable-gems script.rb
f=$(library libonig.so.5) soname=libonig.so.5
moved "$f" 1 jq -n '[range(300) | tostring + "ab,c"] | map(select(test("^(1|2).*5(?=ab)"))) , ("aXbxc" | [match("(?i)(?<n>x)"; "g").offset])'
soname=
moved "$(realpath /usr/bin/lua5.4 2>/dev/null)" 1 lua5.4 script.lua
f=$(realpath /usr/bin/python3 2>/dev/null)
moved "$f" 0 "${f##*/}" script.py
done_testing
