#!/bin/bash
# sharefair.sh - what contributors to a fleet's database can do to each other over several weeks and mergings: what
# they learn, what they outweigh, and what they stop
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/fleet.bash
begin_fleet 21
set_to() { sql postgres "UPDATE morph.setting SET value = $2 WHERE name = '$1'"; }
# FIRST LAST BYTE EPOCH SEQUENCE COUNTS [EDGES]: each of these logins gives the same
all() { local i; for i in $(seq "$1" "$2"); do client "m$i" 1 give "$3" 0 "$4" "$5" "${@:6}" >/dev/null || return 1; done; }
merged() { sql "$1" "SELECT morph.merge(100)"; }
key="'', (SELECT epoch FROM morph.hello()), decode(repeat('01', 16), 'hex')"
by_sql() {		# LOGIN BYTE IN HEX, SEQUENCE, BLOCKS, COUNTS: inside of what transaction it is
	echo "SELECT morph.give(decode(repeat('$2', 32), 'hex'), 0, $key, $3, '{$4}', '{$5}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')"
}

# --- what is learnt: differences ---
all 1 5 10 0 1 "1:1000"
check "what five gave is seen" says "of 5: 1:5000" client m9 1 want 10
client m1 1 give 10 0 0 2 "1:1700" >/dev/null
check "nobody merges what one has changed" is 0 merged m1
check "nor the owner" is 0 merged postgres
check "it is not seen" says "of 5: 1:5000" client m9 1 want 10
all 2 4 10 0 2 "1:1100"
sql m4 "SELECT pg_advisory_lock(hashtextextended(repeat('0a', 32) || '0', 0))" "SELECT morph.merge(100)" >/dev/null
check "nor what four have, with whatever lock one holds" says "of 5: 1:5000" client m9 1 want 10
client m4 2 give 10 0 0 1 "1:50" >/dev/null
check "a login is one, with as many machines as it has" says "of 5: 1:5000" client m9 1 want 10
client m5 1 give 10 0 0 2 "1:1100" >/dev/null
check "with the fifth it is" says "of 5: 1:5500" client m9 1 want 10
check "and not twice" is 0 merged m1
all 1 16 11 0 1 "1:1000"
all 1 6 11 0 2 "1:1000"
set_to least_contributors 1
sql postgres "UPDATE morph.merged SET contributors = 100 WHERE digest = decode(repeat('0b', 32), 'hex')"
check "of many, a tenth must have changed" is 0 sql postgres "SELECT count(*) FROM morph.merged WHERE digest = decode(repeat('0b', 32), 'hex') AND morph.is_due(digest, kind, class, epoch)"
set_to least_contributors 5
set_to merge_after_s 600
all 1 5 10 0 3 "1:9000"
check "nor all, before its time" is 0 merged m1
set_to merge_after_s 0
check "then they are" is 1 merged m1
all 1 5 10 0 4 "1:8000"
sql postgres "UPDATE morph.merged SET seen = NULL WHERE digest = decode(repeat('0a', 32), 'hex')"
check "who gave nothing of a file merges nothing of it" is 0 merged m16
check "who did, does" is 1 merged m3

# Whoever merges could end it by ROLLBACK, and see what each one changes.
taken="SELECT contributors, count FROM morph.take(ARRAY[decode(repeat('28', 32), 'hex')], '')"
given() { local i; for i in "${@:2}"; do sql "m$i" "$(by_sql "m$i" 28 1 1 "$1")" >/dev/null || return 1; done; }
given 1000 1 2 3 4 14
check "who merges does not see what came of it" is "1" sql m1 "BEGIN" "SELECT morph.merge(100)" "$taken" "ROLLBACK"
given 777 6
check "nor, again, what one has given since" is "1" sql m1 "BEGIN" "SAVEPOINT s" "SELECT morph.merge(100)" "$taken" "ROLLBACK TO s" "$taken" "ROLLBACK"
sql postgres "CREATE FUNCTION morph.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(6); RETURN new; END'" \
	"CREATE TRIGGER slow BEFORE INSERT ON morph.merged FOR EACH ROW WHEN (session_user = 'm5') EXECUTE FUNCTION morph.slow()"
hold "SELECT morph.merge(100); $taken"
check "one has merged it, and holds that back" test $? = 0
given 333 5
sql m5 "SELECT morph.merge(100)" >"$root/out" 2>&1 &
merging=$!
for i in $(seq 100); do [ "$(sql postgres "SELECT count(*) FROM pg_stat_activity WHERE usename = 'm5' AND wait_event = 'PgSleep'")" = 1 ] && break; sleep 0.1; done
let_go COMMIT
seen=$(sql m9 "$taken")
wait "$merging"
check "what is held back until another merges it is seen" test "$seen" = "6|{5777}"
check "or what the other merged, and not both" is "0 6|{5777}" echo "$(cat "$root/out") $(sql m9 "$taken")"
sql postgres "DROP TRIGGER slow ON morph.merged"

# --- what is outweighed: other weeks, other blocks, edges ---
all 1 9 20 0 1 "1:10000,2:20000,3:5000"
all 10 14 20 -3 1 "7:1000000000"
merge_anew
check "five in a week of their own weigh what five are" says "1:90000 2:180000 3:45000 7:32115" client m9 1 want 20
all 1 9 21 -1 1 "1:10000,2:20000,3:5000"
all 10 14 21 0 1 "7:1000000000"
merge_anew
check "also when the new week begins with them" says "2:151361 3:37840 7:54012" client m9 1 want 21
set_to late_epochs 5
all 1 16 26 0 1 "1:10000,2:20000"
for e in 0 -1 -2 -3 -4; do all 17 21 26 "$e" 1 "7:1000000000"; done
merge_anew
share_of() {		# BYTE IN HEX, BLOCK: in percent
	sql postgres "SELECT round(100 * sum(n) FILTER (WHERE b = $2) / sum(n)) FROM morph.evidence, unnest(block, count) u(b, n) WHERE digest = decode(repeat('$1', 32), 'hex')"
}
check "five of 21 who were there alone in all weeks before are 26 %, not 53" is 26 share_of 1a 7
set_to late_epochs 26
all 1 5 22 -1 1 "1:1000"
all 1 5 22 0 1 "1:10"
check "a week that has just begun takes nothing of the one before" says "1:4254" client m9 1 want 22
check "more samples than a week has are refused" says "counts too large in sum" client m1 1 give 23 0 0 1 "1:1000000000000000,2:1000000000000000"
set_to late_epochs 5
check "weeks of long ago are over" says "of too long ago" client m1 1 give 23 0 -5 1 "1:1"
check "those of a server that was away are not" says "told 0 taken" client m1 1 give 23 0 -4 1 "1:1"
set_to late_epochs 26
for i in $(seq 10); do client "m$i" 1 give 24 0 0 1 "1:1000,$((100 + i)):9000" >/dev/null; done
client m12 1 give 24 0 0 1 "1:10000" >/dev/null
merge_anew
check "nobody is a tenth of what is seen by what the others have alone" says "of 11: 1:11000" client m9 1 want 24
all 1 7 25 0 1 "1:100000" "1-2:100000"
all 8 13 25 0 1 "1:9999" "1-2:10000"
merge_anew
check "a crowd that does not count does not count for edges" says "of 7: 1:700000 1-2:700000" client m9 1 want 25
all 1 8 38 0 1 "1:90"
all 9 16 38 0 1 "1:1000"
all 17 21 38 0 1 "7:1000000"
merge_anew
check "five of 21 where half of the others have a tenth are 38 %" is 38 share_of 26 7
blocks() {		# LOGIN EPOCH FIRST LAST COUNT: it gives so much of each of these blocks
	sql "$1" "SELECT morph.give(decode(repeat('27', 32), 'hex'), 0, '', (SELECT epoch FROM morph.hello()) + $2, decode(repeat('01', 16), 'hex'), 1, b, n, '{}', '{}', '{}', '{}', '{}', '{}', '{}')
		FROM (SELECT array_agg(g) b, array_agg($5::bigint) n FROM generate_series($3, $4) g) x" >/dev/null
}
for i in $(seq 21); do blocks "m$i" -1 1 1000 20; done
for i in $(seq 16); do blocks "m$i" 0 1 1000 1; done
for i in $(seq 17 21); do blocks "m$i" 0 100001 300000 1; done
merge_anew
check "crumbs are not rounded up to a third of all" is t sql postgres "SELECT coalesce(sum(n) FILTER (WHERE b > 100000), 0) / sum(n) < 0.05 FROM morph.evidence, unnest(block, count) u(b, n) WHERE digest = decode(repeat('27', 32), 'hex')"

# --- what is stopped ---
set_to counts_of_file_most 3
check "more of a file than one may give" says "more than a contributor may give of a file in an epoch" client m1 1 give 30 0 0 1 "1:1,2:1,3:1,4:1"
client m1 1 give 30 0 0 1 "1:1,2:1" >/dev/null
check "by several machines, too" says "of a file in an epoch" client m1 2 give 30 0 0 1 "1:1,2:1"
check "what takes the place of one's own is not more" says "told 0 taken" client m1 1 give 30 0 0 2 "1:1,2:1,3:1"
set_to counts_of_file_most 500000
set_to written_most 20
check "as often as one likes" says "more than a contributor may give in an epoch" sql m6 "SELECT count(morph.give(decode(repeat('1f', 32), 'hex'), 0, $key, s, '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')) FROM generate_series(1, 30) s" \
	"$(by_sql m6 1f 31 1 1)"
set_to written_most 200000000
set_to merged_most 2
all 1 5 32 0 1 "1:5,2:900,3:7,4:800,5:6"
check "of too many counts the largest are kept" says "of 5: 2:4500 4:4000" client m9 1 want 32
set_to merged_most 250000
set_to merged_counts_most 20
all 1 16 33 0 1 "1:100,2:100"
merge_anew
check "and of too much to be merged a part" says "of 10: 1:1000 2:1000" client m9 1 want 33
all 1 4 36 0 1 "1:100,2:100,3:100"
all 5 16 36 0 1 "1:100,2:100"
merge_anew
check "those who have most come last" says "of 10: 1:1000 2:1000" client m9 1 want 36
set_to merged_counts_most 2500000
all 1 5 34 0 1 "1:100"
for i in 10 11 12 13 14; do for j in $(seq 100 160); do echo "$(by_sql "m$i" "$(printf %02x "$j")" 1 1 1);"; done | as_server psql -Xq -h "$pg" -p "$port" -U "m$i" -d fleet >/dev/null; done
all 1 5 34 0 2 "1:200"
check "files of a crowd hold up nobody's" says "of 5: 1:1000" client m9 1 want 34
# Two weeks of a file, merged at the same time by who gave in one of them: each sees that one.
all 1 5 35 0 1 "1:100"
sql postgres "DELETE FROM morph.merged WHERE digest = decode(repeat('23', 32), 'hex')" "DELETE FROM morph.fleet WHERE digest = decode(repeat('23', 32), 'hex')"
all 7 10 35 -4 1 "1:100"
coproc ONE { as_server psql -XqAt -h "$pg" -p "$port" -U m5 -d fleet 2>&1; }
one=$ONE_PID
printf "BEGIN; %s; SELECT morph.merge(100); SELECT 'merged';\n" "$(by_sql m5 23 9 1 100)" >&"${ONE[1]}"
while read -r -t 20 -u "${ONE[0]}" line; do [ "$line" = merged ] && break; done
client m6 1 give 35 0 -4 1 "1:100" >/dev/null
printf 'COMMIT;\n\\q\n' >&"${ONE[1]}"
wait "$one"
merged m1 >/dev/null
check "what two merge at the same time is merged whole" says "of 5: 1:750" client m9 1 want 35
done_testing
