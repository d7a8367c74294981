#!/bin/bash
# perl.sh - perl with every eligible function moved
. tests/moving.sh
test_program /usr/bin/perl perl 120

# What takes machine code to pieces must know it, too: valgrind knows less than a processor does.
under_valgrind() {
	local script='my %n; $n{$_ % 7} += $_ for 1 .. 2000; print "$_ $n{$_}\n" for sort keys %n'
	if ! command -v valgrind >/dev/null; then
		skip "perl under valgrind" "this machine has no valgrind"
		return
	fi
	record_run "$T/before" /usr/bin/perl -e "$script"
	record_run "$T/after" valgrind -q --tool=none "$T/bin/perl" -e "$script"
	same_run "perl under valgrind" "$T/before" "$T/after"
}

[ ! -x "$T/bin/perl" ] || under_valgrind
done_testing
