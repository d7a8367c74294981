#!/bin/bash
# hardening.sh - the programs have what dpkg-buildflags' hardening=+all gives
#
# Looked for in what was linked, not in the flags.  A program that is built here without any of it must
# fail every one of the same looks.
. tests/tap.sh
unset MAKEFLAGS MAKELEVEL MFLAGS
B=${B:-build}
cc=${CC:-gcc}
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-hardening.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT

# --- the looks: each succeeds when PROGRAM has the property ---

position_independent() {
	readelf -hW "$1" | grep -q 'Type: *DYN ' && readelf -dW "$1" | grep -q '(FLAGS_1).* PIE'
}
bound_at_start() { readelf -dW "$1" | grep -Eq '\(FLAGS\).* BIND_NOW|\(BIND_NOW\)'; }
relocations_read_only() { readelf -lW "$1" | grep -q '^ *GNU_RELRO '; }
stack_protected() { readelf --dyn-syms -W "$1" | grep -q ' __stack_chk_fail[@ ]'; }
fortified() {
	readelf --dyn-syms -W "$1" | awk '$8 !~ /^__stack_chk/ && $8 ~ /^__[a-z_]*_chk(@|$)/ { n++ } END { exit !n }'
}
# Every global function is a place that indirect branches may come to.  The start-up code is the C
# library's, which for some releases is built without.
branches_marked() {
	{
		nm "$1" | awk '$2 == "T" && $3 != "_start" { print "global", $1 }'
		objdump -d --no-show-raw-insn -j .text "$1"
	} | awk '
	$1 == "global" { global[$2]; next }
	/^[0-9a-f]+ <.*>:$/ { at = $1; name = $2; next }
	at != "" && /^ / {
		if (at in global) {
			all++
			if ($2 == "endbr64")
				marked++
			else
				print name " does not begin with endbr64"
		}
		at = ""
	}
	END { exit !(all && marked == all) }'
}
cet_property() { readelf -nW "$1" | grep -q 'x86 feature:.*IBT.*SHSTK'; }

cat >"$T/any.c" <<-END
	#include <stdio.h>
	#include <string.h>
	int main(int argc, char **argv)
	{
		char text[64];
		strcpy(text, argv[argc - 1]);
		return puts(text) < 0;
	}
END
$cc -O2 -fcf-protection -fPIE -pie "$T/any.c" -o "$T/with" 2>"$T/log" &&
	$cc -O2 -U_FORTIFY_SOURCE -fno-stack-protector -fcf-protection=none -fno-PIE -no-pie \
		-Wl,-z,norelro,-z,lazy "$T/any.c" -o "$T/without" 2>>"$T/log" || {
	not_ok "$cc makes programs"
	note "$(cat "$T/log")"
	done_testing
}

looks="position_independent bound_at_start relocations_read_only stack_protected fortified branches_marked"
# The linker marks a program when all that it links is marked, the C library's start-up code as well.
if cet_property "$T/with"; then
	looks="$looks cet_property"
else
	skip_cet="what $cc links with every program here is without it"
fi
for look in $looks; do
	check "a program without: not ${look//_/ }" not $look "$T/without"
done

programs=$(make -s --no-print-directory B="$B" --eval='programs: ; @echo $(PROGRAMS)' programs)
check "the Makefile has programs" [ -n "$programs" ]
for p in $programs; do
	for look in $looks; do
		check "${p##*/}: ${look//_/ }" $look "$p"
	done
	# Not a skip: nothing that could be installed brings it.
	[ -z "${skip_cet:-}" ] || note "${p##*/}: no cet property, $skip_cet"
done
done_testing
