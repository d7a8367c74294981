#!/bin/bash
# liveturns.sh - whether a generation stays is found out in processes that do not end, which have it in turns: one
# that is slower goes, one that is faster stays, whatever else the machine does
#
# The programs make their own CPU time for each line longer while a generation is mapped in them, or shorter.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root
for how in slow fast; do
	cp "$B/tests/e2e/slow_if_spliced" "$root/bin/$how"
	cp "$root/bin/$how" "$root/orig/$how"
done
always_idle >"$root/morph.yaml"
cat >>"$root/morph.yaml" <<-END
	monitor:
	  clock: cpu-clock
	  rate_hz: 2003
	  registers: off
	optimize:
	  automatic: false
	  min_samples: 20
	  live: on
	  live_cpu_s: 1
END
servers=()
serve() {		# PROGRAM: its process is $pid
	"$root/bin/$1" "$1" >"$root/$1.out" 2>&1 </dev/null 9>&- &
	pid=$!
	servers+=("$pid")
}
cleanup_all() { kill -9 "${servers[@]}" 2>/dev/null; cleanup; }
trap cleanup_all EXIT
has_new() { "$B/morph-live" look "$1" "$root/store/live" | grep -q .; }
gets() { hasten; sleep 0.1; has_new "$1"; }
history_has() { sleep 0.5; ctl history "$root/bin/$1" | grep -Eq "$2"; }
speed_of() { ctl --json list | grep -F "\"$root/bin/$1\"" | sed -n 's/.*"speed": "\([^"]*\)".*/\1/p'; }
tells() { within 400 history_has "$1" "$2" || { ctl history "$root/bin/$1"; tail -n 15 "$root/log"; return 1; }; }

check_here "a daemon" start_daemon
serve slow
check "a server is sampled" sampled slow 300 sleep 0.3
check "and laid out anew" ctl reoptimize "$root/bin/slow"
check "its process gets the generation" within 60 gets "$pid"
check "which makes it slower" tells slow "slower .*generation 1 against the original, in process $pid, in turns: slower, 0\.[0-9]+ \(0\.[0-9]+ to 0\.[0-9]+\) times as fast, [0-9]+ pairs, CPU time for each (read or write|byte read or written)"
check "so it goes from the process" not has_new "$pid"
check "and from the file" same_file "$root/bin/slow" "$root/orig/slow"
check "for good" not ctl reoptimize "$root/bin/slow"
kill "$pid"
serve fast
check "another server is sampled" sampled fast 300 sleep 0.3
check "and laid out anew" ctl reoptimize "$root/bin/fast"
check "its process gets the generation" within 60 gets "$pid"
check "which makes it faster" tells fast "faster .*generation 1 against the original, in process $pid, in turns: faster, [12]\.[0-9]+ \([12]\.[0-9]+ to [12]\.[0-9]+\) times as fast"
note "$(speed_of fast)"
check "the list says so" grep -Eq "^in turns: faster, [12]\.[0-9]+ \(.*\) times as fast, [0-9]+ pairs" <<<"$(speed_of fast)"
check "it stays in the process" within 10 has_new "$pid"
check "and at the path" not same_file "$root/bin/fast" "$root/orig/fast"
saved_by() {		# turns | ...: is there a saving of the program by that?
	taken_in >/dev/null
	ctl --json saved | jq -e --arg p "$root/bin/fast" --arg by "$1" \
		'[.saved[]? | select(.path == $p and .by == $by and .cpu_s > 0 and .low_s > 0)] | length == 1' >/dev/null
}
check "what it saves in that process is told" within 60 saved_by turns
note "$(ctl saved)"
before=$(grep -c "into process $pid of user 0, in turns: off" "$root/log")
sleep 5
check "there are no more turns" test "$before" = "$(grep -c "into process $pid of user 0, in turns: off" "$root/log")"
check "every line of it is the same" test "$(sed '$d' "$root/fast.out" | sort -u)" = same
check_here "the daemon ends" stop_daemon
done_testing
