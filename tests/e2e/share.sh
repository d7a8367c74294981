#!/bin/bash
# share.sh - a fleet's database on a real PostgreSQL: what contributors can do in it and cannot, by their program
# and by SQL; servers that are away, slow, older, newer, or lie; clients that are killed.  What comes of
# contributors together is sharefair.sh's.
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/fleet.bash
share() { "$B/morphctl" share "$@"; }

begin_fleet 14 'kill -CONT "$stopped" 2>/dev/null'
check "a database without a schema says what to do" says "share init makes one" share test "$(conninfo m1 | sed s/dbname=fleet/dbname=postgres/)"
check "init again changes nothing" says "is there already" share init "$(conninfo postgres)"
check "test" says "works: connected by a local socket, login m1, schema 8, others' evidence from 5 contributors on, giving and taking work" \
	share test "$(conninfo m1)"
check "and nothing of it stays" is 0 sql postgres "SELECT count(*) FROM morph.contribution"
check "a login above the rules is no contributor" says "above the database's rules" share test "$(conninfo postgres)"

# --- giving: at least once, counted once ---
check "m1 gives" says "told 0 taken" client m1 1 give 7 0 0 1 "1:256,5:512" "1-5:300"
check "the same again is known" says "told 0 known" client m1 1 give 7 0 0 1 "1:256,5:512" "1-5:300"
check "an earlier one, too" says "told 0 known" client m1 1 give 7 0 0 1 "1:1"
check "a later one takes its place" says "told 0 taken" client m1 1 give 7 0 0 2 "1:300,5:512"
check "there is one" is "1|812" sql postgres "SELECT count(*), sum(weight) FROM morph.contribution"
check "another machine of that login is another row" says "told 0 taken" client m1 2 give 7 0 0 1 "1:100"
class=servers check "another class, too" says "told 0 taken" client m1 1 give 7 0 0 1 1:100
check "an epoch that has not begun is refused, and why" says "has not begun" client m1 1 give 7 0 1 3 "1:1"
check "one of long ago, too" says "of too long ago" client m1 1 give 7 0 -60 3 "1:1"

# --- what others see ---
for i in 2 3 4; do client m$i 1 give 7 0 0 1 "1:1000,$((10 + i)):5000" "1-5:100" >/dev/null; done
merge_anew
check "four contributors, one with two machines: nothing is seen" is "status 0
left out 0" client m5 1 want 7
client m5 1 give 7 0 0 1 "1:1000,15:5000" "1-5:100" >/dev/null
merge_anew
check "five: what all five have, and nothing that fewer have" is "status 0
fleet 7 0 of 5: 1:4400
left out 0" client m9 1 want 7
client m1 1 give 7 0 0 3 "1:300,5:512" "1-5:40" >/dev/null
merge_anew
check "edges as well" says "fleet 7 0 of 5: 1:4400 1-5:440" client m9 1 want 7
class=laptops check "of another class nothing" is "status 0
left out 0" client m9 1 want 7

# --- by SQL, as a contributor who wants to know more ---
sees() { sql m2 "$@"; }
check "own rows can be read" is "m2|1" sees "SELECT min(contributor), count(*) FROM morph.mine"
check "also under another role" is "m2" sees "SET ROLE morph_contributor" "SELECT DISTINCT contributor FROM morph.mine"
for table in contribution merged fleet merged_now merged_newest fleet_newest budget setting version; do
	check "not $table" says "permission denied" sees "SELECT * FROM morph.$table"
done
check "no rows of others by a function of one's own" is "" sees \
	"CREATE FUNCTION pg_temp.peek(name, integer[]) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS \$\$ BEGIN IF \$1 <> 'm2' THEN RAISE 'saw %', \$1; END IF; RETURN true; END \$\$" \
	"SELECT 1 FROM morph.mine WHERE pg_temp.peek(contributor, block) AND contributor <> 'm2'"
check "no row for another" says "permission denied" sees "INSERT INTO morph.contribution SELECT * FROM morph.mine"
check "no row changed" says "permission denied" sees "UPDATE morph.contribution SET contributor = 'm3'"
check "none removed" says "permission denied" sees "DELETE FROM morph.contribution"
check "no bound changed" says "permission denied" sees "UPDATE morph.setting SET value = 1"
check "nothing made in the schema" says "permission denied" sees "CREATE TABLE morph.x()"
check "no other's role" says "permission denied" sees "SET ROLE morph_owner"
check "no session of another" says "permission denied" sees "SET SESSION AUTHORIZATION m3"
check "no inner function" says "permission denied" sees "SELECT * FROM morph.given('x', 0, '', 1, 0)"
# A second wall: should somebody be given the table.
sql postgres "GRANT SELECT ON morph.contribution TO morph_contributor"
check "of the table itself no more" is "m2" sees "SELECT DISTINCT contributor FROM morph.contribution"
check "no rules switched off" says "row-level security" sees "SET row_security = off" "SELECT * FROM morph.contribution"
sql postgres "REVOKE SELECT ON morph.contribution FROM morph_contributor"
# Names that the owner's functions use, in the only schema that a contributor can make things in.
check "no table put in a function's way" sees "CREATE TEMP TABLE fleet(x integer)" "CREATE TEMP TABLE contribution(x integer)" \
	"CREATE FUNCTION pg_temp.value_of(text) RETURNS double precision LANGUAGE sql AS 'SELECT 1::double precision'" \
	"SET search_path = pg_temp, morph" "SELECT morph.give(decode(repeat('08', 32), 'hex'), 0, '', morph.epoch, decode(repeat('01', 16), 'hex'), 1, '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') FROM morph.hello() morph" \
	"SELECT morph.merge(100)"
check "the bound held" is "status 0
left out 0" client m2 1 want 8

# --- nonsense ---
give() {		# ARRAYS
	sees "SELECT morph.give(decode(repeat('09', 32), 'hex'), 0, '', h.epoch, decode(repeat('01', 16), 'hex'), 1, $1) FROM morph.hello() h"
}
none="'{}', '{}', '{}', '{}'"
check "a count below 1" says "refused: a count" give "'{1}', '{0}', '{}', '{}', '{}', $none"
check "a count too large" says "refused: a count" give "'{1}', '{1125899906842625}', '{}', '{}', '{}', $none"
check "NULL among counts" says "refused: a count" give "'{1}', '{NULL}', '{}', '{}', '{}', $none"
check "NULL for an array" says "refused: a key" give "'{1}', NULL, '{}', '{}', '{}', $none"
check "NULL for places" says "refused" give "NULL, '{1}', '{}', '{}', '{}', $none"
check "a block below 0" says "refused: a place" give "'{-1}', '{1}', '{}', '{}', '{}', $none"
check "a block twice" says "refused: places that are not in order, or twice" give "'{1,1}', '{1,1}', '{}', '{}', '{}', $none"
check "an edge twice" says "refused: places that are not in order, or twice" give "'{1}', '{1}', '{1,1}', '{2,2}', '{1,1}', $none"
for a in "'[5:6]={1,1}', '{1,1}'" "'{1,2}', '[0:1]={1,1}'"; do
	check "an array that begins elsewhere ($a)" says "refused: an array that does not begin at 1" give "$a, '{}', '{}', '{}', $none"
done
check "edges that do" says "refused: an array that does not begin at 1" give "'{1}', '{1}', '{1,1}', '[9:10]={2,2}', '{1,1}', $none"
check "blocks in no order" says "refused: places that are not in order" give "'{1,3,2}', '{1,1,1}', '{}', '{}', '{}', $none"
check "edges in no order" says "refused: places that are not in order" give "'{1}', '{1}', '{1,1}', '{3,2}', '{1,1}', $none"
check "calls in no order" says "refused: places that are not in order" give "'{1}', '{1}', '{}', '{}', '{}', '{1,1}', '{2,2}', '{4,3}', '{1,1}'"
check "calls that differ in one of their three are in order" is fine sql postgres "SELECT coalesce(morph.wrong_arrays('{1}',
	'{1}', '{}', '{}', '{}', '{1,1,1,2}', '{2,2,3,0}', '{3,4,0,0}', '{1,1,1,1}'), 'fine')"
check "NULL in a place" says "refused: a place" give "'{1,NULL}', '{1,1}', '{}', '{}', '{}', $none"
check "different lengths" says "refused: arrays of different" give "'{1,2}', '{1}', '{}', '{}', '{}', $none"
check "two dimensions" says "refused: more than one" give "'{{1,2},{3,4}}', '{{1,2},{3,4}}', '{}', '{}', '{}', $none"
check "nothing" says "refused: no counts" give "'{}', '{}', '{}', '{}', '{}', $none"
check "a class that is none" says "refused: a key" sees "SELECT morph.give(decode(repeat('09', 32), 'hex'), 0, '../x', 1, decode(repeat('01', 16), 'hex'), 1, '{1}', '{1}', '{}', '{}', '{}', $none)"
check "none of it is there" is 0 sql postgres "SELECT count(*) FROM morph.contribution WHERE digest = decode(repeat('09', 32), 'hex')"
sql postgres "UPDATE morph.setting SET value = 3 WHERE name = 'rows_most'"
check "a million modules of one contributor end early" is "status 4 the server refuses: more than a contributor may give in an epoch
told 0 taken
told 1 refused
left out 0" client m2 1 give 20 0 0 1 1:1 give 21 0 0 1 1:1
sql postgres "UPDATE morph.setting SET value = 20000 WHERE name = 'rows_most'"

# --- liars: 3 of 14, each with a thousand times what others have, of other blocks ---
for i in $(seq 11); do client m$i 1 give 30 0 0 1 "1:$((90 + i)),2:$((90 + i))" >/dev/null; done
for i in 12 13 14; do client m$i 1 give 30 0 0 1 "2:100000,3:100000" >/dev/null; done
merge_anew
parts() {		# BYTE OF THE DIGEST: the largest share in percent, and of how many
	sql postgres "SET search_path = morph" "SELECT round(100 * max(v) / sum(v)), count(*) FROM (SELECT u.scale * sum(g.n) v
		FROM epoch_now() e, decode(repeat('$1', 32), 'hex') d, merge_part(d, 0, '', e, 0, NULL, NULL) p,
		unnest(p.who, p.scale) u(who, scale), given(d, 0, '', e, 0) g
		WHERE g.who = u.who AND g.x = ANY (p.x) GROUP BY u.who, u.scale) s"
}
check "nobody weighs more than the median" is "7|14" parts 1e
check "their own block is not seen, the true ones are" says "of 14: 1:1046 2:1628" client m1 1 want 30
for i in $(seq 11); do client m$i 1 give 32 0 0 1 "1:$((i > 5 ? 100 : 40))" >/dev/null; done
check "nor more than a tenth" is "10|11" parts 20
# Many tiny ones could scale the others down, if they counted.
for i in $(seq 5 14); do client m$i 1 give 31 0 0 1 "1:1" >/dev/null; done
for i in $(seq 1 9); do client m$i 2 give 31 0 0 1 "1:100000,2:100000" >/dev/null; done
merge_anew
check "tiny ones do not count" says "of 9: 1:90000" client m1 1 want 31

# Edges do not follow from blocks: few blocks, and a billion of one edge.
for i in $(seq 6); do client m$i 1 give 33 0 0 1 "1:100" "1-2:50,1-3:50" >/dev/null; done
client m7 1 give 33 0 0 1 "1:100" "1-2:1000000000" >/dev/null
merge_anew
check "nor do one's edges weigh more than the median" says "of 7: 1:700 1-2:400 1-3:300" client m1 1 want 33

# --- executions: one factor for all of a contribution ---
for i in $(seq 5); do client m$i 1 give 60 1 0 1 "1:1000,2:900,3:100,$((10 + i)):50" "1-2:900,1-3:100,2-$((10 + i)):50" >/dev/null; done
merge_anew
check "executions are seen from five on, and nothing that fewer have" is "status 0
fleet 60 1 of 5: 1:5000 2:4500 3:500 1-2:4500 1-3:500
left out 0" client m9 1 want 60
client m6 1 give 60 1 0 1 "1:10000,2:1000,3:9000" "1-2:1000,1-3:9000" >/dev/null
merge_anew
check "what goes out of a block is what comes in, but for rounding up" says "of 6: 1:6000 2:4600 3:1400 1-2:4600 1-3:1400" client m9 1 want 60
for i in $(seq 11); do client m$i 1 give 61 1 0 1 "1:1000,2:900,3:100" "1-2:900,1-3:100" >/dev/null; done
for i in 12 13 14; do client m$i 1 give 61 1 0 1 "1:1000000,2:100000,3:900000" "1-2:100000,1-3:900000" >/dev/null; done
merge_anew
check "a fifth that lies leaves the likely way the likely one" says "of 14: 1:14000 2:10200 3:3800 1-2:10200 1-3:3800" client m1 1 want 61
check "edges out of a block that was executed less are refused" says "refuses: edges or calls executed more often than their block" \
	client m1 1 give 62 1 0 1 "1:100,2:200,3:200" "1-2:60,1-3:60"
check "edges into it, too" says "executed more often than their block" client m1 1 give 62 1 0 1 "1:100,2:100,3:100" "1-3:60,2-3:60"
check "and out of one that was not" says "executed more often than their block" client m1 1 give 62 1 0 1 "1:100,2:100" "3-1:1"
calls() {		# COUNTS of two calls at one place
	sql m1 "SELECT morph.give(decode(repeat('3e', 32), 'hex'), 1, '', h.epoch, decode(repeat('01', 16), 'hex'), 1, '{1}', '{100}', '{}', '{}', '{}', '{1,1}', '{4,4}', '{7,8}', '{$1}') FROM morph.hello() h"
}
check "and calls" is "refused: edges or calls executed more often than their block" calls "60,60"
check "that are as many are taken" is taken calls "60,40"
check "so are edges of samples, whose sums say nothing" says "told 0 taken" client m1 1 give 62 0 0 1 "1:100" "1-2:101"
check "more executions than a machine says it has are refused" says "counts too large in sum" client m1 1 give 63 1 0 1 "1:2147483648"
for i in $(seq 5); do client m$i 1 give 64 1 -12 1 "1:1000,2:1" "1-2:1" >/dev/null; client m$i 1 give 64 0 -12 1 "1:1000,2:1" >/dev/null; done
merge_anew
check "what was executed still was, when it is old" is "status 0
fleet 64 0 of 5: 1:625
fleet 64 1 of 5: 1:625 2:1 1-2:1
left out 0" client m9 1 want 64
for i in $(seq 5); do client m$i 1 give 64 1 0 1 "1:1000" >/dev/null; done
merge_anew
check "also beside new ones" says "of 5: 1:5625 2:1 1-2:1" client m9 1 want 64

# --- epochs fade ---
for i in $(seq 5); do client m$i 1 give 40 0 -4 1 "1:1000" >/dev/null; done
merge_anew
check "what is a half-life old counts half" says "of 5: 1:2500" client m1 1 want 40
for i in $(seq 5); do client m$i 1 give 40 0 0 1 "1:10" >/dev/null; done
merge_anew
check "beside new counts, too" says "of 5: 1:2550" client m1 1 want 40

# --- transactions that never end: m14 has given, merged and locked what there is, and waits ---
soon() { sql "$1" "SET lock_timeout = '5s'" "$2"; }
gives() {		# BYTE OF THE DIGEST, EPOCH FROM NOW, SEQUENCE, BLOCK, COUNT
	echo "SELECT morph.give(decode(repeat('$1', 32), 'hex'), 0, '', h.epoch + $2, decode(repeat('01', 16), 'hex'), $3, '{$4}', '{$5}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') FROM morph.hello() h"
}
given_by() {		# SEQUENCE, COUNT, LOGIN...
	local i
	for i in "${@:3}"; do soon "$i" "$(gives 29 0 "$1" 1 "$2")" || return 1; done
}
soon_merged() { soon m1 "SELECT morph.merge(100)" >/dev/null; }
hold "$(gives 29 0 1 1 10)"
check "one gives, and does not end it" test $? = 0
five=$(printf 'taken\n%.0s' 1 2 3 4 5)
check "others give nevertheless" is "$five" given_by 1 1000 m1 m2 m3 m4 m5
check "and merge" soon_merged
check "what there is is seen" says "of 5: 1:5000" client m9 1 want 41
let_go COMMIT
check "what was given late counts as well" soon_merged
check "from then on" says "of 5: 1:5000" client m9 1 want 41	# it is below a tenth of the median
given_by 2 2000 m1 m2 m3 m4 m5 >/dev/null
hold "SELECT pg_advisory_lock(hashtext('morph.merge')); SELECT morph.merge(1000000)"
check "one merges, and locks, and does not end it" test $? = 0
check "and merge what the one has merged" soon_merged
check "which is seen" says "of 5: 1:10000" client m9 1 want 41
check "others give" is "$five" given_by 3 3000 m1 m2 m3 m4 m5
check "and merge again" soon_merged
check "which is seen, too" says "of 5: 1:15000" client m9 1 want 41
let_go COMMIT
check "what the one has merged does not take its place" says "of 5: 1:15000" client m9 1 want 41
check "nor what comes of an old view of the rest" says "only in a transaction that sees" sql m14 "BEGIN ISOLATION LEVEL REPEATABLE READ" "SELECT morph.merge(1)"
soon_merged
check "the next time" is "$five" given_by 4 3000 m1 m2 m3 m4 m5
soon_merged
check "nothing is left of the old" is 1 sql postgres "SELECT count(*) FROM morph.merged WHERE digest = decode(repeat('29', 32), 'hex')"
hold "$(gives 2a -25 1 1 10)"
check "what one holds until it is too old" test $? = 0
sql postgres "UPDATE morph.setting SET value = 20 WHERE name = 'kept_epochs'"
check "holds up nobody" soon_merged
let_go ROLLBACK
sql postgres "UPDATE morph.setting SET value = 26 WHERE name = 'kept_epochs'"

# --- TLS and passwords ---
tls="host=localhost port=$port dbname=fleet user=m1 sslmode=verify-full"
echo "localhost:$port:fleet:m1:secret1" >"$root/pass"
chmod 600 "$root/pass"
check "the cage lets it read nothing below /tmp" says "could not read root certificate" \
	share test "$tls sslrootcert=$pg/root.crt passfile=$root/pass"
mkdir -p /etc/morph-test.$$ && cp "$pg/root.crt" "$root/pass" /etc/morph-test.$$/ && chmod 600 /etc/morph-test.$$/pass
trap 'kill -CONT "$stopped" 2>/dev/null; stop_server; rm -rf "$root" /etc/morph-test.$$' EXIT
etc=/etc/morph-test.$$
check "TLS, SCRAM, and a file of passwords below /etc" says "works: connected by TLS" share test "$tls sslrootcert=$etc/root.crt passfile=$etc/pass"
check "a wrong certificate" says "does not work: connection" share test "$tls sslrootcert=/etc/ssl/certs/ca-certificates.crt passfile=$etc/pass"
chmod 644 $etc/pass
check "a file of passwords that everybody can read is none" says "does not work" share test "$tls sslrootcert=$etc/root.crt passfile=$etc/pass"
chmod 600 $etc/pass
check "no password in the conninfo" says "libpq's passfile" share test "$tls password=secret1"
check "nor in a URI" says "stands where everybody" share test "postgresql://m1:secret1@localhost:$port/fleet"
hides() {		# CONNINFO with the password topsecret, or with rhubarb in it
	local out
	out=$(share test "$1" 2>&1)
	grep -q "does not work: conninfo: " <<<"$out" && ! grep -qE "tops|ecret|rhubarb" <<<"$out" || { echo "$out"; return 1; }
}
for c in 'postgresql://m1:topsecret@[::1/fleet' 'postgresql://m1:topsecret%zz@localhost/fleet' 'postgres://m1:tops/ecret@localhost/fleet' \
	'postgresql://m1:tops/ecret@nowhere@localhost/fleet' 'host=localhost password=top secret rhubarb' "password='topsecret" \
	'sslpassword=x topsecret=1' 'dbname=postgresql://m1:topsecret@localhost/fleet'; do
	check "no part of a password in an error ($c)" hides "$c"
done
check "where there is none, what is wrong is told in full" says 'invalid connection option "hots"' share test "hots=x passfile=/etc/x"
check "no password is told to whom nobody vouches for, if nothing is said" says 'root certificate file "' share test "${tls/ sslmode=verify-full/} passfile=$etc/pass"
check "no plain connection" says "does not work" share test "host=127.0.0.1 port=$port dbname=fleet user=m1 sslmode=disable passfile=$etc/pass"

cp "$pg/m13.crt" "$pg/m13.key" $etc/ && chmod 600 $etc/m13.key
check "a certificate in the place of a password" says "works: connected by TLS, login m13" \
	share test "${tls/user=m1 /user=m13 } sslrootcert=$etc/root.crt sslcert=$etc/m13.crt sslkey=$etc/m13.key"
check "which is no other login's" says "does not work: connection" \
	share test "${tls/user=m1 /user=m13 } sslrootcert=$etc/root.crt passfile=$etc/pass"
check "no TLS at all, where the server allows it, is told" says "giving and taking work; the network sees everything" \
	share test "host=127.0.0.1 port=$port dbname=fleet user=m14 sslmode=disable"
check "also where the conninfo names a socket beside it" says "connected by no TLS" \
	share test "host=/nowhere hostaddr=127.0.0.1 port=$port dbname=fleet user=m14 sslmode=disable"

# --- what does not work ---
sql postgres "ALTER FUNCTION morph.merge(integer) RENAME TO merge_was" "CREATE FUNCTION morph.merge(integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RAISE ''it is too much''; END'"
client m1 1 give 8 0 0 1 1:1 want 40 >"$root/out"
check "merging that fails is told" grep -q "^status 4 merging: server: it is too much" "$root/out"
check "and all else is done" grep -q "^told 0 taken" "$root/out"
check "in both directions" grep -q "^fleet 40 0 of 5" "$root/out"
check "and tried beforehand" says "contributors on; merging: server: it is too much" share test "$(conninfo m1)"
sql postgres "DROP FUNCTION morph.merge(integer)" "ALTER FUNCTION morph.merge_was(integer) RENAME TO merge"
sql postgres "ALTER FUNCTION morph.hello() RENAME TO hello_was" "CREATE FUNCTION morph.hello(OUT client integer, OUT schema integer, OUT epoch integer, OUT bound integer, OUT now bigint) LANGUAGE sql SECURITY DEFINER AS 'SELECT client, schema, epoch, bound, now - 1000 FROM morph.hello_was()'"
check "a clock that is wrong" says " s ahead of the server's" share test "$(conninfo m1)"
sql postgres "DROP FUNCTION morph.hello()" "ALTER FUNCTION morph.hello_was() RENAME TO hello"

# --- schemas of other ages ---
sql postgres "UPDATE morph.version SET number = 99"
check "a newer schema is not touched" says "newer than this program's" share init "$(conninfo postgres)"
check "and serves as long as it says so" says "schema 99" share test "$(conninfo m1)"
sql postgres "CREATE OR REPLACE FUNCTION morph.hello(OUT client integer, OUT schema integer, OUT epoch integer, OUT bound integer, OUT now bigint) LANGUAGE sql SECURITY DEFINER AS 'SELECT 2, 99, 2900, 5, 1::bigint'"
check "or says that it does not" says "wants a newer Morph" client m1 1 give 7 0 0 9 "1:1"
older() {		# the first three migrations, and rows
	sql postgres "DROP SCHEMA morph CASCADE" "CREATE SCHEMA morph AUTHORIZATION morph_owner" "SET ROLE morph_owner" "SET search_path = morph" \
		"CREATE TABLE version(number integer NOT NULL)" "INSERT INTO version VALUES (3)" \
		"$(grep -v ^-- share/migrations.sql | head -n 3 | sed 's/$/;/')" \
		"INSERT INTO contribution VALUES (decode(repeat('07', 32), 'hex'), 0, '', 1, 'm1', decode(repeat('01', 16), 'hex'), 1, 1, '{1}', '{1}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')"
}
check "an older schema" older
check "does not serve" says "share init" client m1 1 give 7 0 0 9 "1:1"
check "is brought up to date" says "schema 8 in the place of 3" share init "$(conninfo postgres)"
check "with what was in it" is 1 sql postgres "SELECT count(*) FROM morph.contribution"
check "and serves" says "told 0 taken" client m1 1 give 7 0 0 9 "1:1"
sql postgres "UPDATE morph.setting SET value = 0 WHERE name = 'merge_after_s'" "UPDATE morph.setting SET value = 26 WHERE name = 'late_epochs'"

# --- a client that is killed at any moment: what it gave is given, and counts once when it comes again ---
many=()
for i in $(seq 100 219); do many+=(give "$i" 0 0 1 1:256,2:256); done
killed=0 middle=0 ms=5
# Longer each time, until one is done before it is killed.
while [ "$ms" -lt 60000 ] && [ "$(timeout -s KILL "$((ms / 1000)).$(printf %03d $((ms % 1000)))" "$B/tests/e2e/fleet" \
		"$B/morph-share" "$(conninfo m3)" "" 1 "${many[@]}" >/dev/null 2>&1 || echo killed)" ]; do
	killed=$((killed + 1)) ms=$((ms * 5 / 4 + 1))
	at=$(sql postgres "SELECT count(*) FROM morph.contribution WHERE contributor = 'm3'")
	[ "$at" -gt 0 ] && [ "$at" -lt 120 ] && middle=$((middle + 1))
done
check "clients were killed ($killed), some in the middle ($middle)" test "$killed" -ge 3 -a "$middle" -ge 1
told=$(client m3 1 "${many[@]}" | grep -cE '^told [0-9]+ (taken|known)$')
check "the last is told of all" test "$told" = 120
check "each counts once" is "120|61440" sql postgres "SELECT count(*), sum(weight) FROM morph.contribution WHERE contributor = 'm3'"

# --- servers ---
stopped=$(head -n 1 "$pg/data/postmaster.pid")
kill -STOP "$stopped"
begin=$(date +%s)
check "a server that does not answer is given up" says "does not answer" client m1 1 give 7 0 0 20 "1:1"
check "in time" test $(($(date +%s) - begin)) -le 30
kill -CONT "$stopped"
sql postgres "CREATE OR REPLACE FUNCTION morph.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN new; END'" \
	"CREATE TRIGGER slow BEFORE INSERT ON morph.contribution FOR EACH ROW WHEN (new.contributor = 'm4') EXECUTE FUNCTION morph.slow()"
client m4 1 give 50 0 0 1 1:1 give 51 0 0 1 1:1 give 52 0 0 1 1:1 give 53 0 0 1 1:1 >"$root/out" 2>&1 &
looper=$!
sleep 2.5
stop_server
wait "$looper"
check "a server that ends in the middle: an error" grep -q "^status [1-4] giving: " "$root/out"
given=$(grep -c "^told [0-9] taken" "$root/out")
check "what was given before is told ($given)" test "$given" -ge 1 -a "$given" -le 3
check "a server that is away" says "status 1 connection: " client m4 1 give 50 0 0 1 1:1
check "it starts again" start_server
check "and has it" is "$given" sql postgres "SELECT count(*) FROM morph.contribution WHERE contributor = 'm4'"
check "the rest comes, and nothing twice" test "$(client m4 1 give 50 0 0 1 1:1 give 51 0 0 1 1:1 give 52 0 0 1 1:1 give 53 0 0 1 1:1 |
	grep -cE '^told [0-9] (taken|known)')" = 4
check "four" is 4 sql postgres "SELECT count(*) FROM morph.contribution WHERE contributor = 'm4'"

# --- a full server ---
full() {		# 20 pieces of 4,000 blocks that do not compress well
	local j blocks gives=()
	for j in $(seq 20); do
		blocks=$(awk -v seed="$j" 'BEGIN { srand(seed); for (i = 0; i < 4000; i++) printf "%s%d:%.0f", i ? "," : "", i, 1 + 1e11 * rand() }')
		gives+=(give $((60 + j)) 0 0 5 "$blocks")
	done
	client m5 1 "${gives[@]}"
}
mkdir "$root/small"
if mount -t tmpfs -o size=1m,mode=700 tmpfs "$root/small" 2>/dev/null; then
	trap 'kill -CONT "$stopped" 2>/dev/null; stop_server; umount -l "$root/small"; rm -rf "$root" /etc/morph-test.$$' EXIT
	chown postgres "$root/small"
	check "a small place for what is given" sql postgres "CREATE TABLESPACE small LOCATION '$root/small'" "ALTER TABLE morph.contribution SET TABLESPACE small"
	full >"$root/out" 2>&1
	check "a full server is told" grep -q "^status 1 giving: server: .*No space left on device" "$root/out"
	given=$(grep -c "^told [0-9]* taken" "$root/out")
	check "with what it took before ($given)" test "$given" -ge 1 -a "$given" -le 19
	check "which it has" is "$given" sql postgres "SELECT count(*) FROM morph.contribution WHERE contributor = 'm5' AND sequence = 5"
	mount -o remount,size=64m "$root/small"
	check "when there is room all of it comes" test "$(full | grep -cE '^told [0-9]+ (taken|known)$')" = 20
	check "each once" is 20 sql postgres "SELECT count(*) FROM morph.contribution WHERE contributor = 'm5' AND sequence = 5"
	sql postgres "ALTER TABLE morph.contribution SET TABLESPACE pg_default"
else
	skip "a full server" "tmpfs cannot be mounted here"
fi

# --- servers that are none: of one connection, on a port of their own ---
cat >"$root/fake.pl" <<'END'
use IO::Socket::INET;
my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", Timeout => 60) or exit 1;
$| = 1;
print $l->sockport, "\n";
my $c = $l->accept or exit 1;
sub put { syswrite $c, $_[0] . pack("N", 4 + length $_[1]) . $_[1] }
sub hear { sysread $c, my $said, 4096; $said }
hear;
if ($ARGV[0] eq "scram") {
	put "R", pack("N", 10) . "SCRAM-SHA-256\0\0";
	hear =~ /r=(.*)/s;
	put "R", pack("N", 11) . "r=$1x,s=MDEyMzQ1Njc4OWFiY2RlZg==,i=2147483647";
} elsif ($ARGV[0] eq "copy") {
	put "R", pack("N", 0);
	put "Z", "I";
	hear;
	put "H", pack("Cn", 0, 0);
} elsif ($ARGV[0] eq "notice") {
	put "R", pack("N", 0);
	put "N", "SNOTICE\0C00000\0M\e[31mpainted\0\0";
	put "E", "SFATAL\0C00000\0M\e[31mit ends\0\0";
}
hear;
END
fake() {		# HOW COMMAND...: "FAKE" in its arguments is where that is
	local at how=$1
	shift
	rm -f "$root/at"
	perl "$root/fake.pl" "$how" >"$root/at" &
	looper=$!
	for at in $(seq 100); do [ -s "$root/at" ] && break; sleep 0.1; done
	at="host=127.0.0.1 port=$(cat "$root/at") dbname=fleet user=m1 sslmode=disable"
	"${@//FAKE/$at}"
	at=$?
	kill "$looper" 2>/dev/null
	wait "$looper" 2>/dev/null
	return "$at"
}
echo "127.0.0.1:*:fleet:m1:secret1" >$etc/pass2 && chmod 600 $etc/pass2
fails() { timeout 600 "$B/morphctl" "${@:2}" >"$root/out" 2>&1; [ $? = "$1" ]; }
check "a server that makes one compute without end: a failure" fake scram fails 1 share test "FAKE passfile=$etc/pass2"
check "that says so, and of which server" grep -qE "^does not work: connection: server 127.0.0.1 port [0-9]+: it asks for more computing" "$root/out"
check "so for init" fake scram fails 1 share init "FAKE passfile=$etc/pass2"
check "which says so, too" grep -q "^morphctl: share init: connection: server 127.0.0.1 port .* it asks for more computing" "$root/out"
check "a server that answers with what is to be copied" fake copy fails 1 share test FAKE
check "answers in another form" grep -q "^does not work: the server answers in another form" "$root/out"
check "a server that says more than is asked" fake notice fails 1 share test FAKE
check "is not heard" not grep -q painted "$root/out"
check "and what it says of an error is no sign to a terminal" grep -q '^does not work: .*FATAL:  .x1b.31mit ends$' "$root/out"

# --- a server that lies ---
lie() {			# ROWS as "byte of the digest, kind, arrays..."
	sql postgres "DROP FUNCTION IF EXISTS morph.fading(text)" "DROP FUNCTION IF EXISTS morph.take(bytea[], text)" \
		"CREATE FUNCTION morph.fading(text) RETURNS text LANGUAGE sql AS 'SELECT ''1''::text'" \
		"CREATE FUNCTION morph.take(d bytea[], c text) RETURNS TABLE(digest bytea, kind text, epoch text, contributors text, block text, count text, edge_from text, edge_to text, edge_count text, call_block text, call_at text, call_target text, call_count text) LANGUAGE sql SECURITY DEFINER AS \$\$ SELECT decode(repeat(a, 32), 'hex'), b, '2900', '5', e, f, g, h, i, j, k, l, m FROM (VALUES $1) x(a, b, e, f, g, h, i, j, k, l, m) \$\$" \
		"GRANT EXECUTE ON FUNCTION morph.take(bytea[], text), morph.fading(text) TO morph_contributor"
}
ok7="('07', '0', '{1,2}', '{5,6}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')"
lies() {		# NAME ROW
	lie "$ok7, $2"
	check "left out: $1" is "status 0
fleet 7 0 of 5: 1:5 2:6
left out 1" client m1 1 want 7
}
e="'{}', '{}', '{}', '{}', '{}', '{}', '{}'"
lies "a file that nobody asked for" "('08', '0', '{1}', '{1}', $e)"
lies "a digest that is none" "('0', '0', '{1}', '{1}', $e)"
lies "an unknown kind" "('07', '7', '{1}', '{1}', $e)"
lies "counts that overflow" "('07', '0', '{1}', '{99999999999999999999}', $e)"
lies "counts below 1" "('07', '0', '{1}', '{-1}', $e)"
lies "blocks out of order" "('07', '0', '{2,1}', '{1,1}', $e)"
lies "a cut array" "('07', '0', '{1,2', '{1,2}', $e)"
lies "arrays of different lengths" "('07', '0', '{1,2}', '{1}', $e)"
lies "no array" "('07', '0', NULL, '{1}', $e)"
lies "text for numbers" "('07', '0', '{a}', '{b}', $e)"
# More than there is room for: twelve files of 300,000 blocks, edges and calls each.
sql postgres "DROP FUNCTION morph.take(bytea[], text)" \
	"CREATE FUNCTION morph.take(d bytea[], c text) RETURNS TABLE(digest bytea, kind text, epoch text, contributors text, block integer[], count bigint[], edge_from integer[], edge_to integer[], edge_count bigint[], call_block integer[], call_at integer[], call_target integer[], call_count bigint[]) LANGUAGE sql SECURITY DEFINER AS \$\$
		SELECT w, '0', '2900', '5', i, n, i, i, n, i, i, i, n FROM unnest(d) w,
		(SELECT array_agg(i) i, array_agg(i::bigint) n FROM generate_series(1, 300000) i) a \$\$" \
	"GRANT EXECUTE ON FUNCTION morph.take(bytea[], text) TO morph_contributor"
many=()
for i in $(seq 12); do many+=(want "$i"); done
client m1 1 give 90 0 0 1 1:1 "${many[@]}" >"$root/out" 2>&1
check "what there is no room for is left out, and the rest kept" test "$(grep -c '^fleet ' "$root/out")" = 2 -a "$(tail -n 1 "$root/out")" = "left out 10"
check "and what was given is told" grep -q "^told 0 taken" "$root/out"
sql postgres "DROP FUNCTION morph.take(bytea[], text)" "CREATE FUNCTION morph.take(bytea[], text) RETURNS TABLE(x text) LANGUAGE sql AS 'SELECT ''x''::text'" \
	"GRANT EXECUTE ON FUNCTION morph.take(bytea[], text) TO morph_contributor"
check "another form is an error" says "status 1 taking: server: column" client m1 1 want 7
done_testing
