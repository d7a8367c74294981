#!/bin/bash
# suites.sh - programs run their own test suites while generations go into their processes and out again all the time
#
#	perl	the test files of its source package		python	test modules of its own library
#	sqlite3	the shell, long scripts				postgres	the regression tests of its source package
#
# A unit is a test file, a module, a script.  Each suite runs without swaps, of EVERY (1) units one, and once more with
# them: what a unit says and ends with must be the same.  What is not is run once more without and with: what differs
# from itself without swaps does not count, nor what is the same then.  SUITES chooses; WAIT_S (0.02) is between swaps.
# Prints a line for each:
#
#	NAME UNITS DIFFERENT UNSTABLE in out later gone taken failed median p99 max
#
# With REPORT, a report goes there.  Ends with 1 when a unit was different, a swap failed, or there was none.  What is not there is left out, and said;
# source packages are fetched once, into build/torture/sources.  What is swapped are copies, mounted over the system's
# programs in a namespace.
cd "$(dirname "$0")/../.." || exit 1
B=$(cd "${B:-build}" && pwd) || exit 1
[ "$(id -u)" = 0 ] || { echo "soak-suites: needs root to change other processes" >&2; exit 1; }
PATH=/usr/sbin:/usr/bin:/sbin:/bin
EVERY=${EVERY:-1} WAIT_S=${WAIT_S:-0.02} SUITES=${SUITES:-sqlite3 python perl postgres}
STATE=$B/torture SOURCES=$STATE/sources here=$PWD/tests/torture/work
mkdir -p "$SOURCES"
live=$B/morph-live
pids=()
failed=0
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-suites.XXXXXX") || exit 1
cleanup() {
	touch "$root/stop"
	disown -a
	for pid in "${pids[@]}"; do kill -STOP "$pid"; pkill -9 -P "$pid"; kill -9 "$pid"; done 2>/dev/null
	[ "${KEEP:-}" = 1 ] && { echo "kept: $root" >&2; return; }
	rm -rf "$root"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
chmod 755 "$root"
mkdir "$root/gen"
. tests/e2e/live.bash
. tests/e2e/servers.bash
. tests/torture/fetch.bash
left_out() { echo "soak-suites: $1 left out: $2" >&2; }
wrong() { echo "soak-suites: $*" >&2; failed=1; }

# --- swaps ---

swap_begin() {		# NAME PROGRAM [OPTION]: what is swapped is named so; in all processes of the program
	rm -f "$root/stop"
	nice -n -10 "$B/tests/soak/swaps" "$root/stop" "$(awk -v s="$WAIT_S" 'BEGIN { printf "%d", s * 1000 }')" "$live" "$2" \
		"$root/$1.plan" "$root/gen/$1" "$root/gen" ${3:+"$3"} >>"$root/$1.swaps" 2>&1 &
	swapper=$!
	pids+=("$swapper")
}
swap_end() { touch "$root/stop"; wait "$swapper" 2>/dev/null; }
report() {		# NAME UNITS DIFFERENT UNSTABLE
	local s=$root/$1.swaps
	awk '$1 == "on" || $1 == "off" { print $2 }' "$s" | sort -n >"$root/pauses"
	awk -v head="$*" -v median="$(awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] + 0 }' "$root/pauses")" \
		-v p99="$(awk '{ a[NR] = $1 } END { print a[int(NR * 0.99 + 0.5)] + 0 }' "$root/pauses")" -v most="$(tail -n 1 "$root/pauses")" '
		{ n[$1]++ }
		END { print head, n["on"] + 0, n["off"] + 0, n["later"] + 0, n["gone"] + 0, n["taken"] + 0, n["failed"] + 0, median, p99, most + 0 }' "$s" |
		tee -a "$root/lines"
	! grep -q '^failed' "$s" || wrong "$1: $(grep -h '^failed' "$s" | sort | uniq -c | head -n 4)"
	[ "$3" = 0 ] || wrong "$1: units differ"
	grep -q '^on' "$s" || wrong "$1 was never swapped"
}

# --- suites ---

# Lines "unit NAME RESULT" of two runs: names of those of the first that the second has otherwise, or not
differing() { comm -23 <(sort "$1") <(sort "$2") | awk '{ print $2 }'; }

# NAME PROGRAM: by suite_NAME OUT UNITS, which runs all of them, or those that are named
compare() {
	local name=$1 program=$2 option=${3:-} different unstable="" count
	suite_"$name" "$root/without" ""
	count=$(wc -l <"$root/without")
	[ "$count" -gt 0 ] || { wrong "$name: no unit ran"; return; }
	swap_begin "$name" "$program" "$option"
	suite_"$name" "$root/with" ""
	swap_end
	different=$(differing "$root/without" "$root/with")
	if [ -n "$different" ]; then
		suite_"$name" "$root/again" "$(echo $different)"
		swap_begin "$name" "$program" "$option"
		suite_"$name" "$root/late" "$(echo $different)"
		swap_end
		unstable=$(differing "$root/again" "$root/without")
		different=$(comm -23 <(differing "$root/again" "$root/late" | sort) <(sort <<<"$unstable"))
	fi
	report "$name" "$count" "$(wc -w <<<"$different")" "$(wc -w <<<"$unstable")"
	[ -z "$different" ] || echo "soak-suites: $name: $(echo $different | cut -c 1-200)" >&2
}

# In a namespace of its own: COVER FILE... mounted, then a workload of tests/torture/work in a folder.
cat >"$root/inside.sh" <<'END'
work=$1 only=$2
cd "$3" && shift 3 || exit 125
while [ $# -gt 0 ]; do mount --bind "$1" "$2" && shift 2 || exit 125; done
. "$TORTURE_HERE/common.bash"
eval "whole_$(declare -f unit)"
n=0
unit() {
	local this=$((n++))
	if [ -n "$only" ]; then [[ " $only " = *" $1 "* ]] || return 0; elif [ $((this % EVERY)) != 0 ]; then return 0; fi
	whole_unit "$@"
}
. "$TORTURE_HERE/$work.sh"
run
END
work() {		# NAME OUT UNITS COVER FILE...: a workload without units is one
	local name=$1 out=$2 only=$3
	shift 3
	rm -rf "$root/here" && cp -a "$root/prepared.$name" "$root/here" &&
		unshare -m --propagation private env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME="$root/here" LC_ALL=C.UTF-8 TZ=UTC SOURCES="$SOURCES" EVERY="$EVERY" TORTURE_HERE="$here" \
			bash "$root/inside.sh" "$name" "$only" "$root/here" "$@" >"$root/said" 2>&1 </dev/null
	grep '^unit ' "$root/said" >"$out" || echo "unit all $? $(sha256sum <"$root/said" | cut -c 1-16)" >"$out"
}
prepare_work() {	# NAME: what it needs
	local why
	mkdir "$root/prepared.$1"
	why=$(unset sources; unset -f prepare; . "$here/common.bash"; . "$here/$1.sh"
		missing_packages $packages && missing_sources ${sources:-} || exit
		cd "$root/prepared.$1" && { ! declare -f prepare >/dev/null || prepare; }) || { left_out "$1" "$(tail -n 1 <<<"$why")"; return 1; }
}

# New text is far behind heaps, which begin at another place each time.
far=--text-at=0x50000000
suite_perl() { work perl "$1" "$2" "$root/perl" /usr/bin/perl; }
begin_perl() { prepare_work perl && prepare perl /usr/bin/perl $far && compare perl "$root/perl"; }
suite_python() { work python "$1" "$2" "$root/python" /usr/bin/python3.11; }
begin_python() { prepare_work python && prepare python /usr/bin/python3.11 $far && compare python "$root/python"; }
suite_sqlite3() { work sqlite3 "$1" "$2" "$root/sqlite3" "$sqlite" "$root/sqlite3.program" /usr/bin/sqlite3; }
begin_sqlite3() {
	prepare_work sqlite3 || return
	sqlite=$(realpath "$(ldconfig -p | awk '/libsqlite3.so.0.*x86-64/ { print $NF; exit }')")
	cp /usr/bin/sqlite3 "$root/sqlite3.program"
	prepare sqlite3 "$sqlite" $far && compare sqlite3 "$root/sqlite3.program"
}
# Those in the schedule that need no library of their own; a failure without swaps is as good a result as any.
suite_postgres() {
	local tests="boolean char name varchar text int2 int4 int8 oid float4 float8 bit numeric uuid enum money rangetypes pg_lsn regproc
		strings numerology point lseg line box path polygon circle date time timetz timestamp timestamptz interval inet macaddr
		multirangetypes test_setup create_table insert copy select select_into select_distinct select_having subselect union case join
		aggregates transactions random arrays btree_index hash_index update delete prepared_xacts brin gin gist spgist
		plpgsql temp domain rangefuncs prepare conversion truncate alter_table sequence polymorphism rowtypes returning largeobject
		with xml window json jsonb jsonpath sqljson tsearch limit copy2 foreign_data merge sysviews vacuum partition_join tuplesort"
	local i=0 t want=
	for t in ${2:-$tests}; do
		[ -e "$SOURCES/postgresql-15/src/test/regress/sql/$t.sql" ] || continue
		{ [ -n "$2" ] || [ "$t" = test_setup ] || [ $((i++ % EVERY)) = 0 ]; } && want+=" $t"
	done
	(cd "$root/pg" && as_postgres "$regress" --inputdir="$SOURCES/postgresql-15/src/test/regress" --outputdir="$root/pg/out" \
		--bindir="$pgbin" --host="$root/pg" --user=bench --dlpath="$root/pg" $want) >"$root/said" 2>&1
	sed -nE 's/^(test|ok|not ok) *[0-9+-]* *([a-z_0-9]+) .*(ok|FAILED).*/unit \2 \3/p' "$root/said" |
		while read -r _ t result; do echo "unit $t $result $(sha256sum <"$root/pg/out/results/$t.out" | cut -c 1-16)"; done >"$1"
}
begin_postgres() {
	local why
	why=$(postgres_there) && postgres_there && why=$(missing_sources postgresql-15) && why=$(postgres_make) || { left_out postgres "$why"; return; }
	regress=$(find /usr/lib/postgresql/*/lib/pgxs -name pg_regress 2>/dev/null | tail -n 1)
	[ -x "$regress" ] || { left_out postgres "there is no pg_regress"; return; }
	prepare postgres "$server" $far || return
	chmod 755 "$root/postgres"
	mkdir "$root/pg/out" && chown "$pguser" "$root/pg/out"
	postgres_command "$root/postgres"
	start "$root/postgres.out" "${command[@]}"
	postgres_ready
	pids+=("$(cat "$root/postgres.pid")")
	compare postgres "$root/postgres" --nobody-catches
	kill "$(cat "$root/postgres.pid")"
}

for s in $SUITES; do
	begin_"$s"
done
if [ -n "${REPORT:-}" ]; then
	{
		echo "# Test suites of programs while they are swapped"
		echo
		(. bench/common.bash && result_facts "EVERY=$EVERY WAIT_S=$WAIT_S SUITES='$SUITES' make soak-suites")
		echo "\`unstable\`: differs from itself without swaps. \`later\`: no moment came within 250 ms. \`gone\`: the process had ended."
		echo "\`taken\`: new text did not fit there. Every function is moved (\`--all\`). Pauses in ms."
		echo
		echo "| suite | units | different | unstable | in | out | later | gone | taken | failed | pause: median | 99th | greatest |"
		echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
		awk '{ printf "| %s |", $1; for (i = 2; i <= 10; i++) printf " %d |", $i; printf " %.2f | %.2f | %.2f |\n", $11 / 1000, $12 / 1000, $13 / 1000 }' "$root/lines"
	} >"$REPORT"
fi
exit $failed
