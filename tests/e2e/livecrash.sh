#!/bin/bash
# livecrash.sh - a process dies that the daemon had put a generation into: the others give theirs back, and the
# program's file is the original again
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/e2e/kernel.bash
need_root
kernel_tells_signals || skip_all "this kernel has no tracepoint of signals"
make_root perl
always_idle >"$root/morph.yaml"
cat >>"$root/morph.yaml" <<-END
	monitor:
	  clock: cpu-clock
	  rate_hz: 2003
	  registers: off
	optimize:
	  automatic: false
	  live: on
	  live_cpu_s: 1
END
# On a signal it reads at address 1.
cat >"$root/loop.pl" <<'END'
$| = 1;
$SIG{USR1} = sub { my $x = unpack("P8", pack("Q", 1)) };
while (1) { my %h; $h{"k$_"} = $_ * 3 for 1 .. 500; my $s = 0; $s += $h{$_} for sort keys %h; print "$s\n"; }
END
ulimit -c 0
servers=()
serve() {
	"$root/bin/perl" "$root/loop.pl" >"$root/out.${#servers[@]}" 2>&1 </dev/null 9>&- &
	servers+=("$!")
}
end_all() { kill -9 "${servers[@]}" 2>/dev/null; cleanup; }
trap end_all EXIT
has_new() { "$B/morph-live" look "$1" "$root/store/live" | grep -q .; }
gets() { hasten; sleep 0.1; has_new "$1"; }
serve
serve
check_here "a daemon" start_daemon
watched() { ctl status | grep -q "crash watch *on"; }
check "its monitor is told of signals" within 10 watched
check "perl is sampled" sampled perl 300 sleep 0.3
check "and laid out anew" ctl reoptimize "$root/bin/perl"
check "one process gets its generation" within 30 gets "${servers[0]}"
check "so does another one" within 30 gets "${servers[1]}"
[ "$tap_bad" = 0 ] || done_testing	# what follows is about these
ctl status --sync >/dev/null
kill -USR1 "${servers[1]}"
wait "${servers[1]}" 2>/dev/null
is_back() { same_file "$root/bin/perl" "$root/orig/perl"; }
check "one of them dies: the file is the original within 10 s, without anybody asking" within 10 is_back
check "the other one has given it back by then" not has_new "${servers[0]}"
check "the history says why" grep -q "crashed .*process ${servers[1]} of generation 1 was killed by signal 11" <<<"$(ctl history "$root/bin/perl")"
report=$(ctl --json report-bug perl | sed -n 's/.*"report": "\([^"]*\)".*/\1/p')
check "the report has what the processes ran" grep -q "^live-[0-9a-f]*$" <<<"$(tar -tf "$report")"
sleep 2.5
check "the other one does not get it again" not has_new "${servers[0]}"
kill -9 "${servers[0]}"
wait "${servers[0]}" 2>/dev/null
check "its answers were the same all the time" test "$(sed '$d' "$root/out.0" | sort -u | wc -l)" = 1
check_here "the daemon ends" stop_daemon
done_testing
