-- inserts, indexes, joins, aggregates, window functions, text, JSON, recursion, triggers, errors
PRAGMA journal_mode = MEMORY;
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INT, score REAL);
CREATE TABLE sale(id INTEGER PRIMARY KEY, person INT REFERENCES person(id), day INT, amount REAL, note TEXT);
CREATE TABLE log(what TEXT, n INT);
CREATE TRIGGER t AFTER DELETE ON sale BEGIN INSERT INTO log VALUES('deleted', old.id); END;
BEGIN;
INSERT INTO person SELECT value, printf('p%05d', (value * @SEED@ * 7919) % 99991),
	'city' || ((value * 31 + @SEED@) % 37), 18 + (value * 17) % 60, (value * 7919 % 1000) / 7.0
	FROM generate_series(1, @N@);
INSERT INTO sale SELECT value, 1 + (value * 48271 + @SEED@) % @N@, value % 365,
	((value * 16807) % 10007) / 100.0, substr('lorem ipsum dolor sit amet consectetur', 1 + value % 20, 12)
	FROM generate_series(1, @N@ * 8);
COMMIT;
CREATE INDEX sale_person ON sale(person, day);
CREATE INDEX person_city ON person(city);
ANALYZE;
SELECT count(*), sum(amount), avg(amount), min(note), max(note) FROM sale;
SELECT city, count(*), round(sum(amount), 2), max(age) FROM person JOIN sale ON sale.person = person.id
	GROUP BY city HAVING count(*) > 3 ORDER BY 3 DESC LIMIT 20;
SELECT p.name, q.name FROM person p JOIN person q ON p.city = q.city AND p.id < q.id AND p.age = q.age
	ORDER BY p.id, q.id LIMIT 25;
SELECT * FROM (SELECT person, day, amount, row_number() OVER w AS k, sum(amount) OVER w AS running,
	lag(amount, 1, 0) OVER w AS before, ntile(4) OVER (ORDER BY amount, id) AS quarter
	FROM sale WINDOW w AS (PARTITION BY person ORDER BY day, id)) WHERE k = 3 ORDER BY running DESC, person LIMIT 25;
SELECT upper(substr(note, 1, 5)), count(DISTINCT person), group_concat(DISTINCT day % 7), total(amount)
	FROM sale WHERE note LIKE '%or%' GROUP BY 1 ORDER BY 1;
WITH RECURSIVE c(x, y) AS (SELECT 1, 1 UNION ALL SELECT x + 1, (y * 3 + x) % 1009 FROM c WHERE x < @N@)
	SELECT count(*), sum(y), max(y), hex(sum(y)) FROM c;
SELECT json_group_array(json_object('name', name, 'age', age)) FROM (SELECT * FROM person ORDER BY score, id LIMIT 5);
SELECT json_extract('{"a":[1,2,{"b":"c"}]}', '$.a[2].b'), quote(x'00ff'), typeof(1.0), 7 / 2, 7 % 3, 1e300 * 1e10,
	strftime('%Y-%m-%d', 86400 * 365, 'unixepoch'), instr('hello', 'l'), replace('aXbX', 'X', '--'), coalesce(NULL, 4);
UPDATE person SET score = score + (SELECT count(*) FROM sale WHERE person = person.id) WHERE age BETWEEN 30 AND 50;
DELETE FROM sale WHERE day IN (SELECT day FROM sale GROUP BY day ORDER BY sum(amount), day LIMIT 9);
SELECT what, count(*), sum(n) FROM log GROUP BY what;
SELECT name, score FROM person WHERE name GLOB 'p1*' EXCEPT SELECT name, score FROM person WHERE age < 40 ORDER BY 2 DESC, 1 LIMIT 15;
EXPLAIN QUERY PLAN SELECT * FROM person JOIN sale ON sale.person = person.id WHERE city = 'city3';
.mode json
SELECT * FROM sale WHERE id <= @N@ * 2;
.mode csv
SELECT * FROM person JOIN sale ON sale.person = person.id WHERE day < 60;
.mode box
SELECT * FROM person WHERE id <= @N@ / 5;
.mode insert copy
SELECT name, score, note FROM person JOIN sale ON sale.person = person.id WHERE day > 330;
.mode list
VACUUM;
PRAGMA integrity_check;
SELECT * FROM no_such_table;
INSERT INTO person(id) VALUES(1);
