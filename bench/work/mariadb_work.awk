# mariadb_work.awk - SQL for a server that prints nothing: awk -v n=ROWS -v seed=SEED -f mariadb_work.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function word(  i, w) { w = ""; for (i = rnd(7) + 2; i > 0; i--) w = w substr("etaoinshrdlucmfwypvbgkqjxz", int(rnd(26) * rnd(26) / 26) + 1, 1); return w }
function out(sql) { print sql " into outfile '../out." sprintf("%03d", ++outs) "';" }
BEGIN {
	state = seed * 7919 + 37
	print "use w;"
	print "create table ordered(id int auto_increment primary key, part int, day date, amount int, note varchar(60), key(part, day)) engine=innodb;"
	print "create table noted(what varchar(20), n int, at int) engine=aria;"
	print "create trigger t after update on part for each row insert into noted values(old.name, old.id, new.price);"
	for (i = 0; i < n; i += 20) {
		line = "insert into part values"; more = "insert into ordered(part, day, amount, note) values"
		for (k = i; k < i + 20; k++) {
			line = line (k > i ? "," : "") "(" k "," rnd(40) ",'" word() k "'," rnd(1000) / 8 ")"
			for (j = 0; j < 3; j++)
				more = more (k > i || j ? "," : "") "(" rnd(n) ",'2022-01-01' + interval " rnd(365) " day," rnd(20) ",'" word() " " word() "')"
		}
		print line ";"; print more ";"
	}
	for (i = 0; i < 12; i++) {
		out("select kind, count(*), round(sum(price * amount), 2), max(day) from part join ordered on part.id = ordered.part where amount > " rnd(9) " group by kind order by 3 desc limit 9")
		out("select id, name, upper(reverse(name)), concat_ws('-', kind, round(price, 1)), substr(md5(name), 1, 8) from part where name like '%" substr(word(), 1, 1) "%' and kind in (" rnd(40) "," rnd(40) "," rnd(40) ") order by name limit 20")
		out("select part, n, r from (select part, sum(amount) over (partition by part order by day, id) n, row_number() over (partition by part order by amount desc, id) r from ordered) x where r = 2 and n > " rnd(30) " order by n desc, part limit 9")
		out("select name from part where id in (select part from ordered where month(day) = " 1 + rnd(12) " group by part having sum(amount) > " 10 + rnd(20) ") order by id limit 9")
		print "update part set price = price + " rnd(5) ", name = replace(name, '" substr(word(), 1, 1) "', 'Z') where kind = " rnd(40) ";"
		print "delete from ordered where day between '2022-0" 1 + rnd(9) "-01' and '2022-0" 1 + rnd(9) "-09' and amount < " rnd(9) ";"
		out("select date_format(day, '%Y-%m'), count(distinct part), sum(if(amount > 5, amount * 1.2, amount + 1)), group_concat(distinct amount order by amount) from ordered group by 1 order by 1")
	}
	out("with recursive f as (select 1 as k, 1 as x union all select k + 1, (x * 3 + k) % 1009 from f where k < 900) select count(*), sum(x) from f")
	out("select note regexp '^[a-m]+ .*(in|es)$' as r, count(*), min(note) from ordered group by 1 order by 1")
	out("select what, count(*), sum(n), max(at) from noted group by what order by 2 desc, 1 limit 9")
}
