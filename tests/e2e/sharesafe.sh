#!/bin/bash
# sharesafe.sh - what a fleet's database keeps to itself and keeps working, over years: plans of queries, servers it
# moves to, weeks that go, contributors that stand in the way of its owner
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/fleet.bash
begin_fleet 16
set_to() { sql postgres "UPDATE morph.setting SET value = $2 WHERE name = '$1'"; }
# FIRST LAST BYTE EPOCH SEQUENCE COUNTS [EDGES]: each of these logins gives the same
all() { local i; for i in $(seq "$1" "$2"); do client "m$i" 1 give "$3" 0 "$4" "$5" "${@:6}" >/dev/null || return 1; done; }
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
# PLANS-END
done_testing
