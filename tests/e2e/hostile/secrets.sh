#!/bin/bash
# secrets.sh - a key that a sampled process held is nowhere in the daemon once the spool is taken in
#
# The process holds it in two registers, on its stack and where a third register points.  Looked for are
# its halves as they are in memory and as the first of a task in a spool (SLEB128), because the
# kernel and the spool put registers into an order and forms of their own.
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
[ -x "$B/tests/e2e/memgrep" ] || { echo "$B/tests/e2e/memgrep is missing"; exit 1; }
make_root
first=5ec2e7c0de5ec2e7 second=1d0b5e55ed5ca1ab		# as numbers
in_memory() { fold -w2 <<<"$1" | tac | tr -d '\n'; }
sleb() {		# NUMBER IN HEX, of 64 bits and positive
	local v=$((16#$1)) b out=
	while :; do
		b=$((v & 127)) v=$((v >> 7))
		((v == 0 && !(b & 64))) && break
		out+=$(printf '%02x' $((b | 128)))
	done
	echo "$out$(printf '%02x' "$b")"
}
halves=("$(in_memory $first)" "$(in_memory $second)" "$(sleb $first)" "$(sleb $second)")
make_holder() {		# NAME ITERATIONS DUMPABLE
	${CC:-cc} -nostdlib -static -Wa,--defsym,FIRST="$(printf '0x%x' $((~16#$first)))" \
		-Wa,--defsym,SECOND="$(printf '0x%x' $((~16#$second)))",--defsym,N="$2",--defsym,DUMPABLE="$3" -o "$root/bin/$1" tests/e2e/hostile/keyholder.s
}
make_holder holder 2000000000 1 || skip_all "no compiler"
make_holder open 1000000000000 1 && make_holder closed 1000000000000 0 || exit 1

found() { "$B/tests/e2e/memgrep" "$1" "${halves[@]}" | awk '{ print $1 + $2 + $3 + $4 }'; }
nowhere() {		# PID | FILE...
	local at n bad=0
	for at in "$@"; do
		n=$(found "$at") || bad=1
		[ "$n" = 0 ] || { echo "$n times in $at"; bad=1; }
	done
	return $bad
}
files_of() { find "$root/store" "$root/log" -type f ! -path '*/originals/*'; }
count() {		# KIND: of the samples, from the status
	ctl --json status 2>/dev/null | sed -n "s/.*\"kind\": \"$1\", \"count\": \([0-9]*\),.*/\1/p"
}

cat >>"$root/morph.yaml" <<-END
	monitor:
	  registers: on
	  stack_bytes: 64
	  memory: true
END
check_here "the daemon starts" start_daemon
monitor=$(role_pid monitor) manager=$(role_pid manager)
[ -n "$monitor" ] || { skip_all "it cannot sample here"; }

# What the monitor has written down of them so far, in its memory file.
written() {
	local fd sum=0
	for fd in /proc/"$monitor"/fd/*; do
		[[ $(readlink "$fd") = /memfd:morph-states* ]] && sum=$((sum + $(found "$fd")))
	done
	echo "$sum"
}
counted() { ctl --json status | sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" | head -n 1; }
taken_in
"$root/bin/closed" &
looper=$!
private=$(counted states_private)
check "one that is not to be dumped: that it was met is counted" within 30 eval \
	'sleep 0.5; [ "$(counted states_private)" -ge $((private + 250)) ]'
check "and nothing of it was taken" [ "$(written)" = 0 ]
kill "$looper"
wait "$looper" 2>/dev/null
taken_in
# while it runs, the monitor may be about to leave out what the kernel has handed it
check "nor is it in the monitor" nowhere "$monitor"
"$root/bin/open" &
looper=$!
check "the key of another one is found where it is" within 30 eval '[ "$(found "$looper")" -ge 3 ]'
check "and in what the monitor has written down" within 90 eval 'sleep 0.5; [ "$(written)" -ge 10 ]'
kill "$looper"
wait "$looper" 2>/dev/null
looper=
for i in 1 2 3; do
	"$root/bin/holder"
	check "the spool is taken in ($i)" taken_in
done
# What other processes hold goes on coming; a second time, and all that the key was in has gone by.
taken_in
interpreted() { taken_in && states=$(count states) && [ "${states:-0}" -ge 100 ]; }
check "registers of it were taken and interpreted" within 60 interpreted
check "the monitor does not hold it" nowhere "$monitor"
check "nor does the manager" nowhere "$manager"
check "nor a file of the store, nor the log" nowhere $(files_of)
check "they are the same processes still" [ "$(role_pid monitor) $(role_pid manager)" = "$monitor $manager" ]
parent=$(role_pid parent)
check "the parent never had it" nowhere "$parent"
check_here "the daemon ends" stop_daemon
check "nor is it in what is left" nowhere $(files_of)
done_testing
