#!/bin/bash
# live.sh - generations in running processes: what they cost these, and what they gain
#
#	[PARTS="pauses tail gain verdict"] [SHORT=1] bench/live.sh
#
#	pauses	how long a process stands still, by its threads: SWAPS (400) for each row.  With OTHER, another
#		morph-live, a row for each of the two, which swap in turns
#	tail	what postgres and redis answer late while they are swapped every 5 s: TURNS (10) of TURN_S (20) s each
#		with and without, in turns
#	gain	what `try --pid` tells in turns (TRY_S, 30 s) in each of some processes (PROCESSES, 5), beside pairs of
#		runs of the program and of such a generation (PAIRS, 12)
#	verdict	how long `try` takes to tell it (TRY_S, 60 s)
#
# Each part replaces its section of bench/results/live.md (RESULT) for the vendor of this processor.  Together they
# take 50 minutes; SHORT=1 takes 4, and only shows that they work.
set -eu
cd "$(dirname "$0")/.."
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 1; }
PATH=/usr/sbin:/usr/bin:/sbin:/bin
if [ "${SHORT:-}" = 1 ]; then
	: "${SWAPS:=20}" "${TURNS:=1}" "${TURN_S:=10}" "${TRY_S:=12}" "${PROCESSES:=2}" "${PAIRS:=2}" "${THREADS:=0 1,0 50,2 0}"
fi
PARTS=${PARTS:-pauses tail gain verdict}
out=${RESULT:-bench/results/live.md}
pids=()
root=$T/root
live=$B/morph-live
end() {
	disown -a
	# children first: those of a server would outlive it; stopped, it begins no others
	for pid in "${pids[@]}"; do kill -STOP "$pid"; pkill -9 -P "$pid"; kill -9 "$pid"; done 2>/dev/null || true
	[ ! -s "$root/postgres.pid" ] || kill -9 $(cat "$root/postgres.pid") $(pgrep -P "$(cat "$root/postgres.pid")") 2>/dev/null || true
	[ "${KEEP:-}" = 1 ] && echo "kept: $T" >&2 || rm -rf "$T"
}
trap end EXIT
mkdir "$root" "$root/gen" "$root/store"
chmod 755 "$T" "$root"
. tests/e2e/live.bash
. tests/e2e/servers.bash
. bench/live_tail.bash
. bench/live_gain.bash

# In the file, in the place of the section that has the same title, or at the end.
put_section() {		# TITLE SECTION
	[ -e "$out" ] || printf '# Generations in running processes\n' >"$out"
	awk -v title="## $1" -v section="$2" '
		function put(    line) { while ((getline line < section) > 0) print line; done = 1 }
		$0 == title { put(); skip = 1; next }
		/^## / { skip = 0 }
		!skip
		END { if (!done) { print ""; put() } }' "$out" >"$T/whole"
	cat "$T/whole" >"$out"
}

# SERVER FILE LOAD...: the server by that program, with a load that does not end; $pid is who works most, and
# $serving the first process
begin_server() {
	"$1"_command "$2"
	start "$T/$1.out" "${command[@]}"
	serving=$pid
	"$1"_ready
	[ "$1" != postgres ] || serving=$(cat "$root/postgres.pid")
	"${@:3}" >/dev/null 2>&1 &
	loading=$!
	pids+=("$loading")
	sleep 1
	pid=$(busiest "$serving")
}
end_load() {
	kill "$loading" 2>/dev/null || true
	wait "$loading" 2>/dev/null || true
}
end_server() {
	kill "$serving" 2>/dev/null || true
	for _ in $(seq 100); do [ -d "/proc/$serving" ] || break; sleep 0.1; done
}
# Of a process and its children the one that ran longest.
busiest() {		# PID
	local p
	for p in "$1" $(pgrep -P "$1"); do echo "$(cut -d' ' -f1 "/proc/$p/schedstat" 2>/dev/null) $p"; done | sort -n | tail -n 1 | cut -d' ' -f2
}

swap_rows() {		# BUSY WAITING: a row for each morph-live
	local pid i l rc said names="${OTHER:+other }this"
	"$root/threads" "$1" "$2" >"$T/ready" &
	pid=$!
	pids+=("$pid")
	until [ -s "$T/ready" ]; do sleep 0.05; done
	sleep 0.3
	for ((i = 0; i < ${SWAPS:-400}; i += 2)); do
		for l in $names; do
			[ "$l" = this ] && live=$B/morph-live || live=$OTHER
			rc=0
			said=$(on "$pid" threads --patience=500 2>&1) || rc=$?
			echo "$rc ${said%%$'\n'*}" >>"$T/said.$l"	# where symbols are is told behind it
			rc=0
			said=$(off "$pid" --patience=500 2>&1) || rc=$?
			echo "$rc $said" >>"$T/said.$l"
		done
	done
	live=$B/morph-live
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	for l in $names; do
		sed -nE 's/^0 done, pause ([0-9]+) us, tries ([0-9]+)$/\1 \2/p' "$T/said.$l" | sort -n | awk -v what="${OTHER:+ ($l)}" \
			-v busy="$1" -v waiting="$2" -v n="$(wc -l <"$T/said.$l")" '
			{ us[NR] = $1; over += $1 > 5000; much += $1 > 20000; more += $2 > 1 }
			function ms(q) { return NR ? sprintf("%.2f", us[int(q * (NR - 1)) + 1] / 1000) : "-" }
			END { printf "| %d%s | %d | %d | %s | %s | %s | %d | %d | %d | %d |\n", busy, what, waiting, n, ms(0.5), ms(0.99),
				ms(1), over, much, more, n - NR }'
		rm "$T/said.$l"
	done
	: >"$T/ready"
}
part_pauses() {
	local threads
	prepare threads "$B/bench/livethreads"
	cat <<'END'
`morph-live` maps a generation in and out of `bench/livethreads.c`. A pause is from the first thread that is
asked to stop to the last one that is let go; of several tries the longest one. Threads that calculate share the
machine's CPUs with each other and with `morph-live`. Where they do not all stop in time they are let go and
it is tried again, for half a second.

| busy threads | waiting threads | swaps | median, ms | 99th of 100 | longest | over 5 ms | over 20 ms | after more tries | given up |
|---|---|---|---|---|---|---|---|---|---|
END
	while read -r threads; do
		swap_rows $threads
	done < <(tr ',' '\n' <<<"${THREADS:-0 1,1 0,2 0,0 50,0 150,1 150,8 0,40 0,160 0}")
}

title_pauses="How long a process stands still"
title_tail="What a server answers late"
title_gain="The gain in a process, and by restart"
title_verdict="How long it takes to tell"
for part in $PARTS; do
	title=title_$part
	title="${!title} ($(processor_vendor))"
	echo "== $part" >&2
	{
		echo "## $title"
		echo
		result_facts "$(given_settings)PARTS=$part ${0#./}"
		part_"$part"
		echo
	} >"$T/section"
	put_section "$title" "$T/section"
	cat "$T/section"
done
