# sqlite3.sh - the sqlite3 shell: joins, windows, recursion, full text, JSON, dump and restore
packages=sqlite3
files() { with_libraries "$(program sqlite3)"; }
run() {
	sqlite3 -batch a.db <<-'END'
	CREATE TABLE word(id INTEGER PRIMARY KEY, w TEXT, n INT, x REAL);
	WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
	  INSERT INTO word SELECT i, printf('%s-%d', char(97 + i % 26, 97 + i * 7 % 26), i * 7919 % 1000), i * i % 977, i / 3.0 FROM c;
	CREATE INDEX wn ON word(n, w);
	CREATE VIRTUAL TABLE t USING fts5(body);
	INSERT INTO t SELECT w || ' ' || group_concat(n, ' w') FROM word GROUP BY id / 100;
	CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
	INSERT INTO r SELECT id, x, x + n FROM word;
	.mode box
	SELECT n, count(*), sum(x), group_concat(DISTINCT substr(w, 1, 1)) FROM word GROUP BY n ORDER BY 2 DESC, 1 LIMIT 20;
	SELECT id, sum(n) OVER (PARTITION BY id % 7 ORDER BY id ROWS 5 PRECEDING) s FROM word ORDER BY s DESC, id LIMIT 20;
	SELECT count(*) FROM t WHERE t MATCH 'w1 NEAR w4';
	SELECT count(*), max(x1) FROM r WHERE x0 > 100 AND x1 < 2000;
	SELECT json_group_array(json_object('n', n, 'w', w)) FROM (SELECT * FROM word WHERE id % 997 = 0);
	SELECT a.w, b.w FROM word a JOIN word b ON a.n = b.id AND a.w > b.w ORDER BY 1, 2 LIMIT 30;
	EXPLAIN QUERY PLAN SELECT * FROM word WHERE n = 5 AND w LIKE 'a%';
	EXPLAIN SELECT n, avg(x) FROM word WHERE w GLOB 'b*' GROUP BY 1 HAVING count(*) > 2;
	WITH RECURSIVE m(x, y, cx, cy, i) AS (SELECT 0.0, 0.0, a.id / 20.0 - 2, b.id / 10.0 - 1, 0 FROM word a, word b
	  WHERE a.id < 60 AND b.id < 20 UNION ALL SELECT x*x - y*y + cx, 2*x*y + cy, cx, cy, i + 1 FROM m WHERE x*x + y*y < 4 AND i < 28)
	  SELECT round(sum(x), 6), max(i), count(*) FROM m;
	UPDATE word SET w = upper(w) WHERE n % 3 = 0; DELETE FROM word WHERE n % 5 = 0;
	PRAGMA integrity_check; VACUUM; ANALYZE; SELECT * FROM sqlite_stat1;
	SELECT strftime('%Y-%j', 1e9, 'unixepoch', '+3 months'), date('2024-02-29', '+1 year'), hex(zeroblob(4)), quote(x'00ff');
	SELECT no_such_function(1);
	END
	sqlite3 a.db .dump | tee dump.sql | sha256sum
	sqlite3 b.db <dump.sql && sqlite3 b.db 'SELECT count(*), sum(n) FROM word' .schema
	sqlite3 a.db '.recover' | sha256sum
	sqlite3 -csv a.db 'SELECT * FROM word ORDER BY w, id' | sha256sum
}
