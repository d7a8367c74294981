# postgres.sh - postgres alone with a database of its own: SQL on standard input, the backend moved
packages=postgresql-15
binaries=/usr/lib/postgresql/15/bin
files() { with_libraries $binaries/postgres $binaries/initdb; ls /usr/lib/postgresql/15/lib/plpgsql.so; }
# It does not run as root.
as_nobody() {
	if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi
}
run() {
	mkdir data && chmod 711 "$PWD" "$PWD/.." && { [ "$(id -u)" != 0 ] || chown nobody:nogroup data; }
	as_nobody $binaries/initdb -D data -N --no-instructions -E UTF8 --locale=C >initdb.log 2>&1 || { cat initdb.log; return 1; }
	as_nobody $binaries/postgres --single -D data -c log_min_messages=warning -c log_checkpoints=off -c log_line_prefix= postgres <<-'END' | sed 's/(oid = [0-9]*)//'
	create table t as select i as id, i * 7919 % 1009 as n, md5(i::text) as s, i / 7.0 as x from generate_series(1, 20000) i
	create index tn on t (n, s)
	analyze t
	select n, count(*), sum(x)::numeric(12, 3), min(s) from t group by n order by count(*) desc, n limit 20
	select a.id, b.s from t a join t b on a.n = b.id where a.s < b.s order by a.id limit 20
	select id, rank() over (partition by n % 5 order by x desc), lag(s) over (order by id) from t order by id limit 20
	with recursive f(a, b) as (values (0::numeric, 1::numeric) union all select b, a + b from f where b < 1e60) select max(a) from f
	create function fact(n numeric) returns numeric language plpgsql as $$ begin if n < 2 then return 1; end if; return n * fact(n - 1); exception when others then return -1; end $$
	select fact(60), fact(5)
	select regexp_replace(s, '([0-9]+)([a-f]+)', '\2-\1', 'g') from t order by s limit 10
	select jsonb_agg(jsonb_build_object('n', n, 's', left(s, 4)) order by id) from t where id % 1997 = 0
	select to_tsvector('english', 'the quick brown foxes jumped over lazy dogs') @@ to_tsquery('fox & jump')
	select date '2024-02-29' + interval '1 year', age(timestamp '2001-04-10', timestamp '1957-06-13'), to_char(timestamp '2000-01-01 12:34:56', 'Day DD Month YYYY')
	select 1 / 0
	select no_such_column from t
	explain (costs off) select * from t where n = 5 and s like 'a%' order by x
	begin
	update t set x = -x where n < 500
	delete from t where id % 3 = 0
	select count(*), sum(x)::numeric(14, 2) from t
	rollback
	select count(*), sum(x)::numeric(14, 2) from t
	select numeric '3.14159265358979323846264338327950288' ^ 20, sqrt(2::numeric(60, 50)), point '(1,2)' <-> point '(4,6)', inet '10.0.0.0/8' >> inet '10.1.2.3'
	vacuum full t
	reindex table t
	drop table t
	END
}
