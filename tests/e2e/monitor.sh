#!/bin/bash
# monitor.sh - the Monitor on the real kernel: shares of samples, short lives, a full ring, pause,
# its own processes, one command alone
#
# run.sh: timed
. tests/tap.sh

driver=$(realpath "$B/tests/e2e/monitor_driver")
[ "$(id -u)" = 0 ] || skip_all "needs root to sample all processes"
dir=$(mktemp -d "${TMPDIR:-/tmp}/morph-monitor.XXXXXX") || exit 1
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
"$driver" record "$dir/try" auto 251 true 2>"$dir/why" || skip_all "$(cat "$dir/why")"

value() {		# NAME FILE: the last value of that name
	awk -v name="$1" '$1 == name { v = $2 } END { print v }' "$2"
}

# Starts a monitor with its commands on descriptor 7, its answers in $dir/NAME.out.
start() {		# NAME CLOCK DRAIN_S [-n]
	mkdir "$dir/$1"
	mkfifo "$dir/$1.in"
	${shifted:-} "$driver" run "$dir/$1" "$2" "$3" $4 <"$dir/$1.in" >"$dir/$1.out" 2>&1 &
	pids+=($!)
	exec 7>"$dir/$1.in"
	ask flush
	await "$1" flushed 1
}

ask() {			# COMMAND
	echo "$1" >&7
}

await() {		# NAME WORD COUNT: until that many answers of the word have come, or 20 s
	local i
	for i in $(seq 400); do
		[ "$(grep -c "^$2" "$dir/$1.out")" -ge "$3" ] && return 0
		sleep 0.05
	done
	return 1
}

stop() {		# NAME
	ask stop
	exec 7>&-
	wait "${pids[-1]}"
	unset 'pids[-1]'
	"$driver" sum "$dir/$1"/*.spool >"$dir/$1.sum"
	"$driver" dump "$dir/$1"/*.spool >"$dir/$1.dump"
}

# Shares of two loops of 30 and 70 % of the time, from a dump; both loops and their counts.
shares() {		# SPIN_OUTPUT DUMP
	awk '
	function hex(s,  i, v) {
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	FNR == NR { v[$1] = $2; next }
	$2 == "sample" && $3 == v["pid"] && $6 != "kernel" {
		d = hex($5) - hex(tolower(v["first"])); e = hex($5) - hex(tolower(v["second"]))
		if (d >= 0 && (d < e || e < 0) && d < 4096) first++
		else if (e >= 0 && e < 4096) second++
		else other++
	}
	END { print first + 0, second + 0, other + 0 }' "$1" "$2"
}

share_is_30() {		# FIRST SECOND OTHER
	echo "first $1, second $2, other $3"
	[ $(($1 + $2)) -ge 300 ] && [ $((100 * $1)) -ge $((23 * ($1 + $2))) ] &&
		[ $((100 * $1)) -le $((37 * ($1 + $2))) ] && [ $((20 * $3)) -le $(($1 + $2)) ]
}

# A process that is there, and no longer its shell, when a monitor starts.
run_before() {
	local i
	: >"$dir/before"
	"$driver" rests >"$dir/before" &
	pids+=($!)
	before=$!
	for i in $(seq 400); do
		[ -s "$dir/before" ] && break
		sleep 0.05
	done
}

has() {			# FILE LINE_PATTERN: at least one line
	grep -qE "$2" "$1"
}

for clock in tick cpu-clock; do
	if ! "$driver" record "$dir/try" $clock 251 true 2>"$dir/why"; then
		skip "two loops of 30 and 70 % ($clock)" "$(cat "$dir/why")"
		continue
	fi
	start $clock $clock 1
	"$driver" spin 30 2000 >"$dir/spin"
	stop $clock
	check "two loops of 30 and 70 % ($clock)" share_is_30 $(shares "$dir/spin" "$dir/$clock.dump")
	check "the clock in use is told ($clock)" test "$(value clock "$dir/$clock.out")" = $clock
	check "times never go backwards ($clock)" test "$(value backwards "$dir/$clock.sum")" = 0
	check "nothing unknown, malformed or failed ($clock)" test \
		"$(value unknown "$dir/$clock.out") $(value malformed "$dir/$clock.out") $(
		value write_errors "$dir/$clock.out") $(value bad_blocks "$dir/$clock.sum")" = "0 0 0 0"
	check "told and written samples are as many ($clock)" test \
		"$(value samples "$dir/$clock.out")" = "$(value sample "$dir/$clock.sum")"
done

# Where tracefs is not mounted, root has its ids all the same, and no mount is to be seen; without
# the right to that, another clock is taken, and it is said why not the tick.
unseen() {		# COMMAND...: in mounts of its own, without tracefs
	unshare --mount sh -c 'while umount -l /sys/kernel/tracing; do :; done 2>/dev/null
		while umount -l /sys/kernel/debug; do :; done 2>/dev/null; exec "$@"' sh "$@"
}
if ! unseen true 2>/dev/null; then
	skip "tracefs without a mount" "no mount namespaces"
elif ! unshare --mount mount -t tracefs tracefs /sys 2>/dev/null; then
	skip "tracefs without a mount" "this kernel has none"
else
	check "the tick without tracefs mounted" unseen "$driver" record "$dir/log" tick 251 \
		cp /proc/self/mounts "$dir/mounts"
	check "mounts are to be seen in there" grep -q " /proc proc" "$dir/mounts"
	check "but no tracefs" not grep -q tracefs "$dir/mounts"
	check "without rights there is no tick" not unseen setpriv --bounding-set=-sys_admin \
		"$driver" record "$dir/log" tick 251 true
	check "and the reason is told" grep -q "tick: tracefs is not mounted.*not permitted" <(
		unseen setpriv --bounding-set=-sys_admin "$driver" record "$dir/log" tick 251 true 2>&1)
	check "there is another clock" unseen setpriv --bounding-set=-sys_admin \
		"$driver" record "$dir/log" auto 251 true
fi

# In a time namespace clocks are others than the kernel's records have; what is told of the time is the same.
shifted_is_as() {	# NAME
	local ms
	ms=$(value span_ms "$dir/$1.sum")
	echo "$ms ms of $((($2 + 999999) / 1000000))"
	[ "$ms" -ge 1500 ] && [ "$ms" -le $(($2 / 1000000 + 1)) ]
}
run_before
for s in 100000 -$(($(cut -d. -f1 /proc/uptime) / 2)); do
	shifted="unshare --time --monotonic $s --boottime $s --"
	if ! $shifted true 2>/dev/null; then
		skip "clocks shifted by $s s" "no time namespaces"
		continue
	fi
	begun=$(date +%s%N)
	start "shift$s" auto 1
	sleep 2
	stop "shift$s"
	check "clocks shifted by $s s: the time that was sampled is told" shifted_is_as "shift$s" \
		$(($(date +%s%N) - begun))
	check "clocks shifted by $s s: what ran before comes before its samples" \
		awk -v p="$before" '$3 == p && $2 == "mmap" { m = $1 } $3 == p && $2 == "sample" { n++; if (!m || $1 < m) bad++ }
			END { exit !n || bad }' "$dir/shift$s.dump"
done
shifted=
kill "$before"
unset 'pids[-1]'

# A process that ran before, then 1,000 short lives; forks, execs, mappings, exits of each.
run_before
start lives auto 1
"$driver" forks 1000 >"$dir/forks"
ask memory
ask flush
await lives flushed 2
stop lives
kill "$before"
parent=$(value pid "$dir/forks")
dump=$dir/lives.dump
check "a process that ran before has its mapping" has "$dump" \
	"mmap $before $before .* $(stat -c %i "$driver") 0 $driver\$"
check "a process that ran before has samples" has "$dump" "sample $before $before "
check "a new process has an exec and its mapping with an inode generation" has "$dump" \
	"mmap $parent $parent .* $(stat -c %i "$driver") [0-9]+ $driver\$"
awk -v p="$parent" '
	$2 == "fork" && $5 == p { child[$3] = 1; forks++ }
	$3 in child && $2 == "exec" && $5 == "true" { execs++ }
	$3 in child && $2 == "mmap" && $NF ~ /bin\/true$/ { maps++ }
	$3 in child && $2 == "exit" { exits++ }
	END { print forks + 0, execs + 0, maps + 0, exits + 0 }' "$dump" >"$dir/counts"
check "1,000 short lives are told whole" test "$(cat "$dir/counts")" = "1000 1000 1000 1000"
[ "$(cat "$dir/counts")" = "1000 1000 1000 1000" ] || note "forks execs maps exits: $(cat "$dir/counts")"
check "nothing was lost" test "$(value lost "$dir/lives.out")" = 0
rss=$(value VmRSS: "$dir/lives.out")
check "resident memory is under 6 MiB ($rss kB)" test "$rss" -lt 6144

# A monitor that does not drain: the rings run over, the loss is counted, and sampling goes on.  On one
# CPU, since each has a ring.
start full auto 20
ask freeze
taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" "$driver" forks 1500 >"$dir/forks"
ask thaw
"$driver" forks 2 >"$dir/forks"
ask flush
await full flushed 2
"$driver" forks 3 >"$dir/forks"
stop full
check "records without room are counted" test "$(value lost "$dir/full.out")" -gt 0
lost=$(awk '$2 == "lost" { n += $5 } END { print n + 0 }' "$dir/full.dump")
check "the spool tells the same loss" test "$lost" = "$(value lost "$dir/full.out")"
check "after a loss all goes on" has "$dir/full.dump" "fork [0-9]+ [0-9]+ $(value pid "$dir/forks")\$"

# In a pause there are no samples, but address spaces stay known.
start pause auto 1
ask pause
check "a pause is told with the figures" await pause "paused 1" 1
ask flush
await pause flushed 2
n=$(value samples "$dir/pause.out")
"$driver" spin 50 200 >"$dir/spin"
ask flush
await pause flushed 3
check "a pause has no samples" test "$(value samples "$dir/pause.out")" = "$n"
ask resume
await pause "paused 0" 2
"$driver" spin 50 200 >"$dir/spin2"
stop pause
check "a pause still has mappings" has "$dir/pause.dump" "mmap $(value pid "$dir/spin") "
check "after a pause there are samples again" has "$dir/pause.dump" "sample $(value pid "$dir/spin2") "

# Own processes are given as the driver's pid: what it starts counts as Morph's own.
start own auto 1 -n
"$driver" spin 50 300 >"$dir/spin"
driver_pid=${pids[-1]}
stop own
check "own processes are not in the spool" test -z \
	"$(awk -v p="$driver_pid" '$3 == p && $2 != "lost"' "$dir/own.dump")"
check "others are" has "$dir/own.dump" "sample $(value pid "$dir/spin") "

# One command alone.
"$driver" record "$dir/log" auto 1009 bash -c "'$driver' spin 30 1500 >'$dir/spin'; exit 7"
check "record gives the command's exit code" test $? = 7
"$driver" dump "$dir/log" >"$dir/log.dump"
check "record has the children's samples" share_is_30 $(shares "$dir/spin" "$dir/log.dump")
check "record has the command's exec" has "$dir/log.dump" " exec [0-9]+ [0-9]+ bash\$"
"$driver" record "$dir/log" auto 1009 bash -c 'kill -9 $$'
check "record tells the signal that ended the command" test $? = 137
out=$("$driver" record "$dir/log" auto 1009 /nowhere/command 2>&1)
check "record of a command that is not there says so" has <(echo "$out") "/nowhere/command.*No such file"
out=$("$driver" record /nowhere/log auto 1009 true 2>&1)
check "record to a place that is not there says so" has <(echo "$out") "/nowhere/log.*No such file"

# All CPUs are sampled, where others run too, and all of them start processes: the log is of the command alone.
cp /bin/true "$dir/foreign"
(while :; do "$dir/foreign"; done) &
pids+=($!)
"$driver" record "$dir/log" auto 1009 bash -c "'$driver' forks 1000 >'$dir/forks'; :"
"$driver" dump "$dir/log" >"$dir/log.dump"
of_a_tree() {		# DUMP: all of it is of the process that begins it, by its exec, and its children
	awk 'NR == 1 { if ($2 != "exec") bad = 1; of[$3] = 1 }
		$2 != "lost" && $2 != "throttle" && !($3 in of) && !($2 == "fork" && $5 in of) {
			print "not of the command:", $0; bad = 1 }
		$2 == "fork" { of[$3] = 1 }
		END { exit bad || !NR }' "$1"
}
lives_of() {		# DUMP PARENT: forks, execs, mappings and exits of its children
	awk -v p="$2" '
		$2 == "fork" && $5 == p { child[$3] = 1; forks++ }
		$3 in child && $2 == "exec" && $5 == "true" { execs++ }
		$3 in child && $2 == "mmap" && $NF ~ /bin\/true$/ { maps++ }
		$3 in child && $2 == "exit" { exits++ }
		END { print forks + 0, execs + 0, maps + 0, exits + 0 }' "$1"
}
samples_of() {		# DUMP PARENT: and their samples
	awk -v p="$2" '$2 == "fork" && $5 == p { child[$3] = 1 }
		$2 == "sample" && $3 in child { n++ }
		END { print n + 0 }' "$1"
}
parent=$(value pid "$dir/forks")
check "record tells 1,000 short lives whole" test "$(lives_of "$dir/log.dump" "$parent")" = "1000 1000 1000 1000"
check "record has samples of them" test "$(samples_of "$dir/log.dump" "$parent")" -ge 10
check "record loses nothing of that" not has "$dir/log.dump" " lost "
check "record has the command's processes alone" of_a_tree "$dir/log.dump"

# A recorder that comes too late: records are lost, and what it does not know it does not write.
cat >"$dir/late.sh" <<END
kill -STOP \$PPID
"$driver" forks 4000 >/dev/null
kill -CONT \$PPID
sleep 3		# the loss is told with the next record
"$driver" forks 100 >"$dir/forks"
"$driver" spin 50 300 >"$dir/spin"
END
taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" \
	"$driver" record "$dir/log" auto 1009 sh "$dir/late.sh"
"$driver" dump "$dir/log" >"$dir/log.dump"
check "a loss is told" has "$dir/log.dump" " lost 0 0 [1-9]"
check "after it the command's processes are told whole" test \
	"$(lives_of "$dir/log.dump" "$(value pid "$dir/forks")")" = "100 100 100 100"
check "and sampled" has "$dir/log.dump" "sample $(value pid "$dir/spin") "
check "and others are not" not has "$dir/log.dump" "foreign"
check "nor their shell" not has "$dir/log.dump" "^[0-9]+ [a-z]+ ${pids[-1]} "
kill "${pids[-1]}"
unset 'pids[-1]'

if command -v setpriv >/dev/null; then
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	chmod 777 "$dir"
	cp "$driver" "$dir/driver"
	out=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$dir/driver" record "$dir/user.log" auto 1009 "$dir/driver" spin 30 1500 2>&1 >"$dir/spin")
	if [ "$paranoid" -le 2 ]; then
		"$driver" dump "$dir/user.log" >"$dir/user.dump"
		check "record works without privileges" share_is_30 $(shares "$dir/spin" "$dir/user.dump")
	else
		check "record without privileges says what is missing" has <(echo "$out") perf_event_paranoid
	fi
fi
done_testing
