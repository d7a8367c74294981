#!/bin/bash
# livedaemon.sh - the daemon puts a generation into a process that runs its original, and takes it out again
#
# A shell that answers without end, and whose answers never differ.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root dash
policy() {		# LIVE
	always_idle >"$root/morph.yaml"
	cat >>"$root/morph.yaml" <<-END
		monitor:
		  clock: cpu-clock
		  rate_hz: 2003
		  registers: off
		optimize:
		  automatic: false
		  min_samples: 20
		rules:
		  - {name: servers, paths: ["$root/bin/*"], live: $1, live_cpu_s: 1}
	END
}
# At work for as long as is asked before it gets a generation, and now and then from there on.
cat >"$root/loop" <<'END'
n=5000
while :; do
	while [ $n -gt 0 ]; do
		i=0 s=0 t=
		while [ $i -lt 200 ]; do
			case $((i % 7)) in [0-3]) s=$((s + i * 7919 % 1009)) ;; *) t=${t%x}y ;; esac
			i=$((i + 1))
		done
		echo "$s ${#t}"
		n=$((n - 1))
	done
	read tick || exit
	n=3
done
END
mkfifo "$root/never"
ticks() { while read -rt 0.02 || echo; do :; done <>"$root/never" 2>/dev/null; }	# as long as somebody reads them
servers=()
serve() {		# OUTPUT [COMMAND...]: its process is $pid
	ticks | "${@:2}" "$root/bin/dash" "$root/loop" >"$root/$1" 2>"$root/$1.err" 9>&- &
	pid=$!
	servers+=("$pid")
}
cleanup_all() { kill -9 "${servers[@]}" 2>/dev/null; cleanup; }
trap cleanup_all EXIT
goes_on() {		# OUTPUT: it grows, and all its lines are the same
	local before
	before=$(wc -l <"$root/$1")
	within 10 eval "[ \$(wc -l <'$root/$1') -gt $((before + 3)) ]" || { echo "no more lines"; return 1; }
	[ "$(sed '$d' "$root/$1" | sort -u | wc -l)" = 1 ] || { echo "lines differ"; sort "$root/$1" | uniq -c | head -5; return 1; }
	[ ! -s "$root/$1.err" ] || { cat "$root/$1.err"; return 1; }
}
has_new() { "$B/morph-live" look "$1" "$root/store/live" | grep -q .; }
has_old() { ! has_new "$1"; }
faster() { hasten; sleep 0.1; "$@"; }
gets() { within 30 faster has_new "$1" || { ctl history; tail -n 15 "$root/log"; return 1; }; }
gives_back() { within 15 has_old "$1" || { ctl history; tail -n 15 "$root/log"; return 1; }; }
history_has() { ctl history "$root/bin/dash" | grep -Eq "$1"; }
shows() { ctl --json status | grep -Eq "\"pid\": $1, \"user\": $2, \"path\": \"$root/bin/dash\", \"generation\": $3,"; }

policy off
check_here "a daemon" start_daemon
serve a
a=$pid
check "a process runs it, which is sampled" sampled dash 300 sleep 0.3
check "dash is laid out anew" ctl reoptimize "$root/bin/dash"
sleep 1.2
check "the process runs the original all the same" has_old "$a"
sed -i 's/live: off/live: sometimes/' "$root/morph.yaml"
check "what neither off nor on is is no policy" not ctl policy check "$root/morph.yaml"
policy on
check "the policy says that processes get generations" ctl policy reload
ctl policy show "$root/bin/dash" >"$root/shown"
check "which it shows of the file" grep -Eq "optimize.live +on" "$root/shown"
check "the process gets it, by the daemon alone" gets "$a"
check "and answers as before" goes_on a
check "status shows which process has what" within 10 shows "$a" 0 1
check "list has how many processes" test "$(listed dash processes)" = 1
check "and it is in the history" history_has "live +.*process $a runs generation 1: done"
check "the parent has said so itself" grep -qE "generation [0-9a-f]{16} of '$root/bin/dash' into process $a of user 0: done" "$root/log"
before=$(listed dash samples)
more_samples() { taken_in && after=$(listed dash samples) && [ "${after%.*}" -gt "$((${before%.*} + 200))" ]; }
check_here "its samples are dash's" within 60 more_samples
note "before $before and now $after"
outside() { ctl --json list | grep -F "\"$root/bin/dash\"" | sed -n 's/.*"outside": \([0-9.]*\).*/\1/p'; }
check "few of them are outside of its blocks" test "$(($(outside | cut -d. -f1) * 10))" -lt "${after%.*}"

# --- taken out ---

user=64032
as_user=(setpriv --reuid=$user --regid=$user --clear-groups)
chmod 711 "$root"
sees() { "${as_user[@]}" "$B/morphctl" --socket "$root/sock" --json status; }
if "${as_user[@]}" "$B/morphctl" --socket "$root/sock" status >/dev/null 2>&1; then
	check "who owns neither program nor process is not told of them" not grep -q "\"running\"\|$root/bin" <<<"$(sees)"
else
	skip "who owns neither program nor process is not told of them" "others cannot reach the socket here"
fi
check "the original comes back to the file" ctl restore "$root/bin/dash"
check "and to the process, at once" has_old "$a"
check "by the parent" grep -qE "generation [0-9a-f]{16} out of process $a: done" "$root/log"
check "which the history says" history_has "live out +.*process $a of user 0 runs the original"
check "the file is the original" cmp "$root/bin/dash" "$root/orig/dash"
serve c "${as_user[@]}"
c=$pid
serve d env LD_PRELOAD=libgcc_s.so.1
d=$pid
check "it answers as before" goes_on a
check "the user's process is sampled" sampled dash 300 sleep 0.3
check "laid out anew" ctl reoptimize "$root/bin/dash"
check "the process that is there longest gets it" gets "$a"
check "the user's gets it, too" gets "$c"
check "status has both" within 10 shows "$c" $user 2
check "both answer as before" goes_on c
check "one that may unwind its stack is refused, with the reason" within 20 \
	faster history_has "live refused +.*process $d: .*may unwind its stack"
before=$(grep -c "out of process $a: done" "$root/log")
check "it is laid out once more" ctl reoptimize "$root/bin/dash"
check "before that the processes gave back what they had" test "$(grep -c "out of process $a: done" "$root/log")" -gt "$before"
check "and get the new one" gets "$a"
check "both of them" gets "$c"

# --- killed ---

# It has the generation in turns: killed while it had not, it does not get it back.
killed_while_it_has() {		# PID
	for _ in {1..8}; do
		within 20 faster has_new "$1"
		kill -9 "$daemon"
		wait "$daemon" 2>/dev/null
		sleep 0.3
		has_new "$1" && return
		start_daemon
	done
}
killed_while_it_has "$a"
check "the daemon is killed: the process runs on" goes_on a
check "and has what it has" has_new "$a"
check_here "a new daemon" start_daemon
check "finds out who has what" within 20 shows "$a" 0 3
check "somebody takes it out of the other one" "$B/morph-live" off "$c" "$root/store/live"
check "and at once it is laid out once more, for others" ctl reoptimize "$root/bin/dash"
check "who get it" gets "$a"
sleep 2.5
check "but nobody puts that into this process, either" has_old "$c"
policy off
ctl policy reload
check "off by the policy takes it out" gives_back "$a"
policy on
ctl policy reload
for i in 1 2; do	# while it is at it
	within 10 faster has_new "$a"
	[ $i = 1 ] || { sleep 2.5; check "a new daemon leaves that process alone, too" has_old "$c"; }
	sleep "0.$((RANDOM % 10))"
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	[ $i = 2 ] || start_daemon
done
check "killed twice in the middle, all answer as before" goes_on a
check "and the other one" goes_on c
has_new "$a" || { start_daemon; killed_while_it_has "$a"; }

# --- without a daemon ---

"$B/morphctl" --socket "$root/sock" undo --store "$root/store" "$root/bin/dash" >"$root/said" 2>&1
check "undo without a daemon" same_file "$root/bin/dash" "$root/orig/dash"
check "takes it out of processes, too" has_old "$a"
check "of all of them" has_old "$c"
check "it says so" grep -q "out of process $a: done" "$root/said"
check "all answer as before" goes_on a
check "and the other one" goes_on c
# An entry that the kill has cut off is none: the next one takes its place.
check "nothing is left in the book" test -z "$(ls -A "$root/store/livebook" | grep -vx entry.new)"
done_testing
