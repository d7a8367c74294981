#!/bin/bash
# live.sh - generations go into running processes and out again, and nothing else of these changes
#
# LIVE_ROUNDS (default 12): swaps in and out of each program.  Every answer of a program is compared with the
# first one; tests/e2e/waits.c, flows.c and woken.c tell of system calls that ended otherwise than they should; the tool is
# killed at each of its system calls.
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
[ "$(id -u)" = 0 ] || skip_all "needs root to change other processes"
live=$B/morph-live
rounds=${LIVE_ROUNDS:-12}
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-live.XXXXXX") || exit 1
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$root"' EXIT
mkdir "$root/gen"
. tests/e2e/live.bash

# A pause is told that is part of the time since SINCE.
pause_is_right() {	# SINCE, in ns
	awk -v took=$(($(date +%s%N) - $1)) '/^done, pause [0-9]+ us/ { us = $3 } END { exit !(us > 0 && us * 1000 < took) }' \
		"$root/said" || { cat "$root/said"; return 1; }
}
swap() {		# NAME: in and out of process $pid, $rounds times
	local i since
	for ((i = 0; i < rounds; i++)); do
		since=$(date +%s%N)
		on "$pid" "$1" >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
		pause_is_right "$since" || return 1
		is_on "$pid" || { echo "not there"; return 1; }
		sleep 0.02
		off "$pid" >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
		is_on "$pid" && { echo "still there"; return 1; }
		sleep 0.02
	done
	on "$pid" "$1"
}
# OUTPUT: it grows, and all its lines are the same
goes_on() {
	local before
	before=$(wc -l <"$1")
	for _ in $(seq 100); do
		sleep 0.05
		[ "$(wc -l <"$1")" -gt "$((before + 2))" ] && break
	done
	[ "$(wc -l <"$1")" -gt "$((before + 2))" ] || { echo "no more lines"; cat "$1.err"; return 1; }
	[ "$(sed '$d' "$1" | sort -u | wc -l)" = 1 ] || { echo "lines differ"; sort "$1" | uniq -c | head -5; return 1; }
	[ ! -s "$1.err" ] || { cat "$1.err"; return 1; }
}

# --- programs at work ---

swaps() {		# NAME COMMAND...: program NAME is mapped by the command
	local name=$1
	shift
	start "$root/$name.out" "$@"
	sleep 0.3
	check "$name finds a place" fit "$name"
	check "$name is swapped $rounds times in and out, and in" swap "$name"
	check "every answer of $name is the same" goes_on "$root/$name.out"
	off "$pid" >/dev/null
	check "and so when it is out again" goes_on "$root/$name.out"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}
prepare perl perl 2>/dev/null || prepare perl /usr/bin/perl || not_ok "perl has a generation"
swaps perl "$root/perl" "$root/loop.pl"
if [ -x /usr/bin/python3.11 ] && prepare python /usr/bin/python3.11; then
	swaps python "$root/python" "$root/loop.py"
else
	skip "python with threads" "there is no python3.11, or it has no generation"
fi
lib=$(ldconfig -p | awk '/libsqlite3.so.0.*x86-64/ { print $NF; exit }')
if [ -x /usr/bin/sqlite3 ] && [ -n "$lib" ] && prepare libsqlite3.so.0 "$lib"; then
	mkfifo "$root/sql"
	(while cat "$root/loop.sql"; do :; done) >"$root/sql" 2>/dev/null &
	pids+=($!)
	swaps libsqlite3.so.0 env LD_LIBRARY_PATH="$root" sqlite3 -init /dev/null :memory: ".read $root/sql"
	kill "${pids[-2]}" 2>/dev/null
else
	skip "the library of sqlite3" "it is not there, or it has no generation"
fi

# A shell that waits for what is typed.
prepare bash /usr/bin/bash
mkfifo "$root/typed"
"$root/bash" <"$root/typed" >"$root/answers" 2>&1 9>&- &
pid=$!
pids+=("$pid")
exec 8>"$root/typed"
answers() {		# how many it has to give
	local i
	for i in $(seq 5); do
		on "$pid" bash >/dev/null || return 1
		echo "f() { local x=\$1; echo \"answer \$((x * 7))\"; }; f $i" >&8
		off "$pid" >/dev/null || return 1
	done
	sleep 0.3
	diff "$root/answers" <(for i in $(seq 5); do echo "answer $((i * 7))"; done)
}
check "bash, swapped while it waits for input, answers all" answers
exec 8>&-

# --- system calls ---

prepare waits "$B/tests/e2e/waits"
waiting=()
for how in main thread; do
	while read -r call later; do
		wait_in waits "$call" $how ${later:+1} &
		waiting+=($!)
		[ "$(jobs -rp | wc -l)" -lt 9 ] || sleep 0.4
	done < <("$root/waits")
done
wait "${waiting[@]}"
# A signal that comes in the microseconds in which another thread than the main one goes back to its call is not held
# off (doc/limits.md), and a busy machine makes them milliseconds: then once more, with nothing beside it.
for said in "$root"/wait.*-held.thread; do
	grep -q ^EPROTO "$said" && call=${said#*/wait.} && wait_in waits "${call%.thread}" thread
done
# Up to 800 ms more are for a machine with much to do; limits of select() and its kind grow by the pauses.  What a stop would change is not swapped, all else is.
while read -r call later; do
	for how in main thread; do
		said=$(cat "$root/wait.$call.$how") n=$(cat "$root/swaps.$call.$how")
		want=ok
		[ "${said% *}" != ENOSYS ] || { skip "$call in a $how thread" "the kernel does not let it"; continue; }
		case $call in sig*-limit|sem*-limit|recv-limit|read-limit|accept-limit) want=EAGAIN ;; futex*-limit) want=ETIMEDOUT ;; esac
		[ "${said% *}" = $want ] && [ "${said#* }" -ge 850 ] && [ "${said#* }" -le 1800 ] &&
			{ [ -n "$later" ] || [ "${n:-0}" -gt 0 ]; } &&
			ok "$call in a $how thread, swapped $n times: $said" ||
			not_ok "$call in a $how thread, swapped $n times: $said"
	done
done < <("$root/waits")

# Those that are at work while they are stopped do all of it, however often.
prepare flows "$B/tests/e2e/flows"
flows=()
for how in main thread; do
	while read -r call; do
		flow_in "$call" $how &
		flows+=($!)
		while [ "$(jobs -rp | wc -l)" -ge 4 ]; do sleep 0.1; done
	done < <("$root/flows")
done
wait "${flows[@]}"
while read -r call; do
	for how in main thread; do
		said=$(cat "$root/flow.$call.$how") n=$(cat "$root/swaps.$call.$how")
		if [ "$said" = none ]; then
			skip "$call in a $how thread" "the system has no such call"
		else
			[ "${said% *}" = ok ] && [ "$n" -gt 0 ] && ok "$call in a $how thread, swapped $n times: $said" ||
				not_ok "$call in a $how thread, swapped $n times: $said"
		fi
	done
done < <("$root/flows")

# Signals that the process ignores are not ignored where a thread is traced: they end no call of another thread.
prepare woken "$B/tests/e2e/woken"
wakes_nobody() {	# forks|signals
	local n=0 k
	for ((k = 0; k < 4 && n == 0; k++)); do
		start "$root/woken.out" "$root/woken" "$1" 3000
		sleep 0.1
		while kill -0 "$pid" 2>/dev/null; do
			on "$pid" woken --patience=100 >/dev/null 2>&1 && n=$((n + 1))
			off "$pid" --patience=100 >/dev/null 2>&1
		done
	done
	echo "swapped $n times: $(cat "$root/woken.out")"
	[ "$n" -gt 0 ] && grep -q "^ok" "$root/woken.out"
}
check "nobody is woken by what tells of a child" wakes_nobody forks
check "nor by a signal that is ignored" wakes_nobody signals

# Told to end, the tool waits until such a call is whole.
told() {
	local i
	start "$root/told.out" "$root/flows" send-much 6000
	sleep 0.1
	for ((i = 0; i < 200; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		timeout -s TERM "0.0$((RANDOM % 70 + 20))" "$live" on "$pid" "$root/flows.plan" "$root/gen/flows" --patience=100 >/dev/null 2>&1
		timeout -s INT "0.0$((RANDOM % 70 + 20))" "$live" off "$pid" "$root/gen" --patience=100 >/dev/null 2>&1
	done
	wait "$pid"
	grep ok "$root/told.out" || { cat "$root/told.out"; return 1; }
}
check "nor is one cut short when the tool is told to end" told

# --- killed ---

killed() {		# NAME STEP COMMAND...: a process of it, while the tool is killed at each STEPth system call
	local name=$1 step=$2 n=0 rc=0 way
	shift 2
	start "$root/$name.out" "$@"
	sleep 0.2
	for way in on off; do
		n=0
		rc=0
		[ $way = on ] || on "$pid" "$name" >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
		while [ $rc = 0 ] && [ $n -lt 400 ]; do
			n=$((n + step))
			"$B/tests/e2e/killat" $n "$live" $way "$pid" $([ $way = on ] && echo "$root/$name.plan" "$root/gen/$name" ||
				echo "$root/gen") >/dev/null 2>&1
			rc=$?
			sleep 0.01	# the last call of the process comes to its end
			kill -0 "$pid" 2>/dev/null || { echo "$way: it ended at $n"; return 1; }
			if [ $way = on ]; then
				off "$pid" >"$root/said" 2>&1
			else
				on "$pid" "$name" >"$root/said" 2>&1
			fi || { cat "$root/said"; return 1; }
		done
		[ $rc = 1 ] && [ $n -gt 40 ] || { echo "$way: it was killed $n times, then $rc"; return 1; }
	done
	kill "$pid"
	wait "$pid"
	rc=$?
	[ $rc = 0 ] || { echo "it ended with $rc"; return 1; }
}
prepare steady "$B/tests/e2e/steady"
check "registers, masks and stacks survive a tool killed anywhere" killed steady 1 "$root/steady" registers
check "so does the mask of a thread whose call has another one" killed steady 1 "$root/steady" waits
check "and so does one at work, with system calls" killed steady 3 "$root/steady" count

# --- counting ---

# A process that is at work counts for a while.  Two functions that it calls in turn were called as often.
counts() {
	local at
	start "$root/counts.out" "$root/steady" count
	sleep 0.2
	"$B/morph-edit" instrument --private "$root/steady" -o "$root/gen/counting" --counts "$root/counts" &&
		"$B/morph-verify" --live --counting "$root/steady" "$root/gen/counting" >"$root/counting.plan" || return 1
	on "$pid" counting && sleep 0.3 && off "$pid" || return 1
	"$live" counters "$pid" "$root/counting.plan" "$root/gen/counting" >"$root/counters" || return 1
	on "$pid" counting && off "$pid" || return 1	# what it has of it is not in the way
	at=$(od -An -t u8 -j 88 -N 8 "$root/counts") || return 1
	dd if="$root/counters" of="$root/counts" bs=4096 seek=$((at / 4096)) conv=notrunc 2>/dev/null
	printf '\1' | dd of="$root/counts" bs=1 seek="$((at))" conv=notrunc 2>/dev/null
	"$B/morph-edit" counts "$root/steady" "$root/counts" -o "$root/counted.profile" || return 1
	kill "$pid"
	wait "$pid" || { echo "it ended with $?"; return 1; }
	nm "$root/steady" | awk -v blocks="$root/counted.profile" '
		$3 == "is_odd" || $3 == "count_digits" { sub(/^0*/, "0x", $1); name[$1] = $3 }
		END {
			while ((getline line < blocks) > 0)
				if (split(line, f, " ") > 2 && f[1] == "block" && f[2] in name) n[name[f[2]]] = f[3]
			print n["is_odd"], n["count_digits"]
			d = n["is_odd"] - n["count_digits"]
			exit !(n["is_odd"] > 1000 && d >= -1 && d <= 1)
		}'
}
counters() { "$live" counters "$pid" "$root/$1.plan" "$root/gen/$1" 2>&1; }
check "a process that runs counts exactly, and stops" counts
start "$root/counts.out" "$root/steady" count
sleep 0.1
check "one that never counted has no counters" grep -q "never counted" <(counters counting)
check "nor has a generation that does not count" grep -q "does not count" <(counters steady)
# In, and out again, by one run of the tool.
burst() { "$live" count "$pid" "$root/counting.plan" "$root/gen/counting" "$root/burst" "$@" 2>&1; }
is_out() { ! is_on "$pid" 2>/dev/null; }
check "it counts for a while" eval 'burst --for=300 >"$root/said" && is_out && cat "$root/said" &&
	awk "{ exit !(\$1 == \"counted\" && \$2 >= 300 && \$6 > 0) }" "$root/said" && [ "$(od -An -v -t u8 "$root/burst" | awk "{ n += \$1 + \$2 } END { print (n > 1000) }")" = 1 ]'
burst --for=60000 >"$root/said" &
teller=$!
within_5() { local i; for i in $(seq 50); do "$@" && return; sleep 0.1; done; return 1; }
check "and for longer" within_5 is_on "$pid"
pkill -TERM -P "$teller" 2>/dev/null || kill "$teller"
check "told to end, it is taken out first" within_5 is_out
wait "$teller"
check "and what was counted so far is there" grep -q "^counted [0-9]* ms" "$root/said"
burst >/dev/null
check "how long must be said" test $? = 2
killed_counting() {
	local n=0 rc=0
	while [ $rc = 0 ] && [ $n -lt 100000 ]; do
		n=$((n + 3 + n / 8))
		"$B/tests/e2e/killat" $n "$live" count "$pid" "$root/counting.plan" "$root/gen/counting" "$root/burst" --for=1 >/dev/null 2>&1
		rc=$?
		sleep 0.01
		kill -0 "$pid" 2>/dev/null || { echo "it ended at $n"; return 1; }
		off "$pid" >"$root/said" 2>&1 || { cat "$root/said"; return 1; }
	done
	[ $rc = 1 ] && [ $n -gt 60 ] || { echo "it was killed $n times, then $rc"; return 1; }
}
check "killed anywhere, the process goes on, and can be taken out" killed_counting
# What a process forks has the same text as it.
forks_are_out() {
	local at= child gen=$root/gen/forking server
	cp /bin/dash "$root/dash" && mkfifo "$root/fifo" || return 1
	start "$root/forks.out" "$root/dash" -c "while :; do i=0; while [ \$i -lt 2000 ]; do i=\$((i + 1)); done
		[ -e '$root/go' ] && { rm '$root/go'; (read x <'$root/fifo'; echo \$x) & }; done"
	server=$pid
	sleep 0.2
	until [ "$at" = fits ]; do
		"$B/morph-edit" instrument --private ${at:+--text-at=0x$at} "$root/dash" -o "$gen" --counts "$root/counts" &&
			"$B/morph-verify" --live --counting "$root/dash" "$gen" >"$gen.plan" &&
			at=$("$live" room "$server" "$gen.plan" "$gen") || return 1
	done
	mv "$gen.plan" "$root/forking.plan"
	"$live" count "$server" "$root/forking.plan" "$gen" "$root/burst" --for=3000 >"$root/said" 2>&1 &
	local counting=$!
	within_5 is_on "$server" || { cat "$root/said"; return 1; }
	touch "$root/go"
	within_5 eval '[ ! -e "$root/go" ]' && sleep 0.3
	child=$(pgrep -P "$server")
	is_on "$child" || { echo "the child $child has not got it"; return 1; }
	wait "$counting" || { cat "$root/said"; return 1; }
	is_on "$server" && { echo "the server counts"; return 1; }
	is_on "$child" && { echo "the child counts"; return 1; }
	echo well >"$root/fifo"
	within_5 grep -q well "$root/forks.out" || { echo "the child $child does not run on"; return 1; }
	kill "$server"
}
# A fork keeps what it was forked with, until it is taken out of all.
all_are_out() {
	local server child
	[ -p "$root/fifo" ] || mkfifo "$root/fifo"
	cp /bin/dash "$root/shell" && prepare shell "$root/shell" || return 1
	start "$root/all.out" "$root/shell" -c "while :; do i=0; while [ \$i -lt 2000 ]; do i=\$((i + 1)); done
		[ -e '$root/go' ] && { rm '$root/go'; (read x <'$root/fifo'; echo well) & }; done"
	server=$pid
	sleep 0.2
	fit shell && on "$server" shell || return 1
	touch "$root/go"
	within_5 eval '[ ! -e "$root/go" ]' && sleep 0.3
	child=$(pgrep -P "$server")
	off "$server" || return 1
	is_on "$server" && { echo "the server has it"; return 1; }
	is_on "$child" || { echo "the child $child has not got it"; return 1; }
	fails 0 "^done, pause [0-9]* us, processes 1$" "$live" off-all "$root/gen/shell" || return 1
	is_on "$child" && { echo "the child has it"; return 1; }
	fails 0 "^done, pause 0 us, processes 0$" "$live" off-all "$root/gen/shell" || return 1
	# who cannot give it back does not keep the others from it
	on "$server" shell && touch "$root/go" || return 1
	within_5 eval '[ ! -e "$root/go" ]' && sleep 0.3
	child=$(pgrep -n -P "$server")
	kill -STOP "$server" && sleep 0.1
	fails 3 "^morph-live: process $server: .*stopped" "$live" off-all "$root/gen/shell" --patience=300 || return 1
	is_on "$child" && { echo "the child has it still"; return 1; }
	kill -CONT "$server"
	fails 0 "^done, pause [0-9]* us, processes 1$" "$live" off-all "$root/gen/shell" || return 1
	# Opened for both: who opens it for writing alone waits for ever if both have read of the first time.
	exec 9<>"$root/fifo"
	printf '\n\n' >&9
	within_5 eval '[ "$(grep -c well "$root/all.out")" = 2 ]' || return 1
	exec 9>&-
	kill "$server"
}
kill "$pid"
check_here "and its registers were the same all the time" wait "$pid"
check_here "what a process forks meanwhile is out as well" forks_are_out
wait "$pid"
check_here "and so is what it has forked, when it is taken out of all" all_are_out
wait "$pid"

# --- where a thread stands ---

# WHERE: nothing is swapped while the process stands there, and with SIGUSR1 it goes on to its end.
# NAME: on $pid; what is said, and the exit code.  On a busy machine its main thread may not get that far at
# once, nor the others stop in time: then it is asked again.
asked() {
	local said code
	for _ in {1..50}; do
		said=$(on "$pid" "$1" --patience=200 2>&1)
		code=$?
		grep -q "does not come to a CPU in time\|its threads do not stop in time" <<<"$said" || break
	done
	echo "$said"
	return $code
}
stands() {
	local said rc
	start "$root/stands.out" "$root/steady" "$1"
	sleep 0.2
	said=$(asked steady)
	[ $? = 3 ] && grep -q "stands where the text changes" <<<"$said" || { echo "$said"; return 1; }
	[ "$1" = call ] || { kill -USR1 "$pid" && sleep 0.1 && on "$pid" steady; } || return 1
	sleep 0.1
	kill "$pid"
	wait "$pid"
	rc=$?
	[ $rc = 0 ] || { echo "it ended with $rc"; return 1; }
}
is_stopped() { [[ $(<"/proc/$pid/stat") == *") T "* ]]; }
not_stopped() { ! is_stopped; }
within_2s() { local i; for ((i = 0; i < 200; i++)); do "$@" && return; sleep 0.01; done; return 1; }
# Stops that others ask for are not lost while calls are made in the process.
stop_once() {
	kill -STOP "$pid"
	within_2s is_stopped || { echo "a stop was lost"; return 1; }
	kill -CONT "$pid"
	sleep 0.00$((RANDOM % 9))
}
# Nor is what ends a stop, when it comes while the stop has not been told yet.
stop_for_nothing() {
	kill -STOP "$pid"
	kill -CONT "$pid"
	within_2s not_stopped || { echo "it is still stopped"; return 1; }
}
while_swapped() {	# COMMAND: again and again, while the process is swapped as often as can be
	local end=$((SECONDS + 4)) last=$((SECONDS + 60)) n=0 rc
	start "$root/stops.out" "$root/steady" count
	(while kill -0 "$pid"; do on "$pid" steady --patience=50; off "$pid" --patience=50; done) >/dev/null 2>&1 &
	pids+=($!)
	while [ $SECONDS -lt $end ] || { [ $n -le 20 ] && [ $SECONDS -lt $last ]; }; do
		"$1" || { echo "after $n"; kill -9 "$pid"; return 1; }
		n=$((n + 1))
	done
	kill "${pids[-1]}"
	wait "${pids[-1]}" 2>/dev/null
	kill "$pid"
	wait "$pid"
	rc=$?
	[ $rc = 0 ] && [ $n -gt 20 ] || { echo "it ended with $rc after $n stops"; return 1; }
}
check "no stop is lost" while_swapped stop_once
check "nor that it was ended" while_swapped stop_for_nothing
# A process that cannot be stopped is waited for; what stops late is not held for longer.
slow() {
	start "$root/slow.out" "$root/steady" slow
	sleep 0.3
	on "$pid" steady --patience=20000 && is_on "$pid" || return 1
	kill "$pid"
	wait "$pid"
}
held() {
	local rc
	start "$root/held.out" "$root/steady" held
	sleep 0.3
	on "$pid" steady --patience=20000 >"$root/said" 2>&1
	wait "$pid"
	rc=$?
	[ $rc = 0 ] || { echo "it ended with $rc: $(cat "$root/said")"; return 1; }
}
"$root/steady" held
if [ $? = 77 ]; then
	skip "a process that cannot be stopped" "the kernel has no userfaultfd"
else
	check "what cannot be stopped just now is swapped later" slow
	check "a thread that stops late is not held" held
fi
check "nothing is swapped below a handler that returns into an entry" stands handler
check "nor where a call would be made again there" stands call

# --- refusals ---

echo 'int main(int argc, char **argv) { return argc > 3 ? argv[1][0] : 0; }' >"$root/static.c"
if ${CC:-cc} -static -o "$root/static" "$root/static.c" 2>/dev/null; then
	prepare static "$root/static" 2>"$root/said"
	check "a static program is refused" grep -q "a static program\|exceptions may pass" "$root/said"
else
	skip "a static program" "none can be linked here"
fi
if ${CC:-cc} -O2 -pie -Wl,-z,noseparate-code -o "$root/joined" "$root/static.c" 2>/dev/null; then
	prepare joined "$root/joined" 2>"$root/said"
	check "a program with headers in its code is refused" grep -q "headers are in the segment" "$root/said"
fi

refused() {		# REASON NAME: on $pid
	local said code
	sleep 0.2
	said=$(asked "$2")
	code=$?
	[ $code = 3 ] && grep -q "$1" <<<"$said" || { echo "$said"; return 1; }
}
kernel_is() { uname -r | awk -F. -v a="$1" -v b="$2" '{ exit !($1 > a || ($1 == a && $2 + 0 >= b)) }'; }
refuses() {		# NAME REASON COMMAND...
	local name=$1 reason=$2
	shift 2
	start "$root/refused.out" "$@"
	check "$name is refused" refused "$reason" steady
	pkill -9 -P "$pid" 2>/dev/null
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
start "$root/filtered.out" "$root/steady" service
sleep 0.2
check "a process whose filters of system calls allow it is swapped" swap steady
kill -9 "$pid"
start "$root/filtered.out" "$root/steady" naps
sleep 0.2
check "so is one with a thread whose own do not allow what the kernel goes on with" swap steady
check "and it goes on" eval 'sleep 0.1 && kill -0 $pid'
kill -9 "$pid"
refuses "one whose filters do not" "seccomp.*cannot map the file" "$root/steady" seccomp
start "$root/filtered.out" "$root/steady" seccomp
sleep 0.2
check "and it is not ended for it" eval '! on $pid steady 2>/dev/null && sleep 0.1 && kill -0 $pid && ! is_on $pid'
kill -9 "$pid"
start "$root/refused.out" "$root/steady" dispatch
sleep 0.1
if ! kill -0 "$pid" 2>/dev/null || ! kernel_is 6 4; then
	skip "one that handles system calls itself" "the kernel cannot do so, or does not tell"
else
	check "one that handles system calls itself is refused" refused "user dispatch" steady
fi
kill -9 "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
refuses "one without room for new text" "the place of new text, 0x[0-9a-f]*, is taken" "$root/steady" crowded
start "$root/refused.out" "$root/steady" crowded
sleep 0.2
check "nor is there another one for it" eval '
	said=$("$live" room $pid "$root/steady.plan" "$root/gen/steady" 2>&1); [ $? = 3 ] && grep -q "no room for new text near it" <<<"$said"'
kill -9 "$pid"
start "$root/refused.out" "$root/steady" compat
sleep 0.2
if kill -0 "$pid" 2>/dev/null; then
	check "one with a thread in 32-bit code is refused" refused "runs 32-bit code\|runs, perhaps in a system call" steady	# the second where it hardly comes to a CPU
	check "and goes on" kill -0 "$pid"
else
	skip "one with a thread in 32-bit code" "the kernel runs none"
fi
kill -9 "$pid" 2>/dev/null
# Other namespaces do not matter: files are known by what is mapped, and processes by their numbers here.
start "$root/spaces.out" unshare --mount --pid --fork "$root/steady" count
sleep 0.3
if pid=$(pgrep -P "$pid") && [ "$(readlink "/proc/$pid/ns/pid")" != "$(readlink /proc/self/ns/pid)" ]; then
	pids+=("$pid")
	check "a process in other mount and PID namespaces is swapped" swap steady
	kill "$pid"
else
	skip "a process in other mount and PID namespaces" "none can be made here"
fi
refuses "one that is not dumpable" "not dumpable\|changed its user" setpriv --reuid=65534 --clear-groups "$root/steady" private
refuses "one with locked memory" "locks memory" "$root/steady" locked
refuses "one that wrote to its text" "its own or locked" "$root/steady" own-text
# What was written into text that is ours is neither lost nor run into; what was put right again does not matter.
start "$root/written.out" "$root/steady" count
sleep 0.2
byte() {		# ADDRESS "\xNN": into the memory of process $pid
	printf "$2" | dd of="/proc/$pid/mem" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
on "$pid" steady >/dev/null
read -r text_size new_at new_size < <(awk '/^text/ { t = $3 } /^new .* rx$/ { print t, $2, $3; exit }' "$root/steady.plan")
text_at=$((0x$("$live" look "$pid" "$root/gen" | cut -d' ' -f1)))
new_at=$((text_at + 0x$new_at - 0x$(sed -n 's/^text \([0-9a-f]*\) .*/\1/p' "$root/steady.plan")))
new_last=$((new_at + 0x$new_size - 1)) text_last=$((text_at + 0x$text_size - 1))	# both behind all code
byte $text_last '\xcc'
check "what was written into its text is not taken away" eval '
	said=$(off $pid --patience=200 2>&1); [ $? = 3 ] && grep -q "somebody wrote into text" <<<"$said" && is_on $pid'
byte $text_last '\x00'
check "once it is as it was, it is" off "$pid"
byte $new_last '\xcc'
check "what was written into new text is not run into" refused "somebody wrote into text" steady
byte $new_last '\x00'
check "until it is as it was" on "$pid" steady
# A folder or a file is the same by each of its names, and also when it is gone.
named() {		# NAME, from $root
	(cd "$root" && [ -n "$("$live" look "$pid" "$1")" ] && "$live" list "$1" | grep -q "^$pid ") || { echo "not found: $1"; return 1; }
}
names() {
	ln -s gen "$root/link" && mkdir -p "$root/other" && cp "$root/gen/steady" "$root/kept" || return 1
	named gen && named ./gen/ && named gen/steady && named other/../gen && named "$root/link" && named "$root/gen/" || return 1
	(cd "$root/gen" && [ -n "$("$live" look "$pid" .)" ] && [ -n "$("$live" look "$pid" steady)" ]) || return 1
	(cd "$root" && [ -z "$("$live" look "$pid" other)" ]) || return 1
	rm "$root/gen/steady"
	named gen/steady && named gen && named "$root/gen/steady" || return 1
	(cd "$root" && fails 0 "^done, pause" "$live" off "$pid" gen/steady && fails 1 "'no/where': No such file" "$live" off "$pid" no/where) || return 1
	mv "$root/kept" "$root/gen/steady"
}
check "a folder has many names" names
on "$pid" steady >/dev/null
kill "$pid"
wait "$pid" && ok "and all goes on" || not_ok "and all goes on"
# Cancelling threads, by handlers that are registered.
prepare cancelled "$B/tests/e2e/cancelled"
start "$root/cancelled.out" "$root/cancelled"
sleep 0.2
fit cancelled
cancels() { for ((i = 0; i < rounds; i++)); do on "$pid" cancelled --nobody-catches && sleep 0.03 && off "$pid" || return; done; on "$pid" cancelled --nobody-catches; }
check "one that cancels threads is swapped $rounds times" cancels
check "and their handlers run all the same" goes_on "$root/cancelled.out"
kill -9 "$pid"
if ${CC:-cc} -O2 -fexceptions -o "$root/unwinds" tests/e2e/cancelled.c 2>/dev/null && prepare unwinds "$root/unwinds" 2>"$root/said"; then
	not_ok "one whose handlers are found by unwinding is refused"
else
	check "one whose handlers are found by unwinding is refused" grep -q "exceptions may pass" "$root/said"
fi
refuses "one that waits for a vfork child" "same memory" "$root/steady" vfork
# Between vfork() and its end is no moment, but behind it.
start "$root/spawns.out" "$root/steady" spawns
sleep 0.2
check "one that often has a vfork child is swapped $rounds times" swap steady
kill "$pid"
check_here "and ends as it should" wait "$pid"
start "$root/forked.out" "$root/steady" vfork
sleep 0.2
(sleep 0.5; pkill -9 -P "$pid") &
check "one is waited for until its vfork child has ended" on "$pid" steady --patience=10000
pkill -9 -P "$pid" 2>/dev/null
kill "$pid"
check_here "and goes on" wait "$pid"
refuses "one whose main thread has ended" "has ended" "$root/steady" ended
refuses "one that is stopped" "is stopped" "$root/steady" stopped
refuses "one with an unwinder" "may unwind" env LD_PRELOAD=libgcc_s.so.1 "$root/steady" count
echo 'int dl_iterate_phdr(void *, void *); int look(void *f) { return dl_iterate_phdr(f, f); }' >"$root/own.c"
${CC:-cc} -shared -fPIC -o "$root/own.so" "$root/own.c"
refuses "one with an unwinder that is linked in" "may unwind its stack (by code in" env LD_PRELOAD="$root/own.so" "$root/steady" count
refuses "one that runs another program" "is not mapped" sleep 9
chmod u+s "$root/steady"
refuses "a set-id program" "set-id\|not dumpable" setpriv --reuid=65534 --clear-groups "$root/steady" count
chmod u-s "$root/steady"
"$B/tests/e2e/killat" 1000000 "$root/steady" count & tracer=$!
sleep 0.3
pid=$(pgrep -P $tracer)
check "one that is traced is refused" refused "another tracer" steady
disown $tracer
kill -9 $tracer "$pid"
done_testing
