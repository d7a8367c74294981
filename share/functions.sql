-- functions.sql - what contributors may do in a fleet's database, and how contributions are merged
--
-- Applied anew by each `morphctl share init`, as morph_owner.  Everything here is what protects
-- contributors from each other; nothing depends on what their programs check.
--
-- WHO       A contributor is a login in role morph_contributor (session_user, which SET ROLE
--           does not change).  Logins are what is trusted and what counts: a login with many
--           machines is one contributor, and one person's logins could see what the fifth one has.
-- WRITING   only by give(): a contribution replaces the one of its key with a lower sequence, so
--           what is sent twice counts once.  Epochs are weeks since 1970.  What one may write,
--           what of it stays, and what of it is one file's, is limited.
-- READING   by functions alone: who may read a table learns by EXPLAIN ANALYZE of rows that row-level
--           security keeps from him.  Of contributions the own ones; of others what merging made of
--           them, in which each block, edge and call is of at least `least_contributors`.  Nor is it
--           merged again before so many have changed what they gave, and a tenth of all: else the
--           difference would be the one's who did.  What was merged for fewer than `least_contributors`
--           are now is not read either.  What merge() costs tells who calls it still how
--           many rows there are of files that he gave himself (EXPLAIN's buffers, pg_stat_xact_all_tables).
-- MERGING   is adding, of what at least `least_contributors` have.  In each epoch the counts of a
--           contributor are scaled down to the median of all, so that liars weigh what their number
--           is, and to one of `least_shares` parts of the sum, where there are so many.  Whose weight is
--           below a tenth of the median does not count: else a crowd of tiny ones could scale all down.
--           Epochs fade by half_life_d, and in the mean their contributors weigh no more than the median
--           of all contributors' best epochs: else liars would give in one of their own.  One of few
--           contributors counts by the square of their part of the largest one's, else liars would have
--           the weeks of before for themselves.  What is left: of N contributors in this week L weigh
--           L + L (L / N)^2 s to the N - L, by all `late_epochs`; s is what the ones before sum up to,
--           2.6 with 5 of them and 28 days.  Five liars of 21 are 26 %, ten of 26 are 47 %.
--           N are those who gave that kind and part, and who have the median.  Where almost half of all have
--           less than a tenth of it, liars can make it that of the others: L are L of half of all at most,
--           five of 21 who are honest in two kinds 38 %.
-- SAMPLES   are kind 0.  Their edges and calls do not follow from blocks: each part is scaled for
--           itself.
-- EXECUTIONS are kind 1.  No edge out of a block, into it or call in it was executed more often
--           than the block: what says so is refused.  So blocks bound the other two, and one factor
--           scales a whole contribution: what came in of a block goes out again in the sum as well,
--           but for ways that fewer than `least_contributors` took, which are left out as all
--           such is.  What ran is rounded up: it does not become what never ran.
-- WAITING   nobody for another contributor, whose transactions may never end: there is no lock that
--           one could hold.  What is to be merged follows from rows: who gave what the newest merging
--           did not see.  What is merged anew stands beside what it replaces, with a higher `made`, the
--           newest counts.  Everybody merges what he gave himself, so nobody the files of a crowd that
--           gives such as nobody has.  Who merges does not see what came of it in that transaction: else
--           he would end it by ROLLBACK, again and again, and see each one's change.  And what others
--           have merged meanwhile takes the place of one's own, of which the difference would be.
-- MOVING    a database to another server (pg_dump) takes numbers of transactions along, which are of the
--           time to come there, or others'.  So what is kept of them, `given`, `written` and `seen`, is
--           higher by 2^48 for each server: what was seen before stays seen, what is given here is new.

-- Contributors can make views of their own over all that is here, also over what they may not read, and keep
-- transactions open that have read: so a view is replaced only where it is another one, and only what earlier
-- schemas had is dropped, with all that is made of it.
CREATE OR REPLACE FUNCTION make_view(name text, body text) RETURNS void LANGUAGE plpgsql
SET search_path = morph, pg_temp
AS $$
DECLARE
	old regclass := to_regclass('morph.' || name);
	same boolean;
BEGIN
	EXECUTE 'CREATE VIEW trial AS ' || body;
	same := pg_get_viewdef('trial'::regclass) = pg_get_viewdef(old);
	DROP VIEW trial;
	IF NOT same OR old IS NULL THEN
		EXECUTE format('CREATE OR REPLACE VIEW %I AS %s', name, body);
	END IF;
EXCEPTION WHEN invalid_table_definition THEN	-- it had other columns
	EXECUTE format('DROP VIEW %I CASCADE', name);
	EXECUTE format('CREATE VIEW %I AS %s', name, body);
END $$;

DO $$
DECLARE
	f regprocedure;
BEGIN
	FOR f IN SELECT p.oid FROM pg_proc p WHERE pronamespace = 'morph'::regnamespace AND (
			proname IN ('scaled', 'faded') OR (proname = 'scales' AND pronargs > 2) OR
			(proname = 'take' AND prorettype = 'fleet'::regtype) OR
			(proname = 'merge_epoch' AND pronargs < 5) OR
			(proname = 'merge_fleet' AND prorettype <> 'void'::regtype)) LOOP
		EXECUTE 'DROP FUNCTION ' || f || ' CASCADE';
	END LOOP;
END $$;

CREATE OR REPLACE FUNCTION value_of(n text) RETURNS double precision LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT value FROM setting WHERE name = n $$;

CREATE OR REPLACE FUNCTION epoch_now() RETURNS integer LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT floor(extract(epoch FROM now()) / 604800)::integer $$;

-- Is this another server than the last one that wrote here?  Who finds that at the same time finds the same;
-- nobody waits.
CREATE OR REPLACE FUNCTION here() RETURNS void LANGUAGE sql
SET search_path = morph, pg_temp
AS $$ INSERT INTO cluster SELECT coalesce(max(number), 0) + 1, s.system_identifier
	FROM pg_control_system() s LEFT JOIN cluster ON true GROUP BY s.system_identifier
	HAVING s.system_identifier IS DISTINCT FROM
		(SELECT identifier FROM cluster ORDER BY number DESC LIMIT 1) $$;

-- Behind here(): numbers of transactions as they are kept.
CREATE OR REPLACE FUNCTION kept(x xid8) RETURNS xid8 LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT (x::text::bigint + (SELECT max(number) FROM cluster) * 281474976710656)::text::xid8 $$;

CREATE OR REPLACE FUNCTION seen_now() RETURNS pg_snapshot LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT (kept(pg_snapshot_xmin(s)) || ':' || kept(pg_snapshot_xmax(s)) || ':' ||
		coalesce((SELECT string_agg(kept(x)::text, ',' ORDER BY x) FROM pg_snapshot_xip(s) x), ''))::pg_snapshot
	FROM pg_current_snapshot() s $$;

-- What schemas below 8 kept is of nobody knows which server: all of theirs was seen.
CREATE OR REPLACE FUNCTION seen_then(seen pg_snapshot) RETURNS pg_snapshot LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN pg_snapshot_xmin(seen) < '281474976710656' THEN '281474976710659:281474976710659:'
	ELSE seen END $$;

-- What a client must know first.  `client` is the lowest version of its protocol that is served.
CREATE OR REPLACE FUNCTION hello(OUT client integer, OUT schema integer, OUT epoch integer, OUT bound integer,
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
	entries bigint := cardinality(n) + cardinality(en) + cardinality(cn);
	old record;
	fresh boolean;
	more bigint;
	spent record;
	here bigint;
BEGIN
	PERFORM here();
	IF d IS NULL OR k IS NULL OR c IS NULL OR e IS NULL OR m IS NULL OR s IS NULL OR entries IS NULL OR
	   octet_length(d) <> 32 OR octet_length(m) <> 16 OR k NOT IN (0, 1) OR
	   c !~ '^[a-z0-9._-]{0,32}$' OR s < 1 THEN
		RETURN 'refused: a key that cannot be';
	END IF;
	IF e > epoch_now() THEN
		RETURN 'refused: an epoch that has not begun; the clock of one of the two is wrong';
	ELSIF e <= epoch_now() - least(value_of('late_epochs'), value_of('kept_epochs')) THEN
		RETURN 'refused: an epoch of too long ago';
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
	IF w >= (CASE k WHEN 1 THEN 2147483648 ELSE 1125899906842624 END) THEN
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
	SELECT sequence, size INTO old FROM contribution WHERE digest = d AND kind = k AND class = c AND epoch = e AND
		contributor = session_user AND machine = m;
	fresh := NOT FOUND;
	more := entries - coalesce(old.size, 0);
	IF NOT fresh AND old.sequence >= s THEN
		RETURN 'known';
	END IF;
	IF spent.rows + fresh::integer > value_of('rows_most') OR spent.counts + more > value_of('counts_most') OR
	   spent.written + entries > value_of('written_most') THEN
		RETURN 'refused: more than a contributor may give in an epoch';
	END IF;
	here := (SELECT sum(size) FROM contribution WHERE digest = d AND kind = k AND class = c AND epoch = e AND
		contributor = session_user);
	IF coalesce(here, 0) + more > value_of('counts_of_file_most') THEN
		RETURN 'refused: more than a contributor may give of a file in an epoch';
	END IF;
	UPDATE budget SET rows = rows + fresh::integer, counts = counts + more, written = written + entries
		WHERE contributor = session_user AND epoch = e;
	INSERT INTO contribution VALUES (d, k, c, e, session_user, m, s, w, b, n, ef, et, en, cb, ca, ct, cn, entries,
		kept(pg_current_xact_id()), (SELECT coalesce(sum(x::double precision), 0) FROM unnest(en) x),
		(SELECT coalesce(sum(x::double precision), 0) FROM unnest(cn) x))
		ON CONFLICT (digest, kind, class, epoch, contributor, machine) DO UPDATE SET
			sequence = excluded.sequence, weight = excluded.weight, block = excluded.block,
			count = excluded.count, edge_from = excluded.edge_from, edge_to = excluded.edge_to,
			edge_count = excluded.edge_count, call_block = excluded.call_block,
			call_at = excluded.call_at, call_target = excluded.call_target,
			call_count = excluded.call_count, size = excluded.size, given = excluded.given,
			edge_weight = excluded.edge_weight, call_weight = excluded.call_weight;
	RETURN 'taken';
END $$;

-- What was given of a part, 0 blocks, 1 edges, 2 calls, by whom: contributors have numbers.  So many that
-- it is no endless work; of more than that chance decides, by names that nobody chooses for himself.  Who has more
-- than a part of `least_shares` of it comes last: else a few could fill it.
CREATE OR REPLACE FUNCTION given(d bytea, k integer, c text, e integer, part integer)
RETURNS TABLE(who integer, x integer, y integer, z integer, n double precision) LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$
	WITH by_chance AS (SELECT contributor, count(*) AS machines,
			sum(sum(size)) OVER (ORDER BY sum(size) > value_of('merged_counts_most') / value_of('least_shares'),
				hashtextextended(contributor || e || encode(d, 'hex'), 0), contributor) AS total
			FROM contribution WHERE digest = d AND kind = k AND class = c AND epoch = e GROUP BY contributor),
	chosen AS (SELECT contributor, machines, row_number() OVER (ORDER BY contributor)::integer AS who FROM by_chance
			WHERE total <= value_of('merged_counts_most')),
	counts AS (SELECT who, machines, u.* FROM chosen JOIN contribution g USING (contributor), unnest(
			CASE part WHEN 0 THEN g.block WHEN 1 THEN g.edge_from ELSE g.call_block END,
			CASE part WHEN 0 THEN '{}' WHEN 1 THEN g.edge_to ELSE g.call_at END,
			CASE part WHEN 2 THEN g.call_target ELSE '{}' END,
			CASE part WHEN 0 THEN g.count WHEN 1 THEN g.edge_count ELSE g.call_count END) u(x, y, z, n)
			WHERE g.digest = d AND g.kind = k AND g.class = c AND g.epoch = e)
	SELECT who, x, coalesce(y, 0), coalesce(z, 0), n FROM counts WHERE machines = 1 UNION ALL
	SELECT who, x, coalesce(y, 0), coalesce(z, 0), sum(n) FROM counts WHERE machines > 1 GROUP BY who, x, y, z $$;

-- What each contributor's counts are multiplied by, by the sum of what counts of them; those who count.
CREATE OR REPLACE FUNCTION scales(who integer[], w double precision[])
RETURNS TABLE(who integer, scale double precision) LANGUAGE sql STABLE SET search_path = morph, pg_temp
AS $$
	WITH given AS (SELECT * FROM unnest(who, w) u(who, w)),
	middle AS (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY w) w FROM given),
	counted AS (SELECT g.who, g.w, row_number() OVER o AS i, count(*) OVER () AS n,
		sum(g.w) OVER o AS below
		FROM given g, middle WHERE g.w >= middle.w / 10 WINDOW o AS (ORDER BY g.w, g.who)),
	-- With the n - i largest at the limit c, c is a `least_shares`th of i smaller ones and (n - i) c.
	-- Too few or too many taken for large give a larger c: the least one is the one.
	limited AS (SELECT least((SELECT w FROM middle), CASE WHEN max(n) >= value_of('least_shares') THEN
		min(below / (value_of('least_shares') - (n - i)))
			FILTER (WHERE n - i < value_of('least_shares')) END) w FROM counted)
	SELECT counted.who, least(1, limited.w / counted.w) FROM counted, limited $$;

-- A part merged: places in order, the largest counts of so many that it can be handed on.  Only `those` count,
-- NULL: all; `scales` says by what, NULL: as follows from this part.
CREATE OR REPLACE FUNCTION merge_part(d bytea, k integer, c text, e integer, part integer, those integer[],
	scales double precision[], OUT x integer[], OUT y integer[], OUT z integer[], OUT n bigint[],
	OUT who integer[], OUT scale double precision[])
LANGUAGE sql STABLE SET search_path = morph, pg_temp SET work_mem = '64MB'
AS $$
	WITH every AS MATERIALIZED (SELECT * FROM given(d, k, c, e, part) g WHERE those IS NULL OR
		g.who IN (SELECT * FROM unnest(those))),
	agreed AS (SELECT x, y, z FROM every GROUP BY x, y, z HAVING count(*) >= value_of('least_contributors')),
	kept AS MATERIALIZED (SELECT every.* FROM every JOIN agreed USING (x, y, z)),
	weights AS (SELECT kept.who, sum(kept.n) w FROM kept GROUP BY kept.who),
	scaled AS MATERIALIZED (SELECT s.who, s.scale FROM
		(SELECT array_agg(w.who) a, array_agg(w.w) b FROM weights w) l, scales(l.a, l.b) s WHERE scales IS NULL
		UNION ALL SELECT * FROM unnest(those, scales) WHERE scales IS NOT NULL),
	summed AS (SELECT x, y, z, least(1125899906842624,
			CASE k WHEN 1 THEN ceil(sum(kept.n * scaled.scale)) ELSE floor(sum(kept.n * scaled.scale)) END)::bigint n
		FROM kept JOIN scaled USING (who)
		GROUP BY x, y, z HAVING count(*) >= value_of('least_contributors')
		ORDER BY n DESC, x, y, z LIMIT value_of('merged_most')::integer),
	lists AS (SELECT array_agg(x ORDER BY x, y, z) x, array_agg(y ORDER BY x, y, z) y, array_agg(z ORDER BY x, y, z) z,
		array_agg(n ORDER BY x, y, z) n FROM summed WHERE n > 0)
	SELECT coalesce(x, '{}'), coalesce(y, '{}'), coalesce(z, '{}'), coalesce(n, '{}'),
		(SELECT coalesce(array_agg(scaled.who ORDER BY scaled.who), '{}') FROM scaled),
		(SELECT coalesce(array_agg(scaled.scale ORDER BY scaled.who), '{}') FROM scaled) FROM lists $$;

-- The newest of what was merged, and is kept.
SELECT make_view('merged_newest', 'SELECT DISTINCT ON (digest, kind, class, epoch) * FROM merged
	ORDER BY digest, kind, class, epoch, made DESC');
SELECT make_view('merged_now', 'SELECT * FROM merged_newest WHERE contributors > 0 AND
	least >= (SELECT value_of(''least_contributors'')) AND epoch > epoch_now() - (SELECT value_of(''kept_epochs''))');
SELECT make_view('fleet_newest', 'SELECT DISTINCT ON (digest, kind, class) * FROM fleet
	ORDER BY digest, kind, class, made DESC');
SELECT make_view('fleet_known', 'SELECT digest, kind, class, epoch, contributors, weight, block, count, edge_from,
	edge_to, edge_count, call_block, call_at, call_target, call_count FROM fleet_newest WHERE contributors > 0 AND
	least >= (SELECT value_of(''least_contributors'')) AND
	(written = (SELECT kept(pg_current_xact_id_if_assigned()))) IS NOT TRUE');
CREATE OR REPLACE FUNCTION all_known() RETURNS SETOF fleet_known
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = morph, pg_temp
AS $$ SELECT * FROM fleet_known $$;
SELECT make_view('evidence', 'SELECT * FROM all_known()');

-- All of it is as of one moment, which is noted with it: STABLE functions see what their caller does.
CREATE OR REPLACE FUNCTION epoch_merged(d bytea, k integer, c text, e integer, made bigint) RETURNS merged
LANGUAGE plpgsql STABLE SET search_path = morph, pg_temp
AS $$
DECLARE
	b record;
	f record;
	t record;
	r merged;
BEGIN
	b := merge_part(d, k, c, e, 0, NULL, NULL);
	f := merge_part(d, k, c, e, 1, b.who, CASE k WHEN 1 THEN b.scale END);
	t := merge_part(d, k, c, e, 2, b.who, CASE k WHEN 1 THEN b.scale END);
	r.digest := d; r.kind := k; r.class := c; r.epoch := e; r.made := made; r.least := value_of('least_contributors');
	r.contributors := cardinality(b.who);
	r.weight := coalesce((SELECT sum(n) FROM unnest(b.n) n), 0);
	r.block := b.x; r.count := b.n;
	r.edge_from := f.x; r.edge_to := f.y; r.edge_count := f.n;
	r.call_block := t.x; r.call_at := t.y; r.call_target := t.z; r.call_count := t.n;
	r.seen := seen_now(); r.written := kept(pg_current_xact_id_if_assigned()); r.at := clock_timestamp();
	IF r.contributors < value_of('least_contributors') OR r.weight = 0 THEN
		r.contributors := 0;	-- nothing, in the place of what there was
	END IF;
	RETURN r;
END $$;

-- In the place of what is not newer than `base`.
CREATE OR REPLACE FUNCTION merge_epoch(d bytea, k integer, c text, e integer, base bigint) RETURNS void
LANGUAGE plpgsql SET search_path = morph, pg_temp
AS $$
DECLARE
	number bigint := nextval('made');	-- before what it is made of is read
BEGIN
	PERFORM pg_current_xact_id();
	INSERT INTO merged SELECT m.* FROM epoch_merged(d, k, c, e, number) m;
	DELETE FROM merged WHERE ctid = ANY (ARRAY(SELECT ctid FROM merged WHERE digest = d AND kind = k AND class = c AND
		epoch = e AND made <= base FOR UPDATE SKIP LOCKED));
END $$;

CREATE OR REPLACE FUNCTION newest_made(d bytea, k integer, c text, e integer) RETURNS bigint LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$ SELECT coalesce(max(made), 0) FROM merged WHERE digest = d AND kind = k AND class = c AND epoch = e $$;

-- Has another transaction merged it since `base` was the newest?
CREATE OR REPLACE FUNCTION is_overtaken(d bytea, k integer, c text, e integer, base bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = morph, pg_temp
AS $$ SELECT EXISTS (SELECT FROM merged WHERE digest = d AND kind = k AND class = c AND epoch = e AND made > base AND
	written IS DISTINCT FROM kept(pg_current_xact_id_if_assigned())) $$;

-- What each epoch's counts of a part are multiplied by: in the mean its contributors weigh no more than the
-- median of all contributors' best epochs, and epochs of few weigh less.
CREATE OR REPLACE FUNCTION epoch_scales(d bytea, k integer, c text, part integer)
RETURNS TABLE(epoch integer, scale double precision) LANGUAGE sql STABLE SET search_path = morph, pg_temp
AS $$
	WITH given AS (SELECT contributor, sum(CASE WHEN part = 0 OR k = 1 THEN weight WHEN part = 1 THEN edge_weight ELSE call_weight END) w
		FROM contribution WHERE digest = d AND kind = k AND class = c GROUP BY contributor, epoch),
	best AS (SELECT max(w) w FROM given GROUP BY contributor HAVING max(w) > 0),
	means AS (SELECT epoch, (contributors::double precision / max(contributors) OVER ()) ^ 2 AS crowd,
			(CASE WHEN part = 0 OR k = 1 THEN weight ELSE (SELECT sum(n) FROM
			unnest(CASE part WHEN 1 THEN edge_count ELSE call_count END) n) END / contributors)::double precision w
		FROM merged_now WHERE digest = d AND kind = k AND class = c)
	SELECT means.epoch, means.crowd *
		least(1, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM best) / means.w) FROM means WHERE means.w > 0 $$;

-- All epochs of a part in one, as of the newest.  Samples that become none are none.
CREATE OR REPLACE FUNCTION merge_epochs(d bytea, k integer, c text, part integer, newest integer,
	OUT x integer[], OUT y integer[], OUT z integer[], OUT n bigint[])
LANGUAGE sql STABLE SET search_path = morph, pg_temp SET work_mem = '64MB'
AS $$
	WITH factors AS MATERIALIZED (SELECT epoch, scale * 0.5 ^ (greatest(newest - epoch, 0) * 7 /
			greatest(value_of('half_life_d'), 1)) AS factor FROM epoch_scales(d, k, c, part)),
	counts AS (SELECT u.x, coalesce(u.y, 0) y, coalesce(u.z, 0) z, u.n * factor AS n
		FROM merged_now JOIN factors USING (epoch), unnest(
			CASE part WHEN 0 THEN block WHEN 1 THEN edge_from ELSE call_block END,
			CASE part WHEN 0 THEN '{}' WHEN 1 THEN edge_to ELSE call_at END,
			CASE part WHEN 2 THEN call_target ELSE '{}' END,
			CASE part WHEN 0 THEN count WHEN 1 THEN edge_count ELSE call_count END) u(x, y, z, n)
		WHERE digest = d AND kind = k AND class = c),
	summed AS (SELECT x, y, z, least(1125899906842624, sum(CASE k WHEN 1 THEN ceil(n) ELSE floor(n) END))::bigint n
		FROM counts GROUP BY x, y, z ORDER BY n DESC, x, y, z LIMIT value_of('merged_most')::integer)
	SELECT coalesce(array_agg(x ORDER BY x, y, z), '{}'), coalesce(array_agg(y ORDER BY x, y, z), '{}'),
		coalesce(array_agg(z ORDER BY x, y, z), '{}'), coalesce(array_agg(n ORDER BY x, y, z), '{}')
		FROM summed WHERE n > 0 $$;

CREATE OR REPLACE FUNCTION fleet_merged(d bytea, k integer, c text, made bigint) RETURNS fleet
LANGUAGE plpgsql STABLE SET search_path = morph, pg_temp
AS $$
DECLARE
	p record;
	r fleet;
BEGIN
	r.digest := d; r.kind := k; r.class := c; r.made := made; r.seen := seen_now();
	r.written := kept(pg_current_xact_id_if_assigned());
	SELECT coalesce(max(epoch), 0), coalesce(max(contributors), 0), coalesce(min(least), 0)
		INTO r.epoch, r.contributors, r.least FROM merged_now
		WHERE digest = d AND kind = k AND class = c;
	p := merge_epochs(d, k, c, 0, r.epoch);
	r.block := p.x; r.count := p.n;
	r.weight := coalesce((SELECT sum(n) FROM unnest(p.n) n), 0);
	p := merge_epochs(d, k, c, 1, r.epoch);
	r.edge_from := p.x; r.edge_to := p.y; r.edge_count := p.n;
	p := merge_epochs(d, k, c, 2, r.epoch);
	r.call_block := p.x; r.call_at := p.y; r.call_target := p.z; r.call_count := p.n;
	IF r.weight = 0 THEN
		r.contributors := 0;
	END IF;
	RETURN r;
END $$;

-- As of the newest epoch: later on only that one's age is to be added.
CREATE OR REPLACE FUNCTION merge_fleet(d bytea, k integer, c text) RETURNS void
LANGUAGE plpgsql SET search_path = morph, pg_temp
AS $$
DECLARE
	number bigint := nextval('made');
BEGIN
	PERFORM pg_current_xact_id();
	INSERT INTO fleet SELECT f.* FROM fleet_merged(d, k, c, number) f;
	DELETE FROM fleet WHERE ctid = ANY (ARRAY(SELECT ctid FROM fleet WHERE digest = d AND kind = k AND class = c AND
		made < number FOR UPDATE SKIP LOCKED));
END $$;

-- Was it not there yet?
CREATE OR REPLACE FUNCTION is_news(x xid8, seen pg_snapshot) RETURNS boolean LANGUAGE sql IMMUTABLE
AS $$ SELECT seen IS NULL OR NOT pg_visible_in_snapshot(x, seen) $$;

-- Is it time to merge a file's epoch?  So many must have changed what they gave, that nobody's change shows.
CREATE OR REPLACE FUNCTION is_due(d bytea, k integer, c text, e integer) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path = morph, pg_temp
AS $$
DECLARE
	m record;
	old pg_snapshot;
BEGIN
	SELECT seen, contributors, at INTO m FROM merged_newest WHERE digest = d AND kind = k AND class = c AND epoch = e;
	IF m.at > clock_timestamp() - make_interval(secs => value_of('merge_after_s')) THEN
		RETURN false;
	END IF;
	IF m.contributors > 0 THEN
		old := seen_then(m.seen);
	END IF;
	RETURN (SELECT count(DISTINCT contributor) FROM contribution WHERE digest = d AND kind = k AND class = c AND epoch = e AND
		(old IS NULL OR (given >= pg_snapshot_xmin(old) AND is_news(given, old)))) >=
		greatest(value_of('least_contributors'), coalesce(m.contributors, 0) / 10);
END $$;

-- Was an epoch merged that the newest sum of all does not have?  Two that are merged at the same time each see one.
CREATE OR REPLACE FUNCTION is_behind(d bytea, k integer, c text) RETURNS boolean LANGUAGE sql STABLE
SET search_path = morph, pg_temp
AS $$
	SELECT EXISTS (SELECT FROM (SELECT seen_then(seen) AS seen FROM fleet WHERE digest = d AND kind = k AND class = c
			ORDER BY made DESC LIMIT 1) f
		JOIN merged m ON m.digest = d AND m.kind = k AND m.class = c
		WHERE m.written >= pg_snapshot_xmin(f.seen) AND is_news(m.written, f.seen)) $$;

-- What the caller may merge: files' epochs in which he gave something lately; the owner of all this may merge all.
CREATE OR REPLACE FUNCTION callers(OUT digest bytea, OUT kind integer, OUT class text, OUT epoch integer) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = morph, pg_temp
AS $$
	SELECT n.digest, n.kind, n.class, n.epoch FROM contribution n WHERE n.contributor = session_user AND
		n.epoch > epoch_now() - value_of('late_epochs')
	UNION
	SELECT n.digest, n.kind, n.class, n.epoch FROM contribution n WHERE pg_has_role(session_user, 'morph_owner', 'MEMBER') $$;

-- A file of which nothing is left needs no row.  Where there is another row, older, it is newer than that; and one that
-- somebody merges now stands without it.
CREATE OR REPLACE FUNCTION remove_empty(d bytea, k integer, c text) RETURNS void LANGUAGE sql
SET search_path = morph, pg_temp
AS $$
	DELETE FROM fleet WHERE ctid = ANY (ARRAY(SELECT f.ctid FROM fleet f WHERE f.digest = d AND f.kind = k AND
		f.class = c AND f.contributors = 0 AND
		NOT EXISTS (SELECT FROM fleet o WHERE o.digest = d AND o.kind = k AND o.class = c AND o.ctid <> f.ctid) AND
		NOT EXISTS (SELECT FROM merged m WHERE m.digest = d AND m.kind = k AND m.class = c) FOR UPDATE SKIP LOCKED)) $$;

-- Weeks that are too old go, of some files at a time, in some seconds.  Which, is chosen by chance, for others
-- choose as well; a file that fails stops no other.
CREATE OR REPLACE FUNCTION expire() RETURNS void LANGUAGE plpgsql SET search_path = morph, pg_temp
AS $$
DECLARE
	r record;
	gone integer := epoch_now() - value_of('kept_epochs');
	enough timestamptz := clock_timestamp() + interval '1 s';
BEGIN
	FOR r IN SELECT DISTINCT digest, kind, class, random() FROM (SELECT DISTINCT digest, kind, class FROM
			(SELECT digest, kind, class FROM merged WHERE epoch <= gone LIMIT 1000) m) f ORDER BY 4 LIMIT 200 LOOP
		EXIT WHEN clock_timestamp() > enough;
		BEGIN
			DELETE FROM merged WHERE ctid = ANY (ARRAY(SELECT ctid FROM merged WHERE digest = r.digest AND
				kind = r.kind AND class = r.class AND epoch <= gone FOR UPDATE SKIP LOCKED));
			PERFORM merge_fleet(r.digest, r.kind, r.class);
			PERFORM remove_empty(r.digest, r.kind, r.class);
		EXCEPTION WHEN OTHERS THEN
			RAISE LOG 'expire: %', SQLERRM;
		END;
	END LOOP;
	enough := clock_timestamp() + interval '1 s';
	LOOP
		DELETE FROM contribution WHERE ctid = ANY (ARRAY(SELECT ctid FROM contribution WHERE epoch <= gone
			LIMIT 100 FOR UPDATE SKIP LOCKED));
		EXIT WHEN NOT FOUND OR clock_timestamp() > enough;
	END LOOP;
	DELETE FROM budget WHERE ctid = ANY (ARRAY(SELECT ctid FROM budget WHERE epoch <= gone
		LIMIT 1000 FOR UPDATE SKIP LOCKED));
END $$;

-- Merges of that what is due, of so many at most; how many they were.  Whoever has given calls it.  What fails stops
-- no other, and is told if there was no other.  Where there is nothing to be merged, what is too old goes.
CREATE OR REPLACE FUNCTION merge(most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = morph, pg_temp
AS $$
DECLARE
	r record;
	done integer := 0;
	base bigint;
	why text;
BEGIN
	IF current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE 'merge: only in a transaction that sees what others have given meanwhile';
	ELSIF most <= 0 THEN
		RETURN 0;
	END IF;
	PERFORM here();
	FOR r IN SELECT * FROM callers() WHERE is_due(digest, kind, class, epoch) ORDER BY random() LOOP
		EXIT WHEN done >= most;
		base := newest_made(r.digest, r.kind, r.class, r.epoch);
		CONTINUE WHEN NOT is_due(r.digest, r.kind, r.class, r.epoch);	-- others go on meanwhile
		BEGIN
			PERFORM merge_epoch(r.digest, r.kind, r.class, r.epoch, base);
			PERFORM merge_fleet(r.digest, r.kind, r.class);
			IF is_overtaken(r.digest, r.kind, r.class, r.epoch, base) THEN
				RAISE 'overtaken' USING ERRCODE = 'MO001';
			END IF;
			done := done + 1;
		EXCEPTION WHEN SQLSTATE 'MO001' THEN
			NULL;
		WHEN OTHERS THEN
			why := coalesce(why, SQLERRM);
		END;
	END LOOP;
	FOR r IN SELECT digest, kind, class FROM callers() GROUP BY digest, kind, class HAVING is_behind(digest, kind, class)
			LIMIT most - done LOOP
		PERFORM merge_fleet(r.digest, r.kind, r.class);
	END LOOP;
	IF done = 0 AND why IS NOT NULL THEN
		RAISE '%', why;
	ELSIF done = 0 AND NOT FOUND THEN
		PERFORM expire();
	END IF;
	RETURN done;
END $$;

-- What the counts of an epoch are worth now.
CREATE OR REPLACE FUNCTION fading(e integer) RETURNS double precision LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = morph, pg_temp
AS $$ SELECT 0.5 ^ (greatest(epoch_now() - e, 0) * 7 / greatest(value_of('half_life_d'), 1)) $$;

-- What the fleet knows of these files: the answer to a whole machine.
CREATE OR REPLACE FUNCTION take(d bytea[], c text) RETURNS SETOF evidence
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = morph, pg_temp
AS $$ SELECT * FROM fleet_known WHERE digest = ANY (d) AND class = c ORDER BY digest, kind LIMIT 10000 $$;

-- For people.  The function is not made part of a caller's query, which EXPLAIN would show rows that are left out of.
CREATE OR REPLACE FUNCTION own() RETURNS SETOF contribution
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = morph, pg_temp
AS $$ SELECT * FROM contribution WHERE contributor = session_user $$;
SELECT make_view('mine', 'SELECT * FROM own()');

-- The owner's: a login that is dropped and made again is another one, by the same name.  What was merged stays.
CREATE OR REPLACE FUNCTION forget(who name) RETURNS bigint LANGUAGE plpgsql SET search_path = morph, pg_temp
AS $$
DECLARE
	n bigint;
BEGIN
	DELETE FROM contribution WHERE contributor = who;
	GET DIAGNOSTICS n = ROW_COUNT;
	DELETE FROM budget WHERE contributor = who;
	RETURN n;
END $$;

-- What schemas below 8 left.
SELECT remove_empty(digest, kind, class) FROM fleet WHERE contributors = 0;

REVOKE ALL ON ALL TABLES IN SCHEMA morph FROM PUBLIC, morph_contributor;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA morph FROM PUBLIC, morph_contributor;
GRANT USAGE ON SCHEMA morph TO morph_contributor;
GRANT SELECT ON evidence, mine TO morph_contributor;
GRANT EXECUTE ON FUNCTION hello(), own(), all_known(), fading(integer), merge(integer), take(bytea[], text),
	give(bytea, integer, text, integer, bytea, bigint, integer[], bigint[], integer[], integer[], bigint[], integer[],
	integer[], integer[], bigint[]) TO morph_contributor;
