#!/bin/bash
# sharesafe.sh - what a fleet's database keeps to itself and keeps working, over years: plans of queries, servers it
# moves to, weeks that go, contributors that stand in the way of its owner
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/fleet.bash
begin_fleet 16
set_to() { sql postgres "UPDATE morph.setting SET value = $2 WHERE name = '$1'"; }
# FIRST LAST BYTE EPOCH SEQUENCE COUNTS [EDGES]: each of these logins gives the same
all() { local i; for i in $(seq "$1" "$2"); do client "m$i" 1 give "$3" 0 "$4" "$5" "${@:6}" >/dev/null || return 1; done; }
# BYTE IN HEX, SEQUENCE, COUNT, NUMBERS OF LOGINS: given, and not merged by them
given() {
	local i
	for i in "${@:4}"; do
		sql "m$i" "SELECT morph.give(decode(repeat('$1', 32), 'hex'), 0, '', (SELECT epoch FROM morph.hello()), decode(repeat('01', 16), 'hex'), $2, '{1}', '{$3}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')" >/dev/null || return 1
	done
}
merged() { sql "$1" "SELECT morph.merge(100)"; }

# --- what plans tell ---
client m1 1 give 10 0 0 1 "1:1000" >/dev/null
explained() {		# LOGIN VIEW: what is told of a file that one other gave
	sql "$1" "SET enable_seqscan = off" "SET enable_bitmapscan = off" \
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM morph.$2 WHERE digest = decode(repeat('0a', 32), 'hex')"
}
planned() { explained "$@" | tr -s '\n ' ' '; }
nothing=$(planned m2 mine)
sql postgres "DELETE FROM morph.contribution"
check "the plan of one's own rows is the same where another gave" test "$nothing" = "$(planned m2 mine)"
client m1 1 give 10 0 0 1 "1:1000" >/dev/null
check "it has no index, and no filter of the database's" says "Function Scan on own" explained m2 mine
for view in contribution merged fleet; do
	check "no plan of $view" says "permission denied" explained m2 "$view"
done

# --- a server it moves to: numbers of transactions there are others ---
numbers() {		# HOW MANY of them to use up
	sql postgres "DO \$\$ BEGIN FOR i IN 1..$1 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END \$\$"
}
numbers 5000
given 14 1 1000 1 2 3 4 5 6
given 15 1 1000 1 2 3 4 5
check "what is there is merged" is 2 merged m1
given 15 1 1000 6
as_server "$pgbin/pg_dumpall" -h "$pg" -p "$port" -U postgres --roles-only >"$root/roles.sql"
as_server "$pgbin/pg_dump" -h "$pg" -p "$port" -U postgres -C fleet >"$root/fleet.sql"
stop_server
move() {
	make_server && start_server || return 1
	cat "$root/roles.sql" "$root/fleet.sql" | as_server psql -Xq -h "$pg" -p "$port" -U postgres -d postgres >"$root/moved" 2>&1
	[ "$(sql postgres "SELECT count(*) > 10 FROM morph.contribution")" = t ]
}
choose_server "$root/moved-to"
check "it moves to another server" move
check "whose numbers are lower" is t sql postgres "SELECT pg_current_xact_id() < '5000'"
check "what was merged is there" says "of 6: 1:6000" client m9 1 want 20
check "and not merged again" is "0 0" echo "$(merged m1) $(merged postgres)"
given 14 2 900 2
check "nobody merges what one has changed since" is "0 0" echo "$(merged m2) $(merged postgres)"
check "it is not seen" says "of 6: 1:6000" client m9 1 want 20
numbers 6000
check "nor when the numbers of then are over" is "0 0" echo "$(merged m2) $(merged postgres)"
given 14 2 900 1 3 4
check "nor what four have" is "0 0" echo "$(merged m2) $(merged postgres)"
given 14 2 900 5
check "with the fifth it is" is "1 0" echo "$(merged m1) $(merged postgres)"
check "and seen" says "of 6: 1:5400" client m9 1 want 20
given 15 2 900 1 2 3 4
check "what was given before it moved, and not merged yet, counts as well" is "1 0" echo "$(merged m1) $(merged postgres)"
check "with the rest" says "of 6: 1:5400" client m9 1 want 21

# --- weeks that go, and files that fail ---
old_weeks() { sql postgres "SELECT count(*) FROM morph.merged WHERE epoch <= morph.epoch_now() - 26"; }
sql postgres "INSERT INTO morph.merged(digest, kind, class, epoch, contributors, weight, block, count, edge_from, edge_to, edge_count, call_block, call_at, call_target, call_count, seen, written, at)
	SELECT sha256(('tiny' || g)::bytea), 0, '', morph.epoch_now() - 26, 5, 5, '{1}', '{5}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', seen, written, at FROM generate_series(1, 2000) g,
	(SELECT * FROM morph.merged ORDER BY made DESC LIMIT 1) m"
sql postgres "INSERT INTO morph.fleet(digest, kind, class, epoch, contributors, weight, block, count, edge_from, edge_to, edge_count, call_block, call_at, call_target, call_count, seen)
	SELECT digest, kind, class, epoch, contributors, weight, block, count, edge_from, edge_to, edge_count, call_block, call_at, call_target, call_count, seen FROM morph.merged WHERE epoch <= morph.epoch_now() - 26"
sql postgres "INSERT INTO morph.contribution SELECT sha256(('tiny' || g)::bytea), 0, '', morph.epoch_now() - 26, 'm7', machine, 1, 5, '{1}', '{5}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', 1, given FROM generate_series(1, 2000) g,
	(SELECT * FROM morph.contribution LIMIT 1) c"
given 1e 1 100 1 2 3 4 5
check "what is new is merged while the weeks of 2,000 files are over" is 1 sql m1 "SET statement_timeout = '2s'" "SELECT morph.merge(1)"
goes() {
	local i
	for i in $(seq 60); do
		[ "$(sql m1 "SET statement_timeout = '20s'" "SELECT morph.merge(1)")" = 0 ] || return 1
		[ "$(old_weeks) $(sql postgres "SELECT count(*) FROM morph.contribution WHERE contributor = 'm7'")" = "0 0" ] && return 0
	done
	return 1
}
check "they go by and by" goes
sql postgres "CREATE SEQUENCE morph.once" "GRANT USAGE ON SEQUENCE morph.once TO morph_owner" \
	"CREATE FUNCTION morph.fails() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF get_byte(new.digest, 0) = 31 THEN RAISE ''it is broken''; END IF;
		IF get_byte(new.digest, 0) = 32 AND nextval(''morph.once'') = 1 THEN RAISE ''it takes too long'' USING ERRCODE = ''57014''; END IF; RETURN new; END'" \
	"CREATE TRIGGER fails BEFORE INSERT ON morph.fleet FOR EACH ROW EXECUTE FUNCTION morph.fails()" \
	"INSERT INTO morph.merged SELECT decode(repeat('1f', 32), 'hex'), 0, '', morph.epoch_now() - 26, 5, 5, '{1}', '{5}', '{}', '{}', '{}', '{}', '{}', '{}', '{}' FROM generate_series(1, 1)"
given 20 1 100 1 2 3 4
check "a merging that takes too long is told" says "status 4 merging: server: it takes too long" client m5 1 give 32 0 0 1 "1:100" want 32
check "and does not stop the next" says "of 5: 1:500" client m9 1 want 32
given 21 1 100 1 2 3 4 5
given 1f 1 100 1 2 3 4 5
check "where one file fails another is merged" is 1 sql m1 "SELECT morph.merge(1)"
check "and seen" says "of 5: 1:500" client m9 1 want 33
check "then it is told" says "it is broken" sql m1 "SELECT morph.merge(1)"
check "to nobody else" is 0 sql m9 "SELECT morph.merge(1)"
sql postgres "DROP TRIGGER fails ON morph.fleet"
check "when it does not fail any more it is merged" is 1 sql m1 "SELECT morph.merge(1)"
check "nothing is left of files that have no week any more" is 0 sql postgres "SELECT count(*) FROM morph.fleet WHERE contributors = 0"
check "and its old week goes" is "0 0" echo "$(sql m9 "SELECT morph.merge(1)") $(old_weeks)"

# --- how long a merging can take: as long as a client waits, with room ---
big() {			# FIRST LAST BYTE IN HEX, CALLS
	local i
	for i in $(seq "$1" "$2"); do
		sql "m$i" "SELECT morph.give(decode(repeat('$3', 32), 'hex'), 0, '', (SELECT epoch FROM morph.hello()), decode(repeat('01', 16), 'hex'), 1,
			'{1}', '{1000}', '{}', '{}', '{}', c, a, t, n) FROM (SELECT array_agg(g) c, array_agg(g % 7) a, array_agg(g * 31 % 1000000) t, array_agg(1000::bigint) n FROM generate_series(1, $4) g) x" >/dev/null
	done
}
ticks="SELECT sum(x::integer) FROM unnest((string_to_array(pg_read_file('/proc/self/stat'), ' '))[14:15]) x"
big 1 5 28 50000
used=$(sql postgres "SELECT morph.merge(1)" "$ticks" | paste -sd ' ')
most=$(sql postgres "SELECT value FROM morph.setting WHERE name = 'merged_counts_most'")
hz=$(getconf CLK_TCK)
whole=$((${used#* } * (most / 250000) / hz))
check "the most that is merged at once takes $whole s, clients wait 60" test "${used% *}" = 1 -a "$whole" -le 40
check "five who give as much of a file as they may fit in it" is t sql postgres "SELECT $most >= 5 * value FROM morph.setting WHERE name = 'counts_of_file_most'"

# --- more contributors than were enough before ---
given 29 1 100 1 2 3 4 5
merged m1 >/dev/null
check "what five have is seen" says "of 5: 1:500" client m9 1 want 41
set_to least_contributors 6
check "when it is to be six it is not seen any more" is "status 0
left out 0" client m9 1 want 41
check "nor by people" is 0 sql m9 "SELECT count(*) FROM morph.evidence WHERE digest = decode(repeat('29', 32), 'hex')"
given 29 1 100 6
check "a sixth is not enough for merging it" is 0 merged m6
check "nor is it seen" says "left out 0" client m9 1 want 41
given 29 2 200 1 2 3 4 5 6
check "six who changed it are" is 1 merged m6
check "and it is" says "of 6: 1:1200" client m9 1 want 41
set_to least_contributors 5
check "five again: what five had is seen" says "of 5: 1:500" client m9 1 want 32

# --- a login that is another one ---
sql postgres "DROP ROLE m16" "CREATE ROLE m16 LOGIN IN ROLE morph_contributor"
given 2a 1 100 16
sql postgres "DROP ROLE m16" "CREATE ROLE m16 LOGIN IN ROLE morph_contributor"
check "no contributor makes it forget" says "permission denied" sql m15 "SELECT morph.forget('m16')"
check "the owner does" is 1 sql postgres "SELECT morph.forget('m16')"
check "who has the name now has nothing" is 0 sql m16 "SELECT count(*) FROM morph.mine"
check "nor used anything up" is 0 sql postgres "SELECT count(*) FROM morph.budget WHERE contributor = 'm16'"

# --- contributors in init's way ---
share_init() { "$B/morphctl" share init "$(conninfo postgres)"; }
hold "SELECT pg_advisory_lock(hashtext('morph.init')); SELECT pg_advisory_lock_shared(1)"
check "a lock of contributors is not init's" says "schema 8 is there already" share_init
let_go ROLLBACK
# newer servers keep functions locked until what depends on them is there
hold "CREATE TEMP VIEW b AS SELECT * FROM morph.hello(); CREATE TEMP VIEW c AS SELECT * FROM morph.take('{}', ''); COMMIT; BEGIN;
	SELECT count(*) FROM morph.evidence; SELECT count(*) FROM morph.mine; SELECT count(*) FROM morph.take('{}', '');
	SELECT morph.hello(); SELECT morph.merge(1); CREATE TEMP VIEW a AS SELECT * FROM morph.evidence;
	CREATE TEMP VIEW d AS SELECT * FROM morph.merged_now; CREATE TEMP VIEW e AS SELECT number FROM morph.version"
check "one reads, and has views of what is there" test $? = 0
check "init goes on" says "schema 8 is there already" share_init
let_go ROLLBACK
hold "SELECT count(*) FROM morph.evidence"
sql postgres "CREATE OR REPLACE VIEW morph.evidence AS SELECT * FROM morph.fleet_known" >"$root/out" 2>&1 &
stuck=$!
sleep 1
pid=$(sql postgres "SELECT pid FROM pg_stat_activity WHERE usename = 'm14'")
check "where it must wait it says for whom" says "login m14 has a transaction open that uses the schema (process $pid, of " share_init
check "and what to do" sql postgres "SELECT pg_terminate_backend($pid)"
let_go ROLLBACK
wait "$stuck"
check "then it is done" says "schema 8 is there already" share_init
check "with its own view" says "all_known" sql postgres "SELECT pg_get_viewdef('morph.evidence'::regclass)"

# --- a schema of somebody else's ---
sql postgres "CREATE DATABASE other" "GRANT ALL ON DATABASE other TO m12"
theirs=$(conninfo postgres | sed s/dbname=fleet/dbname=other/)
as_server psql -Xq -h "$pg" -p "$port" -U m12 -d other -c "CREATE SCHEMA morph" -c "GRANT ALL ON SCHEMA morph TO PUBLIC"
check "a schema of another login is refused" fails 3 "schema morph of m12's, which is not taken over" "$B/morphctl" share init "$theirs"
check "and nothing is in it" is 0 as_server psql -XqAt -h "$pg" -p "$port" -U postgres -d other -c "SELECT count(*) FROM pg_class WHERE relnamespace = 'morph'::regnamespace"
done_testing
