#!/bin/bash
# monitor.sh - CPU time lost to the Monitor, beside perf record: bench/results/monitor.md
#
#   B=build bench/monitor.sh [ROUNDS] [SECONDS]
#
# Rounds of: nothing, Morph at the tick in each of its states, Morph at cpu-clock, perf record -F 1024 -a, one after the
# other, so that what else the machine does falls on all alike.  Medians over the rounds.
set -eu
B=${B:-build}
rounds=${1:-9} seconds=${2:-3}
out=bench/results/monitor.md
driver=$B/tests/e2e/monitor_driver
loop=$B/bench/monitor_overhead
cpu=$(($(nproc) - 1))
if [ "$(id -u)" != 0 ]; then
	echo "monitor.sh: skipped: needs root to sample all processes"
	exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/morph-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

run_ns() {		# PID: CPU time that it has had
	awk '{ print $1 }' "/proc/$1/schedstat"
}

# Measures once with the sampler running, whose process is PID (0: none).
measure() {		# NAME PID
	local before=0 after=0
	[ "$2" = 0 ] || before=$(run_ns "$2")
	set -- "$1" "$2" $("$loop" "$cpu" $((seconds * 1000)))
	[ "$2" = 0 ] || after=$(run_ns "$2")
	echo "$3 $5 $(((after - before) / 1000))" >>"$dir/$1"
}

morph() {		# CLOCK
	rm -rf "$dir/spool"
	mkdir -p "$dir/spool"
	rm -f "$dir/in"
	mkfifo "$dir/in"
	"$driver" run "$dir/spool" "$1" 1 <"$dir/in" >"$dir/answers" 2>&1 &
	local pid=$!
	exec 7>"$dir/in"
	echo flush >&7
	until grep -q '^flushed' "$dir/answers"; do sleep 0.05; done
	measure "morph-$1" $(cat /proc/$pid/task/$pid/children)
	echo stop >&7
	exec 7>&-
	wait $pid
}

perf_record() {
	perf record -q -F 1024 -a -e cpu-clock -o "$dir/perf.data" >/dev/null 2>&1 &
	local pid=$!
	sleep 0.7
	measure perf $pid
	kill -INT $pid
	wait $pid || true	# it may call its interruption a failure
}

for ((i = 1; i <= rounds; i++)); do
	echo "round $i of $rounds" >&2
	measure none 0
	morph tick
	morph tick+off
	morph tick+registers
	morph tick+memory
	morph cpu-clock
	! command -v perf >/dev/null || perf_record
done

median() {		# FILE COLUMN
	awk -v c="$2" '{ print $c }' "$dir/$1" | sort -g |
		awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

range() {		# FILE COLUMN
	awk -v c="$2" '{ print $c }' "$dir/$1" | sort -g | awk 'NR == 1 { a = $1 } END { print a " - " $1 }'
}

row() {			# FILE LABEL
	[ -e "$dir/$1" ] || return 0
	local m
	m=$(median "$1" 1)
	awk -v label="$2" -v m="$m" -v none="$(median none 1)" -v range="$(range "$1" 1)" \
		-v own="$(median "$1" 3)" -v s="$seconds" 'BEGIN {
		printf "| %s | %.3f %% | %s | %s | %.4f %% |\n", label, m, range,
			label == "none" ? "-" : sprintf("%.3f %%", m - none), own / s / 10000 }'
}

mkdir -p bench/results
{
	echo "# CPU time lost to the Monitor"
	echo
	echo "Lost time as a loop that reads the time-stamp counter on one pinned CPU sees it: gaps over 300 cycles"
	echo "and under 20 us.  $rounds interleaved rounds of $seconds s; medians.  The Monitor drains every second here, ten times"
	echo "as often as it does by default."
	echo
	echo "| sampler | lost | least - most | added | the sampler's process, of one CPU |"
	echo "|---|---|---|---|---|"
	row none "none"
	row morph-tick "Morph, tick (250 Hz)"
	row morph-tick+off "the same, ready to take registers and memory"
	row morph-tick+registers "the same with registers"
	row morph-tick+memory "the same with registers and memory"
	row morph-cpu-clock "Morph, cpu-clock 1009 Hz"
	row perf "perf record -F 1024 -a -e cpu-clock"
	echo
	echo "Time away in longer gaps (other programs, hypervisor), median without a sampler: $(median none 2) %."
	echo
	echo "- machine: $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) CPUs, $(uname -sr)"
	echo "- hypervisor: $(grep -q hypervisor /proc/cpuinfo && echo yes || echo no)"
	echo "- load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
	echo "- date: $(date -u +%Y-%m-%d)"
	echo "- command: bench/monitor.sh $rounds $seconds"
} >"$out"
cat "$out"
