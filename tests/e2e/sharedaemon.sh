#!/bin/bash
# sharedaemon.sh - a daemon that shares with a fleet's database: what it gives, what it takes, what it makes of it,
# while the server comes and goes and others lie
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/e2e/fleet.bash
need_root
need_postgres
for p in morph-share tests/e2e/fleet bench/fleetmachine; do [ -x "$B/$p" ] || { echo "$B/$p is missing"; exit 1; }; done
make_root gzip sort
trap 'stop_server; cleanup' EXIT
says() {		# TEXT COMMAND...
	local out
	out=$("${@:2}" 2>&1)
	grep -qE -- "$1" <<<"$out" || { echo "$out"; return 1; }
}
policy() {		# LINES: of section share, and of section optimize
	always_idle >"$root/morph.yaml"
	cat >>"$root/morph.yaml" <<-END
		monitor:
		  clock: cpu-clock
		  rate_hz: 2003
		  registers: off
		optimize:
		  min_samples: 20
		${2:-}
	END
	[ -z "$1" ] || printf 'share:\n%s\n' "$1" >>"$root/morph.yaml"
}
share_column() { ctl --json share | sed -n "s/.*\"$1\": \"\?\([^,\"}]*\).*/\1/p"; }
fleet_column() { ctl --json list | grep -F "\"$root/bin/$1\"" | sed -n 's/.*"fleet": "\([^"]*\)".*/\1/p'; }
seq 60000 >"$root/numbers"
use_gzip() { "$root/bin/gzip" -c "$root/numbers" "$root/numbers" "$root/numbers" >/dev/null; }
use_sort() { LC_ALL=C "$root/bin/sort" -R "$root/numbers" "$root/numbers" >/dev/null; }
digest_of() { sha "$root/orig/$1"; }
of_gzip="digest = decode('$(digest_of gzip)', 'hex')"

choose_server "$root/pg"
check "a server" make_server
check "starts" start_server
check "a fleet of 6" make_fleet 6
policy ""
check_here "a daemon that shares nothing" start_daemon --share-user backup
check "gzip is sampled" sampled gzip 100 use_gzip
check "nothing waits" test "$(share_column waiting) $(share_column queue_bytes)" = "0 0"
check "it says so" says "none: nothing is shared" ctl share
check "an exchange is refused" says "names no database" ctl share now
# An exchange begins by itself.
stop_server
policy "  conninfo: \"$(conninfo m1)\""
check "it shares from now on" ctl policy reload
check "gzip runs on" sampled gzip 200 use_gzip
check "what no package delivered is not given" test "$(share_column waiting)" = 0
policy "  conninfo: \"$(conninfo m1)\"
  send: [\"$root/bin/gzip\"]"
check "the policy names it" ctl policy reload
check "gzip is sampled again" sampled gzip 300 use_gzip
check "sort, too" sampled sort 50 use_sort
check "one module waits" test "$(share_column waiting)" = 1

# --- a server that comes and goes ---
check "the server is away: an error" not ctl share now
check "which is told" says "connection: connection to server" ctl share
check "it waits" test "$(share_column waiting)" = 1
check_here "it is kept through a restart" stop_daemon
check_here "of the daemon" start_daemon --share-user backup
check "it waits still" test "$(share_column waiting)" = 1
start_server
check "the server is back" ctl share now
check "nothing waits" test "$(share_column waiting)" = 0
count=$(sql postgres "SELECT round(weight / 256) FROM morph.contribution WHERE $of_gzip")
check "the server has it ($count samples)" test "$count" -ge 50
check "again: the same" ctl share now
check "it is there once" test "$(sql postgres "SELECT count(*) FROM morph.contribution")" = 1
check "no path, no name, no user of it is there" not grep -qE "gzip|$root|nobody" <(as_server pg_dump -h "$pg" -p "$port" -U postgres -a -n morph fleet)
check "more samples" sampled gzip $((2 * count + 300)) use_gzip
check "are given in place of those before" ctl share now
check "as one" test "$(sql postgres "SELECT count(*), max(sequence) > 1 FROM morph.contribution")" = "1|t"
check "there are more" test "$(sql postgres "SELECT round(weight / 256) > $count FROM morph.contribution")" = t

# --- the process ---
seen_share() {		# [USER]
	local k
	for k in $(cat "/proc/$daemon/task/$daemon/children"); do
		tr '\0' ' ' <"/proc/$k/cmdline" | grep -q "^morphd: share" && { [ $# = 0 ] || [ "$(stat -c %U "/proc/$k")" = "$1" ]; } && return 0
	done
	return 1
}
# Held by a lock, so that it is seen.
sql postgres "BEGIN" "LOCK morph.contribution" "SELECT pg_sleep(3)" >/dev/null &
sleep 0.5
sampled gzip $((2 * count + 400)) use_gzip
ctl share now >/dev/null &
looper=$!
check "an exchange has a process, of a user of its own" within 5 seen_share backup
wait "$looper"
looper=
check "and none when it is over" not seen_share

# --- the fleet's: others use gzip in another way ---
others() {		# SQL of arrays: each of m2..m6 gives what this one did, or that
	local i
	for i in 2 3 4 5 6; do
		sql "m$i" "SELECT morph.give(decode('$(digest_of gzip)', 'hex'), 0, '', h.epoch, decode(repeat('01', 16), 'hex'), ${seq:-1}, ${1}, '{}', '{}', '{}', '{}') FROM morph.hello() h"
	done
}
arrays=$(sql postgres "SELECT '''' || block::text || ''', ''' || (SELECT array_agg(x * 3 ORDER BY i) FROM unnest(count) WITH ORDINALITY u(x, i))::text || ''', ''{}'', ''{}'', ''{}''' FROM morph.contribution WHERE $of_gzip")
check "others give" others "$arrays"
sql m1 "SELECT morph.merge(10)" >/dev/null
check "theirs is taken" ctl share now
check "from six" says "samples, of 6$" fleet_column gzip
note "$(fleet_column gzip)"
worth=$(fleet_column gzip | cut -d' ' -f1)
check "and worth something, for they agree ($worth)" test "$worth" -ge 100
check "list says so" says "samples, of 6" ctl list --wide
check "explain, too" says "a fleet of 6" ctl explain "$root/bin/gzip"
check "of sort nothing" test -z "$(fleet_column sort)"
check "a generation" ctl reoptimize "$root/bin/gzip"
check "is of both" says "from [0-9]+ samples, and [0-9]+ of a fleet of 6" ctl history "$root/bin/gzip"
check "and proven" whole gzip
check "it runs" cmp <("$root/bin/gzip" -nc "$root/numbers") <("$root/orig/gzip" -nc "$root/numbers")

# --- others have counted: five Managers give what their gzip counted ---
count_gzip() {
	"$B/morph-edit" instrument "$root/orig/gzip" -o "$root/counting" --counts "$root/counts" && chmod 755 "$root/counting" &&
		"$root/counting" -c "$root/numbers" >/dev/null && "$B/morph-edit" counts "$root/orig/gzip" "$root/counts" -o "$root/exact" &&
		"$B/morph-edit" analyze --table "$root/table" "$root/orig/gzip" >/dev/null
}
others_count() {	# PROFILE
	local i
	sql postgres "DELETE FROM morph.contribution WHERE kind = 1"
	for i in 2 3 4 5 6; do
		says "given 1, refused 0" "$B/bench/fleetmachine" "$B/morph-share" "$(conninfo "m$i")" "$root/orig/gzip" "$root/table" give "" "$1" || return 1
	done
	sql m1 "SELECT morph.merge(10)" >/dev/null
}
check "gzip is counted" count_gzip
check "five give it" others_count "$root/exact"
check "no path, no name, no user of it is there" not grep -qE "gzip|$root|nobody" <(as_server pg_dump -h "$pg" -p "$port" -U postgres -a -n morph fleet)
check "the counts are taken" ctl share now
check "list says so" says "; counts of 5$" fleet_column gzip
check "explain, in how many functions" says "exact counts of a fleet of 5 .*[0-9]+ of [0-9]+" ctl explain "$root/bin/gzip"
check "a generation" ctl reoptimize "$root/bin/gzip"
check "is of them as well" says "of a fleet of 6 and the counts of a fleet of 5 in [0-9]+ functions" ctl history "$root/bin/gzip"
check "and proven" whole gzip
check "it runs" cmp <("$root/bin/gzip" -nc "$root/numbers") <("$root/orig/gzip" -nc "$root/numbers")
# Every branch the other way.
turn_round() {
	awk '$1 == "edge" && $2 == from { to[++n] = $3; times[n] = $4; next }
		{ for (i = 1; i <= n; i++) print "edge", from, to[i], times[n + 1 - i]; n = 0; from = "" }
		$1 == "edge" { from = $2; n = 1; to[1] = $3; times[1] = $4; next }
		{ print }
		END { for (i = 1; i <= n; i++) print "edge", from, to[i], times[n + 1 - i] }' "$root/exact" >"$root/lie"
}
check "they lie" turn_round
check "and give that" others_count "$root/lie"
check "it is taken" ctl share now
check "a generation" ctl reoptimize "$root/bin/gzip"
check "is the same program" whole gzip
check "and runs" cmp <("$root/bin/gzip" -nc "$root/numbers") <("$root/orig/gzip" -nc "$root/numbers")

# --- liars: all others, with blocks that this machine never runs, and blocks that there are not ---
seq=2 others "'{1,2,3}', '{100000000,100000000,100000000}', '{}', '{}', '{}'" >/dev/null
sql postgres "SELECT morph.merge(10)" "UPDATE morph.contribution SET sequence = sequence" >/dev/null
check "lies are taken" ctl share now
lied=$(fleet_column gzip | cut -d' ' -f1)
note "$(fleet_column gzip)"
check "and worth next to nothing ($lied)" test "${lied:-0}" -lt $((worth / 4))
seq=3 others "'{1,2000000}', '{1000000,100000000}', '{}', '{}', '{}'" >/dev/null
sql postgres "SELECT morph.merge(10)" >/dev/null
check "blocks that there are not" ctl share now
check "are left out, and that is counted" test "$(share_column left_out)" = 1
check "what there is beside them is worth next to nothing" test "$(fleet_column gzip | cut -d' ' -f1)" -lt $((worth / 4))
check "gzip can be laid out" ctl reoptimize "$root/bin/gzip"
check "and is the same program" whole gzip

# --- what this machine counts itself is given as well ---
policy "  conninfo: \"$(conninfo m1)\"
  send: [\"$root/bin/gzip\", \"$root/bin/sort\"]" "  count: on
  max_unseen_pct: 100
  min_gain_ppm: 0
  observe_first_h: 0
  automatic: true"
check "sort is sampled more" sampled sort 150 use_sort
check "it may be counted" ctl policy reload
# A job that nobody waits for makes room for us.
is_told() { hasten; sleep 0.2; ctl history "$root/bin/sort" | grep -Eq "$1"; }
check_here "sort is to be counted" within 120 is_told "counting .* generation 1 counts what"
for i in $(seq 24); do use_sort; done
check_here "it is" within 120 is_told "counted .*([6-9]|1[0-9]) runs"
check "that is given" ctl share now
check "as executions, in one sum" test "$(sql postgres "SELECT count(*) FROM morph.contribution WHERE kind = 1 AND contributor = 'm1' AND
	digest = decode('$(digest_of sort)', 'hex') AND weight BETWEEN 1073741824 AND 1200000000 AND cardinality(edge_count) > 0")" = 1

# --- and no more ---
policy ""
check "nothing is shared any more" ctl policy reload
check "nothing of the fleet is kept" test -z "$(fleet_column gzip)"
check "nor of what waited" test "$(share_column queue_bytes)" = 0
# --- and again, in the same week: what was given stays, and what comes counts beside it ---
rows() { sql postgres "SELECT machine, sequence, weight FROM morph.contribution WHERE contributor = 'm1' AND kind = 0 AND $of_gzip ORDER BY machine"; }
rows >"$root/before"
policy "  conninfo: \"$(conninfo m1)\"
  send: [\"$root/bin/gzip\"]"
check "it shares again" ctl policy reload
new_samples() { use_gzip; taken_in && [ "$(share_column waiting)" = 1 ]; }
check_here "there are new samples" within 60 new_samples
check "they are given" ctl share now
check "beside those before" test "$(rows | grep -cvxFf "$root/before")" = 1
check "which are as they were" test "$(rows | grep -cxFf "$root/before")" = 1
policy ""
check "nothing is shared any more" ctl policy reload
check "undo" ctl undo "$root/bin/gzip"
check_here "the daemon ends" stop_daemon
check "as it began" same_file "$root/bin/gzip" "$root/orig/gzip"
done_testing
