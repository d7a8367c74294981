# live_gain.bash - parts `gain` and `verdict` of live.sh: what try --pid tells, beside runs of the generation itself

# One client, not more: Morph works with what time the machine has left.
#
# A program P of five: work_P ARGUMENT... does N units of its work by the files of folder $root/A or $root/B, and says
# what CPU time that took, in ms; begin_P begins it, at its work without an end, and leaves what is to be tried in $pid.

timed() {		# COMMAND...: user and system time, in ms
	local TIMEFORMAT='%3U %3S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.0f\n", ($1 + $2) * 1000 }'
}
ran_ms() {		# PID...: what they and their threads have run for
	local p
	for p in "$@"; do cat "/proc/$p"/task/*/schedstat; done | awk '{ n += $1 } END { printf "%.2f\n", n / 1e6 }'
}

begin_perl() { start "$T/perl.out" "$root/A/perl" "$root/loop.pl"; }
work_perl() { timed env LD_LIBRARY_PATH="$root/$1" "$root/$1/perl" "$root/some.pl"; }
begin_sqlite() {
	mkfifo "$root/sql"
	(while cat "$root/loop.sql"; do :; done) >"$root/sql" 2>/dev/null &
	pids+=($!)
	start "$T/sqlite.out" env LD_LIBRARY_PATH="$root/A" "$root/A/sqlite3" -init /dev/null :memory: ".read $root/sql"
}
work_sqlite() { timed env LD_LIBRARY_PATH="$root/$1" "$root/$1/sqlite3" -init /dev/null :memory: ".read $root/some.sql"; }

# SERVER PROGRAM A|B LOAD...: begins it, does the work once without looking and once looking
work_server() {
	local from to
	"$1"_command "$root/$3/$2"
	LD_LIBRARY_PATH=$root/$3 start "$T/$1.out" "${command[@]}"
	serving=$pid
	"$1"_ready
	"${@:4}" x2000 >/dev/null
	from=$(ran_ms $(server_pids "$serving"))
	"${@:4}" "x$N" >/dev/null
	to=$(ran_ms $(server_pids "$serving"))
	end_server
	awk -v a="$from" -v b="$to" 'BEGIN { printf "%.2f\n", b - a }'
}
server_pids() { echo "$1" $(pgrep -P "$1"); }
begin_redis() { begin_server redis "$root/A/redis-server" "$B/bench/latency" redis "$root/redis/sock" 1 100000; }
work_redis() { N=40000 work_server redis redis-server "$1" "$B/bench/latency" redis "$root/redis/sock" 1; }
begin_nginx() { begin_server nginx "$root/A/nginx" "$B/bench/latency" http "$root/www.sock" 1 100000; }
work_nginx() { N=4000 work_server nginx nginx "$1" "$B/bench/latency" http "$root/www.sock" 1; }
begin_postgres() { begin_server postgres "$root/A/postgres" pgbench -h "$root/pg" -U bench -c 1 -T 100000 -S -n postgres; }
# of backends that have ended: in the time of the children of the first process
work_postgres() {
	local from to ticks='{ sub(/.*\) /, ""); print $14 + $15 }'
	postgres_command "$root/$1/postgres"
	LD_LIBRARY_PATH=$root/$1 start "$T/postgres.out" "${command[@]}"
	postgres_ready
	serving=$(cat "$root/postgres.pid")
	pgbench -h "$root/pg" -U bench -c 1 -t 500 -S -n postgres >/dev/null 2>&1
	sleep 0.3
	from=$(awk "$ticks" "/proc/$serving/stat")
	pgbench -h "$root/pg" -U bench -c 1 -t 20000 -S -n postgres >/dev/null 2>&1
	sleep 0.3
	to=$(awk "$ticks" "/proc/$serving/stat")
	end_server
	echo $(((to - from) * 1000 / $(getconf CLK_TCK)))
}

# NAME: originals in $root/A
originals_of() {
	local lib
	case $1 in
	perl) cp "$(readlink -f "$(command -v perl)")" "$root/A/perl" ;;
	sqlite)
		lib=$(ldconfig -p | awk '/libsqlite3.so.0.*x86-64/ { print $NF; exit }')
		cp "$(command -v sqlite3)" "$root/A/" && cp "$(readlink -f "$lib")" "$root/A/libsqlite3.so.0" ;;
	*) "$1"_there >"$T/why" && "$1"_make && cp "$server" "$root/A/$([ "$1" = redis ] && echo redis-server || echo "$1")" ;;
	esac
}
# What is mapped in process $pid, into $root/B by the names that its originals are found by; fails where nothing is
generations_of() {
	local at file name any=1
	while read -r _ at file; do
		name=$(awk -v at="$at" '{ split($1, a, "-"); sub(/^0*/, "", a[2]) } a[2] == at { print $6; exit }' "/proc/$pid/maps")
		name=${name##*/}
		[[ $name != *.so* ]] || name=$(LC_ALL=C readelf -dW "$file" | sed -n 's/.*Library soname: \[\(.*\)\]/\1/p')
		[ "$name" ] && cp "$file" "$root/B/$name" && chmod 755 "$root/B/$name" || return 1
		any=0
	done < <("$B/morphctl" live --store="$root/store" 2>/dev/null | awk -v p="$pid" '$1 == p')
	return "$any"
}
# `try` in a new process: its ratio and that one's interval; the generations that it maps in turns, as far as they come
in_turns() {		# NAME
	begin_"$1"
	sleep 0.5
	"$B/morphctl" --json try --pid="$pid" --time="$TRY_S" --store="$root/store" >"$T/try.json" 2>"$T/try.said" &
	local trying=$!
	until grep -q "in turns" "$T/try.said"; do kill -0 "$trying" 2>/dev/null || break; sleep 0.2; done
	# they come and go
	while kill -0 "$trying" 2>/dev/null && ! generations_of; do sleep 0.05; done
	wait "$trying" || true
	tail -n 1 "$T/try.said" >&2
	if [ -n "${serving:-}" ]; then end_load; end_server; else kill "$pid"; fi
	serving=
	[ ! -s "$T/try.json" ] || awk -v r="$(number ratio)" -v l="$(number low)" -v h="$(number high)" 'BEGIN { if (r) print r, l, h }'
}
number() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$T/try.json" | tail -n 1; }

# Ratios of A to B in pairs, one a line: their geometric mean and its interval, by Student's t
interval() {
	awk 'BEGIN { split("12.71 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.16 2.145 2.131 2.12 2.11 2.101 2.093", t) }
		{ x[NR] = log($1); sum += x[NR] }
		END { if (NR < 2) { print "- - -"; exit } m = sum / NR; for (i = 1; i <= NR; i++) v += (x[i] - m) ^ 2
			h = (NR - 1 in t ? t[NR - 1] : 2) * sqrt(v / (NR - 1) / NR); printf "%.3f %.3f %.3f\n", exp(m), exp(m - h), exp(m + h) }'
}
gain_of() {		# NAME
	local name=$1 a b i
	rm -rf "$root/A" "$root/B"
	mkdir "$root/A" "$root/B"
	originals_of "$name" || { echo "| $name | left out: $(cat "$T/why" 2>/dev/null) | | | |"; return; }
	chmod -R a+rX "$root/A"
	cp "$root"/A/* "$root/B/"
	for ((i = 0; i < PROCESSES; i++)); do in_turns "$name"; done >"$T/turns"
	for ((i = 0; i < PAIRS; i++)); do
		if [ $((i % 2)) = 0 ]; then a=$(work_"$name" A); b=$(work_"$name" B); else b=$(work_"$name" B); a=$(work_"$name" A); fi
		awk -v a="$a" -v b="$b" 'BEGIN { if (a > 0 && b > 0) print a / b }'
	done >"$T/ratios"
	serving=
	awk -v name="$name" -v turns="$(interval <"$T/turns")" -v runs="$(interval <"$T/ratios")" -v pairs="$(wc -l <"$T/ratios")" '
		{ each = each (NR > 1 ? ", " : "") sprintf("%.3f (%.3f to %.3f)", $1, $2, $3) }
		END { split(turns, t); split(runs, r)
			printf "| %s | %s | %s (%s to %s), %d processes | %s (%s to %s), %d pairs | %s |\n", name, each,
				t[1], t[2], t[3], NR, r[1], r[2], r[3], pairs,
				t[1] == "-" || r[1] == "-" ? "-" : t[2] <= r[3] && r[2] <= t[3] ? "yes" : "no" }' "$T/turns"
}
part_gain() {
	: "${TRY_S:=30}" "${PAIRS:=12}" "${PROCESSES:=5}"
	sed 's/while (1)/for (1 .. 2000)/' "$root/loop.pl" >"$root/some.pl"
	for i in $(seq 120); do cat "$root/loop.sql"; done >"$root/some.sql"
	cat <<'END'
CPU time for the same work, original over generation, with 95 % intervals. In turns: `try --pid` in one process after
the other, each with a generation made anew for it; their interval is Student's, of logarithms, from process to process.
By restart: runs of the original and of a generation of these in turn, begun anew each, of what the server itself uses;
their interval likewise. The work is a loop of one script (perl), one query (sqlite3 and its library), keeping and
reading values (redis), pages that are compressed (nginx), reading transactions of pgbench (postgres).

| program | each process | in turns | by restart | intervals meet |
|---|---|---|---|---|
END
	for name in ${PROGRAMS:-perl sqlite redis nginx postgres}; do
		gain_of "$name" || echo "| $name | failed | | | |"
	done
}

verdict_row() {		# WHAT ARGUMENT...
	local from=$EPOCHREALTIME rc=0
	"$B/morphctl" try "${@:2}" >"$T/said" 2>"$T/told" </dev/null || rc=$?
	awk -v what="$1" -v a="$from" -v b="$EPOCHREALTIME" -v rc="$rc" -v said="$(grep -m 1 'proven\|told apart\|too few' "$T/said" || tail -n 1 "$T/told")" \
		'BEGIN { printf "| %s | %.1f | %d | %s |\n", what, b - a, rc, said }'
}
part_verdict() {
	local loops=4000
	: "${TRY_S:=60}"
	mkdir -p "$root/A"
	originals_of perl
	# two seconds of it, here
	sed "s/while (1)/for (1 .. 200)/" "$root/loop.pl" >"$root/two.pl"
	loops=$(awk -v ms="$(timed "$root/A/perl" "$root/two.pl")" 'BEGIN { printf "%d", 200 * 2000 / ms }')
	sed "s/while (1)/for (1 .. $loops)/" "$root/loop.pl" >"$root/two.pl"
	cat <<'END'
From the command to its verdict, with `--time` as it is by default (60 s) unless said; the script needs 2 s of CPU time.

| | seconds | exit code | verdict |
|---|---|---|---|
END
	for i in $(seq "$([ "${SHORT:-}" = 1 ] && echo 1 || echo 3)"); do
		verdict_row "\`try -- perl script\`" --time="$TRY_S" -- "$root/A/perl" "$root/two.pl"
	done
	begin_perl
	sleep 0.5
	for i in $(seq "$([ "${SHORT:-}" = 1 ] && echo 1 || echo 3)"); do
		verdict_row "\`try --pid\` of perl" --time="$TRY_S" --pid="$pid" --store="$root/store"
	done
	kill "$pid"
}
