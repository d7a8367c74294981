#!/bin/bash
# openswitch.sh - computed jumps whose tables do not end where they seem to, as compilers make them
# (tests/programs/switches/open.c, tails.c, apart.c, kept.c say which): moved, and counting, such programs do what they did
MIN_MOVED=40		# a function with labels may stay
private=1
. tests/moving.sh
. tests/programs/instrument/counted.bash
from=$(realpath tests/programs/switches)

same() {		# NAME: of $T/original
	local out
	record_run "$T/before" "$T/original"
	move_all "$T/original" "$T/moved" 5 || return
	record_run "$T/after" "$T/moved"
	same_run "$1, moved" "$T/before" "$T/after"
	instrument "$T/original" "$T/counting" || return
	out=$("$verify" --counting "$T/original" "$T/counting" 2>&1) && ok "$1: what counts is verified" || not_ok "$1: $out"
	record_run "$T/after" "$T/counting"
	same_run "$1, counting" "$T/before" "$T/after"
}

open() {		# NAME OPTION...: of $source
	local cc level
	for cc in gcc clang; do
		command -v $cc >/dev/null || { skip "$1, $cc" "this machine has no $cc"; continue; }
		for level in -Os -O1 -O2 -O3; do
			$cc $level -w -fno-pie -no-pie "${@:2}" -o "$T/original" "$from/$source" 2>"$T/e" && same "$1, $cc $level" ||
				not_ok "$1, $cc $level: $(cat "$T/e")"
		done
	done
}

source=open.c
open "a masked index" -DHOLE -DINDEX=int -DSIZE=8 '-DPICK=*p++ & 7'
open "an index of one byte" -DHOLE "-DINDEX=unsigned char" -DSIZE=256
open "any index" -DHOLE -DINDEX=long -DSIZE=
open "an array's middle" -DMIDDLE
open "a lowest index" -DFOLDED
open "what is in front" -DFRONT -DINDEX=long
open "the function's beginning" -DTOP
open "a part's beginning" -DPART
open "an array beside a compared one" -DBOTH
source=tails.c
open "functions with a gap"
open "functions by a lowest index" -DFIRST
source=apart.c MIN_MOVED=30	# that function stays
open "labels by their distance"
MIN_MOVED=40		# a function with labels may stay
source=covered.c
open "a switch over all that can be" -fpie -pie
"$edit" analyze "$T/original" 2>/dev/null | awk '/^guarded table/ { n = $3 } END { exit n < 1 }' && ok "images compare indexes" ||
	not_ok "images compare no index"
source=hoisted.c
for kind in "" -DLATE; do
	open "a table's address before a loop $kind" $kind -fpie -no-pie -falign-labels=8
	open "and int3 behind jumps $kind" $kind -fpie -no-pie -mharden-sls=all
done
for less in 4 5 6 7 8 9 10; do		# it is chance which one makes the word there lead into the function
	gcc -Os -w -fpie -pie -DCUT=$less -o "$T/original" "$from/open.c" 2>"$T/e" && same "an array's address in a table, $less" ||
		not_ok "an array's address in a table, $less: $(cat "$T/e")"
done
for options in "-O2" "-Os" "-O3 -static" "-O2 -mcmodel=medium"; do
	# shellcheck disable=SC2086
	gcc $options -w -fno-pie -no-pie -o "$T/original" "$from/foldedfirst.c" "$from/folded.c" 2>"$T/e" &&
		same "a switch without a lowest case, gcc $options" || skip "gcc $options" "$(head -n 1 "$T/e")"
done
source=kept.c MIN_MOVED=20	# that function stays, or most of it runs where it was
for kind in "-fno-pie -no-pie" "-fpie -pie"; do
	# shellcheck disable=SC2086	# options
	open "labels by distance $kind" $kind
	# shellcheck disable=SC2086
	open "the first at the beginning $kind" -DTOP $kind
	# shellcheck disable=SC2086
	open "kept in memory $kind" -DKEPT $kind
	# shellcheck disable=SC2086
	open "the first at the beginning, kept in memory $kind" -DTOP -DKEPT $kind
	# shellcheck disable=SC2086
	open "loops to which nothing else leads, kept in memory $kind" -DLOOP -DKEPT $kind
	# shellcheck disable=SC2086
	open "kept in the frame $kind" -DSPILLED $kind
done
done_testing
