# live_tail.bash - part `tail` of live.sh: latencies of servers, with swaps every 5 s and without

# NAME PID: samples the process, which is at work, for a generation of its program, and takes it out again.  In
# $root/gen/NAME and its plan
sampled_generation() {
	local made
	"$B/morphctl" live "$2" --store="$root/store" --time="$SAMPLE_S" --burst=1 --module="$root/$1" >"$T/made" 2>&1 || { cat "$T/made"; return 1; }
	made=$("$B/morphctl" live --store="$root/store" | awk -v p="$2" '$1 == p { print $3; exit }')
	# the very file: of another one nothing may be where its new text is already
	ln "$made" "$root/gen/$1" && "$B/morphctl" live --off "$2" --store="$root/store" >/dev/null &&
		"$B/morph-verify" --live "$root/$1" "$root/gen/$1" >"$root/$1.plan"
}

# NAME: its load for S seconds in $T/load; histograms are appended to FILE
load_redis() {		# S FILE
	"$B/bench/latency" redis "$socket" 4 "$1" >>"$2"
}
load_postgres() {
	mkdir "$T/load"
	(cd "$T/load" && pgbench -h "$root/pg" -U bench -c 4 -j 2 -T "$1" -n -l --log-prefix=t postgres >out 2>&1)
	cat "$T"/load/t.* | awk '{ n[$3]++ } END { for (us in n) print us, n[us] }' >>"$2"
	grep -q '^number of failed transactions: 0 ' "$T/load/out" && rm -r "$T/load"
}

turn() {		# SERVER PROGRAM with|without PID
	local swaps
	rm -f "$T/stop"
	if [ "$3" = with ]; then
		"$B/tests/soak/swaps" "$T/stop" 5000 "$live" "$4" "$root/$2.plan" "$root/gen/$2" "$root/gen" --nobody-catches >>"$T/$1.swaps" 2>&1 &
		swaps=$!
		(sleep $((TURN_S - 1)); touch "$T/stop") &
	fi
	load_"$1" "$TURN_S" "$T/$1.$3" || { echo "$1: a wrong answer" >&2; return 1; }
	[ "$3" = without ] || wait "$swaps"
}
tail_row() {		# NAME KIND
	local swaps="- | -"
	! grep -h '^failed' "$T/$1.swaps" >&2 || return 1
	[ "$2" = without ] || swaps=$(awk '$1 == "on" || $1 == "off" { n++; if ($2 > most) most = $2 } END { printf "%d | %.2f", n, most / 1000 }' "$T/$1.swaps")
	sort -n "$T/$1.$2" | awk -v row="$1 | $2" -v swaps="$swaps" '
		{ us[NR] = $1; n[NR] = $2; all += $2 }
		function at(q,    i, seen) { for (i = 1; i <= NR; i++) if ((seen += n[i]) >= q * all) return us[i] / 1000 }
		END { printf "| %s | %d | %.3f | %.3f | %.3f | %.3f | %s |\n", row, all, at(0.5), at(0.99), at(0.999), us[NR] / 1000, swaps }'
}
tail_of() {		# SERVER PROGRAM LOAD...: what it is called decides what it does; the load is to be sampled
	local name=$1 program=$2 why i kind
	why=$("$name"_there) && "$name"_there || { echo "| $name | left out: $why | | | | | | | |"; return; }
	"$name"_make && cp "$server" "$root/$program" || return 1
	chmod 755 "$root/$program"
	begin_server "$name" "$root/$program" "${@:3}"
	sampled_generation "$program" "$pid" >&2 || return 1
	end_load
	for ((i = 0; i < TURNS; i++)); do
		for kind in $([ $((i % 2)) = 0 ] && echo with without || echo without with); do
			turn "$name" "$program" "$kind" "$serving" || return 1
		done
	done
	end_server
	tail_row "$name" without
	tail_row "$name" with
}
part_tail() {
	: "${TURNS:=10}" "${TURN_S:=20}" "${SAMPLE_S:=5}"
	cat <<'END'
Turns of the same load, with and without a generation going in or out every 5 seconds in all processes of the server.
postgres: transactions of pgbench, 4 clients; redis: answers to `bench/latency.c`, 4 clients, of which each waits for its
answer, as pgbench's do. Latencies in ms, of all turns together; the pause is the longest one.

| server | swaps | answers | median | 99th of 100 | 99.9th | greatest | swaps made | longest pause, ms |
|---|---|---|---|---|---|---|---|---|
END
		tail_of postgres postgres pgbench -h "$root/pg" -U bench -c 4 -j 2 -T 100000 -n postgres
	tail_of redis redis-server "$B/bench/latency" redis "$root/redis/sock" 4 100000
	serving=
}
