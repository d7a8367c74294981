# postgres_work.awk - awk -v n=ROWS -v seed=SEED -v part=tables|work -v uses=[transactions|questions] -f postgres_work.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function sql(text) { print text ";\n" }
function tables() {
	sql("create table accounts (aid int primary key, bid int, abalance int, filler text)")
	sql("create table branches (bid int primary key, bbalance int)")
	sql("create table history (aid int, bid int, delta int, note text)")
	sql("insert into accounts select i, i % 10, 0, md5(i::text || '" seed "') from generate_series(1, " n ") i")
	sql("insert into branches select i, 0 from generate_series(0, 9) i")
	sql("create table person (id int primary key, name text, city text, born date, score numeric)")
	sql("insert into person select i, 'p' || (i * " 7919 + seed " % 9973), 'city' || (i * 31 + " seed ") % 37," \
		" date '1950-01-01' + (i * 17 % 20000), (i * 7919 % 1000) / 7.0 from generate_series(1, " n ") i")
	sql("create index person_city on person (city, born)")
	sql("create table doc (id int, body jsonb, words text)")
	sql("insert into doc select i, jsonb_build_object('id', i, 'tags', jsonb_build_array(i % 7, md5(i::text)), 'deep', jsonb_build_object('k', i % 13))," \
		" repeat('the quick brown fox ' || i || ' jumps over ', i % 5 + 1) from generate_series(1, " int(n / 10) ") i")
	sql("vacuum analyze")
}
function transactions(k,  a, d) {
	for (; k > 0; k--) {
		a = 1 + rnd(n)
		d = rnd(10000) - 5000
		sql("begin")
		sql("update accounts set abalance = abalance + " d " where aid = " a)
		sql("select abalance from accounts where aid = " a)
		sql("update branches set bbalance = bbalance + " d " where bid = " rnd(10))
		sql("insert into history values (" a ", " rnd(10) ", " d ", 'note " rnd(100) "')")
		sql(rnd(9) ? "commit" : "rollback")
	}
}
function questions(  k) {
	k = rnd(37)
	sql("select city, count(*), sum(score)::numeric(14, 3), min(born) from person group by city having count(*) > 3 order by 3 desc, 1 limit 9")
	sql("select a.name, b.name from person a join person b on a.city = b.city and a.id < b.id and a.born = b.born order by a.id, b.id limit 9")
	sql("select * from (select id, city, rank() over w as r, sum(score) over w as s, lag(name) over w from person where city < 'city" k "' window w as (partition by city order by born, id)) x where r = 3 order by id limit 9")
	sql("with recursive f (a, b, k) as (values (0::numeric, 1::numeric, 0) union all select b, a + b, k + 1 from f where k < 300) select max(a) from f")
	sql("select regexp_replace(filler, '([0-9]+)([a-f]+)', '\\2-\\1', 'g'), length(filler) from accounts where filler ~ '^" rnd(10) "[a-c]+" rnd(10) "' order by aid limit 9")
	sql("select body->'deep'->>'k' as k, count(*), sum((body->>'id')::int) from doc where body @> '{\"deep\": {\"k\": " rnd(13) "}}' or body->'tags'->>0 = '3' group by 1 order by 1")
	sql("select upper(substr(words, 5, 11)), count(*), string_agg(id::text, ',' order by id) from doc where words like '%fox 1%' group by 1")
	sql("select count(*) from person p where exists (select 1 from accounts a where a.aid = p.id and a.abalance > 0) and not p.city in ('city1', 'city" k "')")
	sql("select to_char(born, 'YYYY Mon'), extract(dow from born), age(born, date '1940-03-01') from person where id % 97 = " k " order by id limit 9")
	sql("select bid, count(*), avg(delta)::numeric(12, 4), stddev(delta)::numeric(12, 4) from history group by rollup (bid) order by bid")
	sql("select case when score > 100 then 'high' when score > 50 then 'middle' else 'low' end as c, count(distinct city), percentile_disc(0.5) within group (order by born) from person group by 1 order by 1")
	sql("select to_tsvector('simple', words) @@ to_tsquery('simple', 'fox & 1" k "') as hit, count(*) from doc group by 1 order by 1")
	sql("explain (costs off) select * from person p join accounts a on a.aid = p.id left join history h using (aid) where city = 'city" k "' and score > 3 order by p.name")
	sql("select 1 / (" k " - " k ")")
}
BEGIN {
	state = seed * 7919 + 19
	if (part == "tables")
		tables()
	else
		for (round = 0; round < 10; round++) {
			if (uses != "questions")
				transactions(uses == "transactions" ? 1500 : 300)
			if (uses != "transactions")
				questions()
		}
}
