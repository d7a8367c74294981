#!/bin/bash
# tools.sh - what looks at ELF files is as content with a generation as with its original:
# readelf, eu-elflint, ldd, gdb, strip; output is deterministic
. tests/moving.sh

have() {		# TOOL NAME
	command -v "$1" >/dev/null && return 0
	skip "$2" "no $1"
	return 1
}

# Place, kind and symbol of every relocation: where they lead to is the verifier's matter.
relocated() {		# FILE
	readelf -rW "$1" | sed 1,3d | awk 'NF > 4 { print $1, $2, $3, $5, $6, $7; next } { print $1, $2, $3 }'
}

# Complaints of eu-elflint without the numbers and addresses that differ between two files.  It
# takes a relocation to change as many bytes as its symbol is long, so a slot of a very large
# function seems to reach into the text behind the data: that complaint does not count, since
# all relocations are shown to change what the original's do.  Nor do three about the dynamic symbols
# that were added: a hash that no name has, no place in .hash, and a hidden version keep every
# lookup from them.
complaints() {
	eu-elflint --gnu-ld "$1" 2>&1 | grep -v -e '^No errors$' \
		-e 'read-only section modified but text relocation flag not set$' \
		-e "'.gnu.hash': hash value for symbol [0-9]* in chain for bucket [0-9]* wrong$" \
		-e "symbol [0-9]* referenced in new hash table in .* but not in old hash table in .*'.hash'$" \
		-e "'.gnu.version': symbol [0-9]*: invalid version index [0-9]*$" |
		sed -E 's/0x[0-9a-f]+|[0-9]+/N/g' | sort -u
}

# The number of frames that gdb sees at the program's N-th write, and whether the last is _start.
frames() {		# PROGRAM ARGS...
	gdb -nx -batch -ex 'set confirm off' -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' \
		-ex 'set backtrace past-main on' -ex 'catch syscall write' -ex run -ex 'bt' -ex kill --args "$@" 2>&1 |
		awk '/^#[0-9]/ { n++ } /[Bb]acktrace stopped|corrupt/ { bad = 1 } END { print n + 0, bad + 0 }'
}

look_at() {		# FILE NAME ARGS...
	local file=$1 name=$2 gen=$T/bin/$2 out new
	shift 2
	move_all "$file" "$gen" 4 || return

	"$edit" optimize "$file" --all --shuffle=4 -o "$gen.again"
	check "$name: same seed, same bytes" cmp "$gen" "$gen.again"

	if have readelf "$name: readelf"; then
		out=$(readelf -lSW "$gen" 2>&1 >/dev/null)
		[ -z "$out" ] && ok "$name: readelf has no complaint" || {
			not_ok "$name: readelf complains"; note "$out"; }
		out=$(readelf -SW "$gen" 2>/dev/null | grep -c '\.morph\.')
		[ "$out" -ge 2 ] && ok "$name: readelf shows the new sections" || not_ok "$name: no new sections"
		check "$name: the same places are relocated" cmp <(relocated "$file") \
			<(relocated "$gen")
		out=$(readelf --debug-dump=frames-interp "$gen" 2>&1 >/dev/null | head -n 5)
		[ -z "$out" ] && ok "$name: readelf reads the unwind tables" || {
			not_ok "$name: readelf on the unwind tables"; note "$out"; }
	fi
	if have eu-elflint "$name: eu-elflint"; then
		new=$(comm -13 <(complaints "$file") <(complaints "$gen"))
		[ -z "$new" ] && ok "$name: eu-elflint has no new complaint" || {
			not_ok "$name: eu-elflint complains"; note "$new"; }
	fi
	if have ldd "$name: ldd"; then
		out=$(diff <(ldd "$file" | sed 's/(.*//' | sort) <(ldd "$gen" | sed 's/(.*//' | sort))
		[ -z "$out" ] && ok "$name: ldd agrees" || { not_ok "$name: ldd differs"; note "$out"; }
	fi
	[ $# = 0 ] && return
	if have gdb "$name: gdb"; then
		out=$(frames "$file" "$@") new=$(frames "$gen" "$@")
		[ "${out%% *}" -gt 2 ] && [ "$out" = "$new" ] &&
			ok "$name: gdb unwinds the same ${out%% *} frames" ||
			not_ok "$name: gdb sees frames '$new', in the original '$out'"
	fi
	if have strip "$name: strip"; then
		record_run "$T/before" "$gen" "$@"
		check "$name: strip works on it" strip "$gen"
		record_run "$T/after" "$gen" "$@"
		same_run "$name: stripped again" "$T/before" "$T/after"
	fi
}

look_at /usr/bin/perl perl -e '$| = 1; sub show { print "@_\n" } show(sort { $a <=> $b } 3, 1, 2)'
look_at /usr/bin/bash bash -c 'f() { echo "$1"; }; f hello'
look_at /usr/bin/sort sort /etc/passwd
look_at /usr/bin/gzip gzip -l /dev/null
look_at /usr/bin/git git --version
look_at /usr/bin/sqlite3 sqlite3 :memory: 'select 1'
f=$(library libsqlite3.so.0) && [ -n "$f" ] && look_at "$f" libsqlite3.so.0
f=$(library libc.so.6) && [ -n "$f" ] && look_at "$f" libc.so.6
done_testing
