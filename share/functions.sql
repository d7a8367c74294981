-- functions.sql - what contributors may do in a fleet's database, and how contributions are merged
--
-- Applied anew by each `morphctl share init`, as morph_owner.  Everything here is what protects
-- contributors from each other; nothing depends on what their programs check.
--
-- WHO       A contributor is a login in role morph_contributor (session_user, which SET ROLE
--           does not change).  Logins are what is trusted and what counts: a login with many
--           machines is one contributor.
-- WRITING   only by give(): a contribution replaces the one of its key with a lower sequence, so
--           what is sent twice counts once.  Epochs are weeks since 1970.
-- READING   of contributions the own ones (row-level security); of others what merging made of
--           them, in which each block, edge and call is of at least `least_contributors`.
-- MERGING   is adding.  In each epoch the counts of a contributor are scaled down to the median of
--           all, so that liars weigh what their number is, and to one of `least_shares` parts of the
--           sum, where there are so many.  Whose weight is below a tenth of the median does not
--           count: else a crowd of tiny ones could scale all down.
--           Epochs fade by half_life_d.
-- SAMPLES   are kind 0.  Their edges and calls do not follow from blocks: each part is scaled for
--           itself.
-- EXECUTIONS are kind 1.  No edge out of a block, into it or call in it was executed more often
--           than the block: what says so is refused.  So blocks bound the other two, and one factor
--           scales a whole contribution: what came in of a block goes out again in the sum as well,
--           but for ways that fewer than `least_contributors` took, which are left out as all
--           such is.  What ran is rounded up: it does not become what never ran.
-- WAITING   nobody for another contributor, whose transactions may never end: what others may
--           have locked is passed over (SKIP LOCKED), and what is merged anew stands beside what it
--           replaces, with a higher `made`, the newest counts.  Advisory locks, which everybody can
--           take, decide about nothing but whether something is to be merged once more.

CREATE OR REPLACE FUNCTION value_of(n text) RETURNS double precision LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT value FROM setting WHERE name = n $$;

CREATE OR REPLACE FUNCTION epoch_now() RETURNS integer LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT floor(extract(epoch FROM now()) / 604800)::integer $$;

-- What a client must know first.  `client` is the lowest version of its protocol that is served.
DROP FUNCTION IF EXISTS hello();
CREATE FUNCTION hello(OUT client integer, OUT schema integer, OUT epoch integer, OUT bound integer,
	OUT now bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = morph, pg_temp
AS $$ SELECT 1, (SELECT number FROM version), epoch_now(), value_of('least_contributors')::integer,
	extract(epoch FROM clock_timestamp())::bigint $$;

-- Why the places are none, or NULL.  `n` is how many there are to be.  An array may begin at any number;
-- where it is said that places are in order they are counted from 1.
CREATE OR REPLACE FUNCTION wrong_places(a integer[], n integer) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN a IS NULL OR cardinality(a) <> n THEN 'arrays of different lengths'
	WHEN n > 0 AND array_ndims(a) <> 1 THEN 'more than one dimension'
	WHEN n > 0 AND array_lower(a, 1) <> 1 THEN 'an array that does not begin at 1'
	WHEN 0 > ANY (a) OR array_position(a, NULL) IS NOT NULL THEN 'a place that cannot be' END $$;

CREATE OR REPLACE FUNCTION wrong_counts(a bigint[]) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN cardinality(a) > 1000000 THEN 'more than a million counts'
	WHEN cardinality(a) > 0 AND array_ndims(a) <> 1 THEN 'more than one dimension'
	WHEN cardinality(a) > 0 AND array_lower(a, 1) <> 1 THEN 'an array that does not begin at 1'
	WHEN 1 > ANY (a) OR 1125899906842624 < ANY (a) OR array_position(a, NULL) IS NOT NULL
	THEN 'a count that cannot be' END $$;

-- A contribution's arrays; blocks, edges and calls in order, so each once: each is compared with the
-- one before it, which needs no sorting.
CREATE OR REPLACE FUNCTION wrong_arrays(b integer[], n bigint[], ef integer[], et integer[], en bigint[],
	cb integer[], ca integer[], ct integer[], cn bigint[]) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = morph, pg_temp
AS $$ SELECT coalesce(wrong_counts(n), wrong_counts(en), wrong_counts(cn),
	wrong_places(b, cardinality(n)), wrong_places(ef, cardinality(en)), wrong_places(et, cardinality(en)),
	wrong_places(cb, cardinality(cn)), wrong_places(ca, cardinality(cn)), wrong_places(ct, cardinality(cn)),
	CASE WHEN cardinality(n) = 0 THEN 'no counts'
	WHEN EXISTS (SELECT FROM unnest(b[:cardinality(b) - 1], b[2:]) u(p, x) WHERE p >= x) OR
		EXISTS (SELECT FROM unnest(ef[:cardinality(ef) - 1], et[:cardinality(et) - 1], ef[2:], et[2:])
			u(p, q, x, y) WHERE (p, q) >= (x, y)) OR
		EXISTS (SELECT FROM unnest(cb[:cardinality(cb) - 1], ca[:cardinality(ca) - 1], ct[:cardinality(ct) - 1],
			cb[2:], ca[2:], ct[2:]) u(p, q, r, x, y, z) WHERE (p, q, r) >= (x, y, z))
	THEN 'places that are not in order, or twice' END) $$;

-- Is an edge or a call executed more often than its block?
CREATE OR REPLACE FUNCTION wrong_flow(b integer[], n bigint[], ef integer[], et integer[], en bigint[],
	cb integer[], ca integer[], cn bigint[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = morph, pg_temp
AS $$ SELECT CASE WHEN EXISTS (SELECT FROM (
		SELECT x, sum(z) s FROM unnest(ef, en) u(x, z) GROUP BY x UNION ALL
		SELECT x, sum(z) FROM unnest(et, en) u(x, z) GROUP BY x UNION ALL
		SELECT x, sum(z) FROM unnest(cb, ca, cn) u(x, y, z) GROUP BY x, y) w
		LEFT JOIN unnest(b, n) v(x, y) USING (x) WHERE coalesce(v.y, 0) < w.s)
	THEN 'edges or calls executed more often than their block' END $$;

-- 'taken', 'known' (this sequence or a later one is here), or 'refused: ' and why.
CREATE OR REPLACE FUNCTION give(d bytea, k integer, c text, e integer, m bytea, s bigint, b integer[], n bigint[],
	ef integer[], et integer[], en bigint[], cb integer[], ca integer[], ct integer[], cn bigint[]) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = morph, pg_temp
AS $$
DECLARE
	why text;
	w double precision;
	size bigint := cardinality(n) + cardinality(en) + cardinality(cn);
	old record;
	fresh boolean;
	more bigint;
	spent record;
BEGIN
	IF d IS NULL OR k IS NULL OR c IS NULL OR e IS NULL OR m IS NULL OR s IS NULL OR size IS NULL OR
	   octet_length(d) <> 32 OR octet_length(m) <> 16 OR k NOT IN (0, 1) OR
	   c !~ '^[a-z0-9._-]{0,32}$' OR s < 1 THEN
		RETURN 'refused: a key that cannot be';
	END IF;
	IF e > epoch_now() THEN
		RETURN 'refused: an epoch that has not begun; the clock of one of the two is wrong';
	ELSIF e <= epoch_now() - value_of('kept_epochs') THEN
		RETURN 'refused: an epoch that is no longer kept';
	END IF;
	IF EXISTS (SELECT FROM contribution WHERE digest = d AND kind = k AND class = c AND epoch = e AND
		contributor = session_user AND machine = m AND sequence >= s) THEN
		RETURN 'known';
	END IF;
	why := wrong_arrays(b, n, ef, et, en, cb, ca, ct, cn);
	IF why IS NOT NULL THEN
		RETURN 'refused: ' || why;
	END IF;
	w := (SELECT sum(x::double precision) FROM unnest(n) x);
	-- Executions are brought to 2^30 (manager/work/work_fleetcounts.c), so that sums stay exact.
	IF w >= 1e18 OR (k = 1 AND w >= 2147483648) THEN
		RETURN 'refused: counts too large in sum';
	END IF;
	IF k = 1 THEN
		why := wrong_flow(b, n, ef, et, en, cb, ca, cn);
	END IF;
	IF why IS NOT NULL THEN
		RETURN 'refused: ' || why;
	END IF;
	-- One row of this contributor and epoch at a time: what it has spent is what it has spent.
	INSERT INTO budget VALUES (session_user, e, 0, 0) ON CONFLICT DO NOTHING;
	SELECT * INTO spent FROM budget WHERE contributor = session_user AND epoch = e FOR UPDATE;
	SELECT sequence, cardinality(count) + cardinality(edge_count) + cardinality(call_count) AS size INTO old
		FROM contribution WHERE digest = d AND kind = k AND class = c AND epoch = e AND
			contributor = session_user AND machine = m;
	fresh := NOT FOUND;
	more := size - coalesce(old.size, 0);
	IF NOT fresh AND old.sequence >= s THEN
		RETURN 'known';
	END IF;
	IF spent.rows + fresh::integer > value_of('rows_most') OR
	   spent.counts + more > value_of('counts_most') THEN
		RETURN 'refused: more than a contributor may give in an epoch';
	END IF;
	UPDATE budget SET rows = rows + fresh::integer, counts = counts + more
		WHERE contributor = session_user AND epoch = e;
	INSERT INTO contribution VALUES (d, k, c, e, session_user, m, s, w, b, n, ef, et, en, cb, ca, ct, cn)
		ON CONFLICT (digest, kind, class, epoch, contributor, machine) DO UPDATE SET
			sequence = excluded.sequence, weight = excluded.weight, block = excluded.block,
			count = excluded.count, edge_from = excluded.edge_from, edge_to = excluded.edge_to,
			edge_count = excluded.edge_count, call_block = excluded.call_block,
			call_at = excluded.call_at, call_target = excluded.call_target,
			call_count = excluded.call_count;
	-- A row that is locked is left by merge() until this is committed.  Where others have locked all,
	-- there is one more: nobody waits for them.
	PERFORM FROM stale WHERE digest = d AND kind = k AND class = c AND epoch = e LIMIT 1 FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		INSERT INTO stale VALUES (d, k, c, e);
	END IF;
	RETURN 'taken';
END $$;

-- What each contributor's counts of a part, 0 blocks, 1 edges, 2 calls, are multiplied by; the
-- contributors who count.  Of samples each part for itself, for who gives few blocks may give many
-- edges; executions are all scaled as blocks are.
DROP FUNCTION IF EXISTS scales(bytea, integer, text, integer), scaled(bytea, integer, text, integer);
CREATE OR REPLACE FUNCTION scales(d bytea, k integer, c text, e integer, part integer)
RETURNS TABLE(who name, scale double precision) LANGUAGE sql STABLE SET search_path = morph, pg_temp
AS $$
	WITH given AS (SELECT contributor, sum((SELECT sum(x::double precision)
		FROM unnest(CASE WHEN part = 0 OR k = 1 THEN count WHEN part = 1 THEN edge_count ELSE call_count END) x)) w
		FROM contribution
		WHERE digest = d AND kind = k AND class = c AND epoch = e GROUP BY contributor),
	middle AS (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY w) w FROM given),
	counted AS (SELECT g.contributor, g.w, row_number() OVER o AS i, count(*) OVER () AS n,
		sum(g.w) OVER o AS below
		FROM given g, middle WHERE g.w >= middle.w / 10 WINDOW o AS (ORDER BY g.w, g.contributor)),
	-- With the n - i largest at the limit c, c is a `least_shares`th of i smaller ones and (n - i) c.
	-- Too few or too many taken for large give a larger c: the least one is the one.
	limited AS (SELECT least((SELECT w FROM middle), CASE WHEN max(n) >= value_of('least_shares') THEN
		min(below / (value_of('least_shares') - (n - i)))
			FILTER (WHERE n - i < value_of('least_shares')) END) w FROM counted)
	SELECT contributor, least(1, limited.w / counted.w) FROM counted, limited $$;

-- No table of its own: one in pg_temp could be the caller's.  Who does not count by his blocks
-- does not count.
CREATE OR REPLACE FUNCTION scaled(d bytea, k integer, c text, e integer, part integer)
RETURNS TABLE(who name, scale double precision, block integer[], count bigint[], edge_from integer[], edge_to integer[],
	edge_count bigint[], call_block integer[], call_at integer[], call_target integer[], call_count bigint[])
LANGUAGE sql STABLE SET search_path = morph, pg_temp
AS $$
	SELECT s.who, s.scale, n.block, n.count, n.edge_from, n.edge_to, n.edge_count, n.call_block, n.call_at,
		n.call_target, n.call_count
	FROM contribution n JOIN scales(d, k, c, e, part) s ON s.who = n.contributor
		JOIN scales(d, k, c, e, 0) b ON b.who = n.contributor
	WHERE n.digest = d AND n.kind = k AND n.class = c AND n.epoch = e $$;

-- The newest of what was merged, and is kept.
CREATE OR REPLACE VIEW merged_now AS SELECT * FROM (SELECT DISTINCT ON (digest, kind, class, epoch) * FROM merged
	ORDER BY digest, kind, class, epoch, made DESC) m
	WHERE contributors > 0 AND epoch > epoch_now() - value_of('kept_epochs');
CREATE OR REPLACE VIEW evidence AS SELECT * FROM (SELECT DISTINCT ON (digest, kind, class) * FROM fleet
	ORDER BY digest, kind, class, made DESC) f WHERE contributors > 0;

CREATE OR REPLACE FUNCTION merge_epoch(d bytea, k integer, c text, e integer) RETURNS void
LANGUAGE plpgsql SET search_path = morph, pg_temp
AS $$
DECLARE
	bound integer := value_of('least_contributors');
	r merged;
BEGIN
	r.made := nextval('made');	-- before what it is made of is read
	r.digest := d; r.kind := k; r.class := c; r.epoch := e;
	SELECT count(*) INTO r.contributors FROM scales(d, k, c, e, 0);
	SELECT coalesce(array_agg(x ORDER BY x), '{}'), coalesce(array_agg(y ORDER BY x), '{}'), coalesce(sum(y), 0)
		INTO r.block, r.count, r.weight
		FROM (SELECT x, least(1125899906842624, ceil(sum(y * scale)))::bigint y FROM scaled(d, k, c, e, 0), unnest(block, count) u(x, y)
			GROUP BY x HAVING count(DISTINCT who) >= bound) s;
	SELECT coalesce(array_agg(x ORDER BY x, y), '{}'), coalesce(array_agg(y ORDER BY x, y), '{}'),
		coalesce(array_agg(z ORDER BY x, y), '{}') INTO r.edge_from, r.edge_to, r.edge_count
		FROM (SELECT x, y, least(1125899906842624, ceil(sum(z * scale)))::bigint z FROM scaled(d, k, c, e, 1),
			unnest(edge_from, edge_to, edge_count) u(x, y, z)
			GROUP BY x, y HAVING count(DISTINCT who) >= bound) s;
	SELECT coalesce(array_agg(x ORDER BY x, a, y), '{}'), coalesce(array_agg(a ORDER BY x, a, y), '{}'),
		coalesce(array_agg(y ORDER BY x, a, y), '{}'), coalesce(array_agg(z ORDER BY x, a, y), '{}')
		INTO r.call_block, r.call_at, r.call_target, r.call_count
		FROM (SELECT x, a, y, least(1125899906842624, ceil(sum(z * scale)))::bigint z FROM scaled(d, k, c, e, 2),
			unnest(call_block, call_at, call_target, call_count) u(x, a, y, z)
			GROUP BY x, a, y HAVING count(DISTINCT who) >= bound) s;
	IF r.contributors < bound OR r.weight = 0 THEN
		r.contributors := 0;	-- nothing, in the place of what there was
	END IF;
	INSERT INTO merged SELECT r.*;
	DELETE FROM merged WHERE ctid = ANY (ARRAY(SELECT ctid FROM merged WHERE digest = d AND kind = k AND class = c AND
		epoch = e AND made < r.made FOR UPDATE SKIP LOCKED));
	DELETE FROM merged WHERE made = r.made AND contributors = 0 AND digest = d AND kind = k AND class = c AND epoch = e AND
		NOT EXISTS (SELECT FROM merged WHERE digest = d AND kind = k AND class = c AND epoch = e AND made < r.made);
END $$;

-- Samples that become none are none.
DROP FUNCTION IF EXISTS faded(bigint, integer);
CREATE OR REPLACE FUNCTION faded(count bigint, age integer, k integer) RETURNS bigint LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT CASE k WHEN 1 THEN ceil(x) ELSE floor(x) END::bigint
	FROM (SELECT count * 0.5 ^ (greatest(age, 0) * 7 / greatest(value_of('half_life_d'), 1)) x) f $$;

-- All epochs in one, as of the newest: later on only that one's age is to be added.
CREATE OR REPLACE FUNCTION merge_fleet(d bytea, k integer, c text) RETURNS void
LANGUAGE plpgsql SET search_path = morph, pg_temp
AS $$
DECLARE
	r fleet;
BEGIN
	r.made := nextval('made');
	r.digest := d; r.kind := k; r.class := c;
	SELECT coalesce(max(epoch), 0), coalesce(max(contributors), 0) INTO r.epoch, r.contributors FROM merged_now
		WHERE digest = d AND kind = k AND class = c;
	SELECT coalesce(array_agg(x ORDER BY x), '{}'), coalesce(array_agg(y ORDER BY x), '{}'), coalesce(sum(y), 0)
		INTO r.block, r.count, r.weight
		FROM (SELECT x, least(1125899906842624, sum(faded(y, r.epoch - epoch, k)))::bigint y FROM merged_now, unnest(block, count) u(x, y)
			WHERE digest = d AND kind = k AND class = c GROUP BY x) s WHERE y > 0;
	SELECT coalesce(array_agg(x ORDER BY x, y), '{}'), coalesce(array_agg(y ORDER BY x, y), '{}'),
		coalesce(array_agg(z ORDER BY x, y), '{}') INTO r.edge_from, r.edge_to, r.edge_count
		FROM (SELECT x, y, least(1125899906842624, sum(faded(z, r.epoch - epoch, k)))::bigint z FROM merged_now,
			unnest(edge_from, edge_to, edge_count) u(x, y, z)
			WHERE digest = d AND kind = k AND class = c GROUP BY x, y) s WHERE z > 0;
	SELECT coalesce(array_agg(x ORDER BY x, a, y), '{}'), coalesce(array_agg(a ORDER BY x, a, y), '{}'),
		coalesce(array_agg(y ORDER BY x, a, y), '{}'), coalesce(array_agg(z ORDER BY x, a, y), '{}')
		INTO r.call_block, r.call_at, r.call_target, r.call_count
		FROM (SELECT x, a, y, least(1125899906842624, sum(faded(z, r.epoch - epoch, k)))::bigint z FROM merged_now,
			unnest(call_block, call_at, call_target, call_count) u(x, a, y, z)
			WHERE digest = d AND kind = k AND class = c GROUP BY x, a, y) s WHERE z > 0;
	IF r.weight = 0 THEN
		r.contributors := 0;
	END IF;
	INSERT INTO fleet SELECT r.*;
	DELETE FROM fleet WHERE ctid = ANY (ARRAY(SELECT ctid FROM fleet WHERE digest = d AND kind = k AND class = c AND
		made < r.made FOR UPDATE SKIP LOCKED));
	DELETE FROM fleet WHERE made = r.made AND contributors = 0 AND digest = d AND kind = k AND class = c AND
		NOT EXISTS (SELECT FROM fleet WHERE digest = d AND kind = k AND class = c AND made < r.made);
END $$;

-- Brings up to date what has been stale for merge_after_s, at most so much of it; what is too old
-- goes.  Whoever has given calls it; how much was done.
CREATE OR REPLACE FUNCTION merge(most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = morph, pg_temp
AS $$
DECLARE
	r record;
	done integer := 0;
	gone integer := epoch_now() - value_of('kept_epochs');
BEGIN
	IF current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE 'merge: only in a transaction that sees what others have given meanwhile';
	END IF;
	FOR r IN SELECT DISTINCT digest, kind, class FROM merged WHERE epoch <= gone LOOP
		DELETE FROM merged WHERE ctid = ANY (ARRAY(SELECT ctid FROM merged WHERE digest = r.digest AND
			kind = r.kind AND class = r.class AND epoch <= gone FOR UPDATE SKIP LOCKED));
		PERFORM merge_fleet(r.digest, r.kind, r.class);
	END LOOP;
	DELETE FROM contribution WHERE ctid = ANY (ARRAY(SELECT ctid FROM contribution WHERE epoch <= gone FOR UPDATE SKIP LOCKED));
	DELETE FROM budget WHERE ctid = ANY (ARRAY(SELECT ctid FROM budget WHERE epoch <= gone FOR UPDATE SKIP LOCKED));
	FOR r IN SELECT digest, kind, class, epoch FROM stale WHERE since <= clock_timestamp() - make_interval(secs => value_of('merge_after_s'))
		GROUP BY digest, kind, class, epoch ORDER BY random() LIMIT most LOOP
		-- While somebody else is at it, or says so, it is not over: it stays stale.
		IF pg_try_advisory_xact_lock(hashtextextended(encode(r.digest, 'hex') || r.kind || r.class, 0)) THEN
			DELETE FROM stale WHERE ctid = ANY (ARRAY(SELECT ctid FROM stale WHERE digest = r.digest AND
				kind = r.kind AND class = r.class AND epoch = r.epoch FOR UPDATE SKIP LOCKED));
		END IF;
		PERFORM merge_epoch(r.digest, r.kind, r.class, r.epoch);
		PERFORM merge_fleet(r.digest, r.kind, r.class);
		done := done + 1;
	END LOOP;
	RETURN done;
END $$;

-- What the counts of an epoch are worth now.
CREATE OR REPLACE FUNCTION fading(e integer) RETURNS double precision LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = morph, pg_temp
AS $$ SELECT 0.5 ^ (greatest(epoch_now() - e, 0) * 7 / greatest(value_of('half_life_d'), 1)) $$;

-- What the fleet knows of these files: the answer to a whole machine.
CREATE OR REPLACE FUNCTION take(d bytea[], c text) RETURNS SETOF fleet
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = morph, pg_temp
AS $$ SELECT * FROM evidence WHERE digest = ANY (d) AND class = c ORDER BY digest, kind LIMIT 10000 $$;

-- For people.
CREATE OR REPLACE VIEW mine WITH (security_invoker = true) AS SELECT * FROM contribution WHERE contributor = session_user;

REVOKE ALL ON ALL TABLES IN SCHEMA morph FROM PUBLIC, morph_contributor;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA morph FROM PUBLIC, morph_contributor;
GRANT USAGE ON SCHEMA morph TO morph_contributor;
GRANT SELECT ON evidence, mine, contribution TO morph_contributor;
GRANT EXECUTE ON FUNCTION hello(), fading(integer), merge(integer), take(bytea[], text), give(bytea, integer, text, integer, bytea,
	bigint, integer[], bigint[], integer[], integer[], bigint[], integer[], integer[], integer[], bigint[])
	TO morph_contributor;
