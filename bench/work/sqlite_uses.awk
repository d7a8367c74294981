# sqlite_uses.awk - SQL of some uses of SQLite: awk -v n=N -v seed=SEED -v uses='USE...' -f sqlite_uses.awk
function rnd(k) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * k) }
function word(  i, w) { w = ""; for (i = rnd(7) + 2; i > 0; i--) w = w substr("etaoinshrdlucmfwypvbgkqjxz", int(rnd(26) * rnd(26) / 26) + 1, 1); return w }
function tables() {
	print "CREATE TABLE part(id INTEGER PRIMARY KEY, kind INT, name TEXT, price REAL);"
	print "CREATE TABLE ordered(id INTEGER PRIMARY KEY, part INT, day INT, amount INT);"
	print "INSERT INTO part SELECT value, (value * " seed ") % 23, printf('part-%04x', value * 7919 % 65521), value % 997 / 8.0 FROM generate_series(1, " n ");"
	print "INSERT INTO ordered SELECT value, 1 + value * 48271 % " n ", value % 365, 1 + value * 31 % 17 FROM generate_series(1, " n " * 6);"
	print "CREATE INDEX ordered_part ON ordered(part);"
}
function queries(  i) {
	tables()
	for (i = 0; i < 6; i++) {
		print "SELECT kind, count(*), sum(price * amount), max(day) FROM part JOIN ordered ON part.id = ordered.part WHERE day BETWEEN " rnd(100) " AND " 200 + rnd(100) " GROUP BY kind ORDER BY 3 DESC LIMIT 7;"
		print "SELECT name FROM part WHERE id IN (SELECT part FROM ordered WHERE day = " rnd(365) " AND amount > " rnd(9) ") AND price < " rnd(99) " ORDER BY name LIMIT 9;"
		print "SELECT * FROM (SELECT part, day, sum(amount) OVER (PARTITION BY part ORDER BY day) AS s, rank() OVER (PARTITION BY part ORDER BY amount DESC, id) AS r FROM ordered WHERE part < " n / 4 ") WHERE r = 2 AND s > " rnd(40) " ORDER BY s DESC, part LIMIT 5;"
	}
	print "WITH RECURSIVE f(x, y, k) AS (SELECT 0, 1, 0 UNION ALL SELECT y, (x + y) % 10007, k + 1 FROM f WHERE k < " n ") SELECT count(DISTINCT x), sum(y) FROM f;"
	print "SELECT p.name, q.name FROM part p, part q WHERE p.kind = q.kind AND p.price = q.price AND p.id < q.id ORDER BY 1, 2 LIMIT 5;"
}
function writes(  i, r) {
	print "CREATE TABLE account(name TEXT PRIMARY KEY, balance INT, changed INT) WITHOUT ROWID;"
	print "CREATE TABLE entry(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, amount INT, at INT);"
	print "CREATE INDEX entry_name ON entry(name, at); CREATE UNIQUE INDEX entry_at ON entry(at);"
	print "CREATE TRIGGER noted AFTER UPDATE OF balance ON account WHEN new.balance < 0 BEGIN UPDATE account SET balance = 0 WHERE name = new.name; END;"
	for (i = 0; i < n; i++) {
		if (i % 50 == 0) print (i ? "COMMIT; " : "") "BEGIN;"
		r = rnd(n / 8)
		print "INSERT INTO account VALUES('a" r "', " rnd(500) ", " i ") ON CONFLICT(name) DO UPDATE SET balance = balance + excluded.balance - 200, changed = excluded.changed;"
		print "INSERT INTO entry(name, amount, at) VALUES('a" r "', " rnd(900) - 300 ", " i ");"
		if (i % 9 == 0) print "DELETE FROM entry WHERE at < " i - rnd(400) " AND name = 'a" rnd(n / 8) "';"
		if (i % 97 == 0) print "SAVEPOINT s; UPDATE account SET balance = -1 WHERE name LIKE 'a" rnd(9) "%'; ROLLBACK TO s; RELEASE s;"
	}
	print "COMMIT; SELECT count(*), sum(balance), max(changed) FROM account; SELECT count(*), sum(amount) FROM entry; VACUUM; PRAGMA integrity_check;"
}
function words(  i, k, line) {
	print "CREATE VIRTUAL TABLE doc USING fts5(title, body); CREATE TABLE raw(id INTEGER PRIMARY KEY, j TEXT); BEGIN;"
	for (i = 0; i < n / 8; i++) {
		line = ""
		for (k = 0; k < 30; k++) line = line word() " "
		print "INSERT INTO doc VALUES('" word() "', '" line "');"
		print "INSERT INTO raw VALUES(" i ", '{\"id\":" i ",\"tags\":[\"" word() "\",\"" word() "\"],\"at\":{\"x\":" rnd(99) ",\"y\":null},\"text\":\"" word() " " word() "\"}');"
	}
	print "COMMIT; INSERT INTO doc(doc) VALUES('optimize');"
	for (i = 0; i < 20; i++) {
		print "SELECT count(*), min(title) FROM doc WHERE doc MATCH '" word() " OR " word() "* NOT " word() "';"
		print "SELECT title, snippet(doc, 1, '[', ']', '..', 6) FROM doc WHERE doc MATCH '" word() "' ORDER BY rank, rowid LIMIT 3;"
		print "SELECT sum(j ->> '$.at.x'), max(json_extract(j, '$.tags[1]')) FROM raw WHERE json_extract(j, '$.tags[0]') LIKE '%" substr(word(), 1, 2) "%';"
		print "SELECT upper(substr(j, 9, 20)), length(replace(j, 'e', 'ee')), instr(j, 'text'), hex(substr(j, -4)) FROM raw WHERE j GLOB '*" substr(word(), 1, 2) "*' ORDER BY 2 DESC, 1 LIMIT 3;"
	}
	print "SELECT value, count(*) FROM raw, json_each(raw.j, '$.tags') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 9;"
}
BEGIN {
	state = seed * 7919 + 29
	if (uses ~ /queries/) queries()
	if (uses ~ /writes/) writes()
	if (uses ~ /words/) words()
}
