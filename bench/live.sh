#!/bin/bash
# live.sh - how long a process stands still for a generation, by its threads
#
#	[SWAPS=N] bench/live.sh		N (400) swaps in and out for each row
set -eu
cd "$(dirname "$0")/.."
. bench/common.bash
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 1; }

mkdir "$T/gen"
cp "$B/bench/livethreads" "$T/program"
"$B/morph-edit" optimize --all --keep-pointers "$T/program" -o "$T/gen/g"
"$B/morph-verify" --live "$T/program" "$T/gen/g" >"$T/plan"

row() {			# BUSY WAITING
	local pid i rc what said
	"$T/program" "$1" "$2" >"$T/ready" &
	pid=$!
	until [ -s "$T/ready" ]; do sleep 0.05; done
	sleep 0.3
	for ((i = 0; i < ${SWAPS:-400}; i++)); do
		what=(off "$pid" "$T/gen")
		[ $((i % 2)) = 1 ] || what=(on "$pid" "$T/plan" "$T/gen/g")
		rc=0
		said=$("$B/morph-live" "${what[@]}" --patience=500 2>&1) || rc=$?
		echo "$rc $said"
	done >"$T/said"
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	sed -nE 's/^0 done, pause ([0-9]+) us, tries ([0-9]+)$/\1 \2/p' "$T/said" | sort -n | awk -v busy="$1" -v waiting="$2" -v n="$(wc -l <"$T/said")" '
		{ us[NR] = $1; over += $1 > 5000; more += $2 > 1 }
		function ms(q) { return NR ? sprintf("%.2f", us[int(q * (NR - 1)) + 1] / 1000) : "-" }
		END { printf "| %d | %d | %d | %s | %s | %s | %d | %d | %d |\n", busy, waiting, n, ms(0.5), ms(0.99),
			ms(1), over, more, n - NR }'
	: >"$T/ready"
}

result live "How long a process stands still for a generation"
cat <<'END'
`morph-live` maps a generation in and out of `bench/livethreads.c`. A pause is from the first thread that is
asked to stop to the last one that is let go; of several tries the longest one. Threads that calculate share the
machine's CPUs with each other and with `morph-live`. Where they do not all stop in 5 ms they are let go and
it is tried again, for half a second.

| busy threads | waiting threads | swaps | median, ms | 99th of 100 | longest | over 5 ms | after more tries | given up |
|---|---|---|---|---|---|---|---|---|
END
for threads in "0 1" "1 0" "2 0" "0 50" "0 150" "1 150" "8 0" "40 0" "160 0"; do
	row $threads
done
result_end
