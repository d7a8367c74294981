#!/bin/bash
# crash.sh - a process of a generation dies: the original comes back at once, and stays
#
# A program that dies as often without Morph is told apart.  Signals that a program handles are its
# own affair.
. tests/e2e/private.bash
. tests/e2e/kernel.bash
need_root
kernel_tells_signals || skip_all "this kernel has no tracepoint of signals"
make_root perl sort
work_sort() { LC_ALL=C "$root/bin/sort" "$root/data" >/dev/null; }
work_perl() { "$root/bin/perl" -e '$s += $_ * $_ % 7 for 1 .. 4e6'; }
die() { ("$root/bin/perl" -e '$x = unpack("P8", pack("Q", 1))') 2>/dev/null; }	# reads at address 1
killed() { ("$root/bin/perl" -e 'kill "SEGV", $$; sleep 1') 2>/dev/null; }
state_of() { ctl --json list | grep -F "\"$root/bin/$1\"" | sed -n 's/.*"state": "\([^"]*\)".*/\1/p'; }
is_original() { same_file "$root/bin/$1" "$root/orig/$1"; }
seq 300000 | shuf >"$root/data"
ulimit -c 0

check_here "a daemon" start_daemon
watched() { ctl status | grep -q "crash watch *on"; }
check "its monitor is told of signals" within 10 watched
[ "$tap_bad" = 0 ] || done_testing	# what follows is not to be had without
check "perl has samples" sampled perl 100 work_perl
check "sort has samples" sampled sort 100 work_sort
check "perl and sort are laid out anew" ctl reoptimize "$root/bin/perl" "$root/bin/sort"
check "perl is no longer the original" test "$(state_of perl)" = optimized

# A handler is the program's own affair.
check "perl handles a signal" "$root/bin/perl" -e '$SIG{SEGV} = sub { exit 0 }; kill "SEGV", $$; exit 1'
ctl reoptimize --dry-run "$root/bin/sort" >/dev/null	# takes the spool in
check "and stays" test "$(state_of perl)" = optimized

# What somebody sends is nobody's fault.
killed
ctl reoptimize --dry-run "$root/bin/sort" >/dev/null
check "perl is killed, and stays" test "$(state_of perl)" = optimized

die
check "perl dies: its original is back within 10 s, without anybody asking" within 10 is_original perl
# The file is back a moment before the Manager is told so.
killed_by="process [0-9]* of generation 1 was killed"
check "the history says why" within 10 eval 'ctl history "$root/bin/perl" | grep -q "crashed .*$killed_by by signal 11"'
check "so does the list" within 10 eval 'state_of perl | grep -q "^refused: $killed_by"'
check "sort, that it had not mapped, stays" test "$(state_of sort)" = optimized
work_perl
check "perl is not laid out anew" not ctl reoptimize "$root/bin/perl"
check "and the reason is told" grep -q "was killed by signal 11" \
	<<<"$(ctl reoptimize "$root/bin/perl" 2>&1)"
report=$(ctl --json report-bug perl | sed -n 's/.*"report": "\([^"]*\)".*/\1/p')
check "a report for its developers has all of it" test \
	"$(tar -tf "$report" | sort | tr '\n' ' ')" = "about generation history map original profile stats "
check "that nobody else can read" test "$(stat -c %a "$root/store/quarantine" "$report" | tr '\n' ' ')" = "700 600 "
mkdir "$root/kept"
check "it can be unpacked" tar -C "$root/kept" -xf "$report"
check "its original is the original" same_file "$root/kept/original" "$root/orig/perl"
check "its generation is one of it" "$B/morph-verify" "$root/kept/original" "$root/kept/generation"
check "its profile makes the generation anew" "$B/morph-edit" optimize "$root/kept/original" \
	--profile "$root/kept/profile" -o "$root/kept/again"
check "no report of what did not crash" grep -q "no generation of it has crashed" <<<"$(ctl report-bug sort 2>&1)"
check_here "ends" stop_daemon

# A program that dies as often by itself.
rm -rf "$root/store"
check_here "a daemon with a new store" start_daemon
check "its monitor is told of signals" within 10 watched
check "perl has samples" sampled perl 100 work_perl
for i in 1 2 3 4 5 6; do die; done
crashes() { ctl --json status | sed -n 's/.*"kind": "crashes", "count": \([0-9]*\).*/\1/p'; }
check "deaths of the original are seen" within 10 eval '[ "$(crashes)" -ge 6 ]' || note "$(crashes) of 6"
check "perl is laid out anew" ctl reoptimize "$root/bin/perl"
sleep 2
die
check "it dies as before: noted" within 10 eval 'ctl history "$root/bin/perl" | grep -q "its original died as often"'
check "and stays" test "$(state_of perl)" = optimized
check_here "ends" stop_daemon
done_testing
