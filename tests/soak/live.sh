#!/bin/bash
# live.sh - servers and scripts under load, while generations go into their processes and out again all the time
#
#   postgres   pgbench, and its tables add up afterwards     perl, python3.11   lines that are all the same
#   redis      its benchmark, and a counter by one client    libsqlite3         answers to one query
#   nginx      clients on connections that stay open         bash               answers to what is typed
#
# Every answer is checked.  SOAK_S (3600) is how long, PAUSE_S (0.1) what is between swaps and the next ones,
# PROGRAMS which of them, SWAPS_LEAST (1) how many swaps in and out each must have had.  Prints a line for each:
#
#	NAME in out later gone failed ANSWERS ERRORS EINTR DROPPED median p99 max
#
# `later`: no moment for it came in 250 ms; `gone`: the process had ended; pauses are in microseconds.  With
# REPORT, a report goes there.  Ends with 1 when anything went wrong; what is not installed is left out, and said.
cd "$(dirname "$0")/../.." || exit 1
B=$(cd "${B:-build}" && pwd) || exit 1
[ "$(id -u)" = 0 ] || { echo "soak-live: needs root to change other processes" >&2; exit 1; }
PATH=/usr/sbin:/usr/bin:/sbin:/bin
SOAK_S=${SOAK_S:-3600} PAUSE_S=${PAUSE_S:-0.1} SWAPS_LEAST=${SWAPS_LEAST:-1}
PROGRAMS=${PROGRAMS:-postgres redis nginx sqlite perl python bash}
live=$B/morph-live
pids=()
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-soak-live.XXXXXX") || exit 1
cleanup() {
	touch "$root/stop"
	disown -a
	# children first: those of a server would outlive it; stopped, it begins no others
	for pid in "${pids[@]}"; do kill -STOP "$pid"; pkill -9 -P "$pid"; kill -9 "$pid"; done 2>/dev/null
	[ ! -s "$root/postgres.pid" ] || kill -9 $(cat "$root/postgres.pid") $(pgrep -P "$(cat "$root/postgres.pid")") 2>/dev/null
	[ "${KEEP:-}" = 1 ] && { echo "kept: $root" >&2; return; }
	for _ in $(seq 20); do		# what was killed may be writing still
		rm -rf "$root" 2>/dev/null && break
		sleep 0.1
	done
}
trap cleanup EXIT
trap 'exit 1' INT TERM
chmod 755 "$root"
mkdir "$root/gen"
. tests/e2e/live.bash
. tests/e2e/servers.bash
out_of() { echo "$1 left out: $2" >>"$root/left"; }
begun=$SECONDS
over() { [ -e "$root/stop" ]; }

# --- swaps ---

# NAME PID [OPTION]: from now on; generations are made for the room that the process has
begin_swaps() {
	pid=$2
	local i
	for i in $(seq 50); do		# it may not have begun yet
		fit "$1" && break
		[ "$i" -lt 50 ] || { echo "failed fit" >>"$root/$1.swaps"; return; }
		sleep 0.1
	done
	# in front of all that the machine is busy with, as far as that is possible
	nice -n -15 "$B/tests/soak/swaps" "$root/stop" "$(awk -v s="$PAUSE_S" 'BEGIN { printf "%d", s * 1000 }')" "$live" "$2" \
		"$root/$1.plan" "$root/gen/$1" "$root/gen" ${3:+"$3"} >"$root/$1.swaps" 2>&1 &
	swappers+=($!)
}

# --- programs: start_NAME; check_NAME says "ANSWERS ERRORS EINTR DROPPED", after the swaps ---

eintr() { cat "$@" 2>/dev/null | grep -ci "interrupted system call\|EINTR"; }
same_lines() {		# OUTPUT
	local n=$(wc -l <"$1") other=$(sed '$d' "$1" | sort | uniq -c | sort -rn | awk 'NR > 1 { n += $1 } END { print n + 0 }')
	echo "$n $((other + $(wc -l <"$1.err"))) $(eintr "$1.err") 0"
}
start_perl() {
	prepare perl "$(command -v perl)" && start "$root/perl.out" "$root/perl" "$root/loop.pl" && begin_swaps perl "$pid"
}
check_perl() { same_lines "$root/perl.out"; }
start_python() {
	[ -x /usr/bin/python3.11 ] || { out_of python "there is no python3.11"; return 1; }
	prepare python /usr/bin/python3.11 && start "$root/python.out" "$root/python" "$root/loop.py" && begin_swaps python "$pid"
}
check_python() { same_lines "$root/python.out"; }
start_sqlite() {
	local lib=$(ldconfig -p | awk '/libsqlite3.so.0.*x86-64/ { print $NF; exit }')
	[ -x /usr/bin/sqlite3 ] && [ -n "$lib" ] || { out_of sqlite "there is no sqlite3"; return 1; }
	prepare libsqlite3.so.0 "$lib" && mkfifo "$root/sql" || return 1
	(while cat "$root/loop.sql"; do :; done) >"$root/sql" 2>/dev/null &
	pids+=($!)
	start "$root/sqlite.out" env LD_LIBRARY_PATH="$root" sqlite3 -init /dev/null :memory: ".read $root/sql"
	sleep 0.3
	begin_swaps libsqlite3.so.0 "$pid"
	ln -s libsqlite3.so.0.swaps "$root/sqlite.swaps"
}
check_sqlite() { same_lines "$root/sqlite.out"; }
start_bash() {
	prepare bash "$(command -v bash)" && mkfifo "$root/typed" || return 1
	"$root/bash" <"$root/typed" >"$root/bash.out" 2>"$root/bash.out.err" &
	pid=$!
	pids+=("$pid")
	exec 8>"$root/typed"
	(i=0
	while ! over; do
		echo "f() { local x=\$1; echo \"\$((x * 7)) \${#x}\"; }; f $((i += 1))"
		sleep 0.02
	done >&8; echo "$i" >"$root/typed.n") &
	begin_swaps bash "$pid"
}
check_bash() {
	sleep 0.3
	exec 8>&-
	local n=$(cat "$root/typed.n")
	echo "$n $(seq "$n" | awk '{ print $1 * 7, length($1) }' | diff - "$root/bash.out" | grep -c '^[<>]') $(eintr "$root/bash.out.err") 0"
}

start_postgres() {
	local why
	why=$(postgres_there) && postgres_there && why=$(postgres_make) || { out_of postgres "$why"; return 1; }
	prepare postgres "$server" || return 1
	chmod 755 "$root/postgres"
	postgres_command "$root/postgres"
	start "$root/postgres.out" "${command[@]}"
	postgres_ready || return 1
	(n=0
	while ! over; do
		pgbench -h "$root/pg" -U bench -c 4 -j 1 -T $((SOAK_S < 15 ? 2 : 5)) -n postgres 2>&1
		echo "code $?"
	done >"$root/pgbench.out") &
	clients+=($!)
	# exceptions: ICU throws and nobody catches (morph-edit catches)
	begin_swaps postgres "$(cat "$root/postgres.pid")" --nobody-catches
}
check_postgres() {
	local done_n=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$root/pgbench.out" | awk '{ n += $1 } END { print n + 0 }')
	local bad=$(grep -c '^code [1-9]\|^number of failed transactions: [1-9]' "$root/pgbench.out")
	local sums=$(psql -h "$root/pg" -U bench -Atc 'select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)
		and (select sum(tbalance) from pgbench_tellers) = (select sum(bbalance) from pgbench_branches)
		and (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history)
		and (select count(*) from pgbench_history) = '"$done_n" postgres)
	[ "$sums" = t ] || { bad=$((bad + 1)); echo "postgres: sums: '$sums', $done_n transactions" >&2; }
	local log=$(grep -c 'ERROR\|FATAL\|PANIC\|WARNING\|terminated by' "$root/postgres.out.err")
	echo "$done_n $((bad + log)) $(eintr "$root/postgres.out.err" "$root/pgbench.out") $(grep -c 'server closed\|connection to server.*failed' "$root/pgbench.out")"
}

start_redis() {
	local why server_pid
	why=$(redis_there) && redis_there || { out_of redis "$why"; return 1; }
	redis_make && cp "$server" "$root/redis-server" && prepare redis-server "$server" || return 1
	redis_command "$root/redis-server"
	start "$root/redis.out" "${command[@]}"
	server_pid=$pid
	redis_ready || return 1
	(while ! over; do
		redis-benchmark -s "$root/redis/sock" -q -n 20000 -c 10 -t set,get,incr,lpush,lpop,zadd,hset 2>&1
		echo "code $?"
	done >"$root/redis.bench") &
	clients+=($!)
	# one client, one connection: the answers are 1, 2, 3...
	(while ! over; do echo "INCR count"; sleep 0.005; done | redis-cli -s "$root/redis/sock" >"$root/redis.answers" 2>&1) &
	clients+=($!)
	begin_swaps redis-server "$server_pid" --nobody-catches
	ln -s redis-server.swaps "$root/redis.swaps"
}
check_redis() {
	local n=$(wc -l <"$root/redis.answers") bad=$(awk '$1 != NR || NF != 1' "$root/redis.answers" | wc -l)
	local info=$(redis-cli -s "$root/redis/sock" info stats | tr -d '\r')
	local commands=$(sed -n 's/^total_commands_processed://p' <<<"$info")
	[ "$(redis-cli -s "$root/redis/sock" get count)" = "$n" ] || bad=$((bad + 1))
	bad=$((bad + $(grep -ci 'error\|code [1-9]' "$root/redis.bench") + $(grep -ci 'crash\|# .*error' "$root/redis.out")))
	echo "$commands $bad $(eintr "$root/redis.out" "$root/redis.bench") $(($(sed -n 's/^rejected_connections://p' <<<"$info") + $(grep -ci 'reset\|broken\|closed' "$root/redis.bench" "$root/redis.answers" | awk -F: '{ n += $2 } END { print n + 0 }')))"
}

start_nginx() {
	local why server_pid
	why=$(nginx_there) && nginx_there || { out_of nginx "$why"; return 1; }
	prepare nginx "$server" && nginx_make || return 1
	nginx_command "$root/nginx"
	start "$root/nginx.out" "${command[@]}"
	server_pid=$pid
	nginx_ready || return 1
	for i in 1 2 3; do
		perl -MIO::Socket::UNIX -e '
			use strict; my ($sock, $stop, $page) = @ARGV; $SIG{PIPE} = "IGNORE";
			open my $f, "<", $page or die; local $/; my $want = <$f>;
			my ($n, $bad, $drops, $s) = (0, 0, 0);
			until (-e $stop) {
				unless ($s) { $s = IO::Socket::UNIX->new(Peer => $sock) or do { $drops++; sleep 1; next } }
				print $s "GET /page HTTP/1.1\r\nHost: x\r\n\r\n"; $s->flush;
				my $head = ""; { local $/ = "\r\n\r\n"; $head = <$s> // "" }
				my ($size) = $head =~ /Content-Length: (\d+)/;
				unless ($size) { $drops++; undef $s; next }
				my $got = ""; while (length $got < $size) { my $k = read $s, $got, $size - length $got, length $got; last unless $k }
				if (length $got < $size) { $drops++; undef $s; next }
				$n++; $bad++ if $got ne $want;
				select undef, undef, undef, 0.001;
			}
			print "$n $bad $drops\n"' "$root/www.sock" "$root/stop" "$root/www/page" >"$root/nginx.client$i" 2>&1 &
		clients+=($!)
	done
	begin_swaps nginx "$server_pid"
}
check_nginx() {
	cat "$root"/nginx.client* | awk -v log_bad="$(grep -c '\[\(error\|alert\|crit\|emerg\)\]' "$root/nginx.log")" \
		-v eintr="$(eintr "$root/nginx.log")" '{ n += $1; bad += $2; drops += $3 } END { print n + 0, bad + log_bad, eintr, drops + 0 }'
}

# --- all of it ---

swappers=()
clients=()
running=
few=
for p in $PROGRAMS; do
	start_$p >"$root/$p.start" 2>&1 && running="$running $p" || {
		grep -s "^$p left out" "$root/left" >&2 || { echo "soak-live: $p does not start: $(tail -n 2 "$root/$p.start")" >&2; failed=1; }
	}
done
sleep "$SOAK_S"
touch "$root/stop"
[ -z "${swappers[*]}${clients[*]}" ] || wait "${swappers[@]}" "${clients[@]}" 2>/dev/null

numbers() {		# NAME: of its swaps
	awk '$1 == "on" || $1 == "off" { print $2 }' "$root/$1.swaps" 2>/dev/null | sort -n >"$root/$1.pauses"
	awk -v median="$(awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] + 0 }' "$root/$1.pauses")" \
		-v p99="$(awk '{ a[NR] = $1 } END { print a[int(NR * 0.99 + 0.5)] + 0 }' "$root/$1.pauses")" \
		-v max="$(tail -n 1 "$root/$1.pauses")" -v checked="$2" '
		{ n[$1]++ }
		END { print n["on"] + 0, n["off"] + 0, n["later"] + 0, n["gone"] + 0, n["failed"] + 0, checked, median, p99, max + 0 }' \
		"$root/$1.swaps"
}
for p in $running; do
	line=$(numbers "$p" "$(check_$p)")
	echo "$p $line"
	set -- $line
	[ $(($1 + $2)) -ge "$SWAPS_LEAST" ] || few+="$p "
	[ "$5$7$8$9" = 0000 ] && [ "$6" -gt 0 ] || { failed=1; grep -h '^failed' "$root/$p.swaps" | sort | uniq -c | head -n 4 >&2; }
done >"$root/summary"
cat "$root/summary"
[ -z "$few" ] || { failed=1; echo "soak-live: fewer than $SWAPS_LEAST swaps: $few" >&2; }
if [ -n "${REPORT:-}" ]; then
	{
		echo "# Generations in and out of processes under load"
		echo
		(. bench/common.bash && result_facts "SOAK_S=$SOAK_S PAUSE_S=$PAUSE_S SWAPS_LEAST=$SWAPS_LEAST make soak-live")
		echo "$((SECONDS - begun)) s in all, load average $(cut -d' ' -f1-3 /proc/loadavg) at the end."
		echo
		echo "$SWAPS_LEAST swaps in and out of each were asked for: $([ -z "$few" ] && echo made || echo "not made of $few")."
		echo
		echo "Every function is moved (\`--all\`). \`later\`: no moment came within 250 ms. \`gone\`: the process had ended. Pauses in ms."
		echo
		echo "| program | in | out | later | gone | failed | answers checked | errors | EINTR | connections dropped | pause: median | 99th | greatest |"
		echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
		awk '{ printf "| %s |", $1; for (i = 2; i <= 10; i++) printf " %d |", $i; printf " %.2f | %.2f | %.2f |\n", $11 / 1000, $12 / 1000, $13 / 1000 }' "$root/summary"
		[ ! -s "$root/left" ] || { echo; echo "Left out: $(paste -sd';' "$root/left")."; }
	} >"$REPORT"
fi
exit "${failed:-0}"
