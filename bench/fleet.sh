#!/bin/bash
# fleet.sh - what a fleet's database takes in and answers, and what a fifth of liars makes of it
#
# Simulated machines, each a login of its own, give evidence of the same modules for one week: blocks whose
# samples fall off by rank, as those of programs do, each machine with a use of its own between two.  Then
# all is merged, by two at a time, and machines ask for the whole.  Of some modules once more with every fifth of
# them a liar: a thousand times the samples, all on blocks that hardly run.  A private PostgreSQL cluster, which
# syncs its disk.
#
#	MACHINES=N	1000
#	MODULES=N	200, at most 250
#	BLOCKS=N	1000, of each machine's evidence of a module
#	TOGETHER=N	8, who give at the same time
#	LIED=N		20, modules of which liars tell
cd "$(dirname "$0")/.." || exit 1
MACHINES=${MACHINES:-1000} MODULES=${MODULES:-200} BLOCKS=${BLOCKS:-1000} TOGETHER=${TOGETHER:-8} LIED=${LIED:-20}
[ "$LIED" -le "$MODULES" ] || LIED=$MODULES
settings="MACHINES=$MACHINES MODULES=$MODULES BLOCKS=$BLOCKS TOGETHER=$TOGETHER LIED=$LIED "
. bench/common.bash
given=$settings
. tests/e2e/fleet.bash
[ -x "$pgbin/initdb" ] && [ "$(id -u)" = 0 ] || { echo "skipped: needs root and PostgreSQL's server"; exit 0; }
chmod 755 "$T"
choose_server "$T/pg"
trap 'stop_server; rm -rf "$T"' EXIT
make_server && sed -i 's/^fsync = off/max_wal_size = 4GB/; s/^shared_buffers = .*/shared_buffers = 512MB/' "$pg/data/postgresql.conf" &&
	start_server && make_fleet 0 >/dev/null || { cat "$pg/log"; exit 1; }
for i in $(seq "$MACHINES"); do echo "CREATE ROLE m$i LOGIN IN ROLE morph_contributor;"; done >"$T/logins.sql"
script() { as_server PGOPTIONS="-c client_min_messages=warning" psql -XqAt -v ON_ERROR_STOP=1 -h "$pg" -p "$port" -U "$1" -d fleet -f - >/dev/null; }
script postgres <"$T/logins.sql"
epoch=$("$B/tests/e2e/fleet" epoch)

# give MACHINE LIAR SEQUENCE MODULES: SQL.  Module j is file j of the helper's digests.
give() {
	awk -v machine="$1" -v modules="$4" -v blocks="$BLOCKS" -v liar="$2" -v epoch="$epoch" -v sequence="$3" 'BEGIN {
		srand(machine)
		mix = rand()
		for (j = 1; j <= modules; j++) {
			b = n = ""
			for (i = 0; i < blocks; i++) {
				share = mix / (1 + i) + (1 - mix) / (1 + (i * 7 + j) % blocks)
				count = int(256 * (liar ? (i > blocks * 0.9 ? 5000000 : 1) : 500 * share * (0.5 + rand()))) + 1
				b = b (i ? "," : "") 3 * i + 1
				n = n (i ? "," : "") count
			}
			d = ""
			for (i = 0; i < 32; i++)
				d = d sprintf("%02x", j)
			m = sprintf("%032x", machine)
			printf "SELECT morph.give(\x27\\x%s\x27, 0, \x27\x27, %d, \x27\\x%s\x27, %d, \x27{%s}\x27, \x27{%s}\x27, \x27{}\x27, \x27{}\x27, \x27{}\x27, \x27{}\x27, \x27{}\x27, \x27{}\x27, \x27{}\x27);\n",
				d, epoch, m, sequence, b, n
		}
	}'
}
# What making the evidence takes is measured apart.
all_give() {		# LIARS_EVERY SEQUENCE MACHINES MODULES
	local k pids=()
	for k in $(seq "$TOGETHER"); do
		for i in $(seq "$k" "$TOGETHER" "$3"); do
			give "$i" $(($1 && i % ${1:-1} == 0)) "$2" "$4" | { [ -n "${dry:-}" ] && cat >/dev/null || script "m$i"; } || echo failed >&2
		done &
		pids+=($!)
	done
	wait "${pids[@]}"		# the others are those who write the result
}
seconds() { local b; b=$(date +%s.%N); "$@"; echo "$b $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }'; }
merge_some() { while [ "$(sql "$1" 'SELECT morph.merge(1)')" != 0 ]; do :; done; }
# Two choose by chance, and now and then the same.
merge_all() { merge_some m1 & merge_some m2; wait $!; }
answer_ms() {		# one machine asks for all
	local want=() j b
	for j in $(seq "$MODULES"); do want+=(want "$j"); done
	b=$(date +%s%N)
	"$B/tests/e2e/fleet" "$B/morph-share" "$(conninfo "m$1")" "" 1 "${want[@]}" >"$T/answer" || return 1
	echo $((($(date +%s%N) - b) / 1000000))
}
# How much alike the merged shares are to those of the honest sum, over the modules of which liars tell.
alike() {
	sql postgres "WITH honest AS (SELECT digest, b, sum(n) n FROM morph.contribution, unnest(block, count) u(b, n)
		WHERE substr(contributor, 2)::integer % 5 <> 0 AND get_byte(digest, 0) <= $LIED GROUP BY digest, b),
	a AS (SELECT digest, b, n / sum(n) OVER (PARTITION BY digest) s FROM honest),
	f AS (SELECT digest, b, n::numeric / sum(n) OVER (PARTITION BY digest) s FROM morph.evidence, unnest(block, count) u(b, n) WHERE get_byte(digest, 0) <= $LIED)
	SELECT round(100 * sum(least(a.s, coalesce(f.s, 0))) / count(DISTINCT a.digest), 1) FROM a LEFT JOIN f USING (digest, b)"
}

result fleet "What a fleet's database takes in and answers"
make=$(dry=1 seconds all_give 0 1 "$MACHINES" "$MODULES")
taken=$(seconds all_give 0 1 "$MACHINES" "$MODULES")
tenth=$(((MACHINES + 9) / 10))
again=$(seconds all_give 0 1 "$tenth" "$MODULES")
merged=$(seconds merge_all)
times=
for i in 1 2 3 4 5 6 7; do times="$times $(answer_ms $((i % MACHINES + 1)))"; done
ms=$(tr ' ' '\n' <<<"$times" | grep . | sort -n | sed -n 4p)
read -r rows bytes per <<<"$(sql postgres "SELECT count(*) || ' ' || pg_total_relation_size('morph.contribution') || ' ' || pg_total_relation_size('morph.contribution') / greatest(count(*), 1) FROM morph.contribution")"
fleet=$(sql postgres "SELECT (pg_total_relation_size('morph.fleet') + pg_total_relation_size('morph.merged')) / greatest(count(*), 1) FROM morph.fleet")
honest=$(alike)
all_give 5 2 "$MACHINES" "$LIED"
merge_all
lied=$(alike)
cat <<END
$MACHINES machines, $MODULES modules, $BLOCKS blocks each, one week. The server and those who give, $TOGETHER at a time, share the CPUs.

| what | figure |
|---|---:|
| a day's contributions taken in, s (making them alone: $make s) | $taken |
| the same again by $tenth of them, nothing of it new, s | $again |
| merged, s | $merged |
| a machine's whole answer, with the start of its process, ms (median of 7) | $ms |
| contributions | $rows |
| bytes of one, with its keys | $per |
| bytes of what is merged, of a module and week | $fleet |
| like the honest machines' sum, % of its time, of $LIED modules | $honest |
| the same with a fifth of liars | $lied |
END
result_end
