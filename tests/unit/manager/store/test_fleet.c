/* test_fleet.c - evidence for a fleet in the store: what waits, and no more than may */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/storefixture.h"

enum { NOW = 2969, MANY = 200 };

static struct err err;

static const char *id = "a machine", *to = "host=fleet", *class = "";

static struct store_giver giver(struct store *s, uint32_t epoch)
{
	struct bytes of_system = { (const uint8_t *)id, strlen(id) };
	struct store_giver g = { .epoch = epoch };

	strcpy(g.class, class);
	assert_int_equal(store_giver(s, of_system, to, &g, &err), 0);
	return g;
}

static void add(struct store *s, uint8_t file, uint32_t epoch, uint32_t block,
		uint32_t samples)
{
	struct blockcount count = { block, samples };
	const struct attribute_module m = { .module = 1, .ncount = 1, .count = &count,
					    .samples = samples };
	struct digest d = digest_number(file);
	struct store_giver g = giver(s, epoch);

	assert_int_equal(store_epoch_add(s, &g, &d, &m, &err), 0);
}

struct seen {
	uint32_t n;
	struct store_epoch last;
	uint64_t samples;		/* of its first block */
	uint32_t blocks;
};

static bool see(void *ctx, const struct store_epoch *e)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->last = *e;
	seen->samples = e->profile.ncount ? e->profile.count[0].samples : 0;
	seen->blocks = e->profile.ncount;
	return true;
}

static struct seen waiting(struct store *s)
{
	struct seen out = { 0 };

	assert_int_equal(store_epoch_each(s, see, &out, &err), 0);
	return out;
}

static uint32_t pruned(struct store *s, uint32_t now, uint64_t most)
{
	struct store_giver g = giver(s, now);
	uint32_t dropped;

	assert_int_equal(store_epoch_prune(s, &g, most, &dropped, &err), 0);
	return dropped;
}

static void an_epoch_grows_and_waits(void **state)
{
	struct store *s = open_store();

	(void)state;
	assert_int_equal(waiting(s).n, 0);
	add(s, 1, NOW, 5, 3);
	add(s, 1, NOW, 5, 4);
	add(s, 1, NOW, 6, 1);
	struct seen w = waiting(s);
	assert_true(w.n == 1 && w.blocks == 2 && w.samples == 7 * STORE_UNIT);
	assert_true(w.last.sequence == 3 && w.last.epoch == NOW && w.last.kind == 0);
	add(s, 1, NOW + 1, 5, 1);
	assert_int_equal(waiting(s).n, 2);
	store_close(s);
}

/* What changes while it is on the way waits again. */
static void what_is_given_does_not_wait(void **state)
{
	struct store *s = open_store();

	(void)state;
	add(s, 1, NOW, 5, 3);
	struct seen w = waiting(s);
	assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
	assert_int_equal(waiting(s).n, 0);
	add(s, 1, NOW, 5, 3);
	struct seen later = waiting(s);
	assert_int_equal(later.n, 1);
	assert_true(later.samples == 6 * STORE_UNIT);
	assert_true(later.last.sequence > w.last.sequence);
	assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
	assert_int_equal(waiting(s).n, 1);
	assert_int_equal(store_epoch_given(s, &later.last, &err), 0);
	/* an answer of before, once more */
	assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
	assert_int_equal(waiting(s).n, 0);
	store_close(s);
}

static void it_is_kept_through_a_restart(void **state)
{
	struct store *s = open_store();

	(void)state;
	add(s, 1, NOW, 5, 3);
	struct store_giver was = giver(s, NOW);
	store_close(s);
	s = open_store();
	assert_true(waiting(s).samples == 3 * STORE_UNIT);
	struct store_giver is = giver(s, NOW);
	assert_memory_equal(is.machine, was.machine, sizeof(is.machine));
	add(s, 1, NOW, 5, 3);
	assert_true(waiting(s).n == 1 && waiting(s).samples == 6 * STORE_UNIT);
	store_close(s);
}

static void what_is_over_and_given_goes(void **state)
{
	struct store_epochs size;
	struct store *s = open_store();

	(void)state;
	add(s, 1, NOW - 1, 5, 3);
	struct seen w = waiting(s);
	add(s, 2, NOW - 1, 5, 3);
	assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
	assert_int_equal(pruned(s, NOW - 1, 1 << 20), 0);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_int_equal(size.rows, 2);		/* it could still grow */
	assert_int_equal(pruned(s, NOW, 1 << 20), 0);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_true(size.rows == 1 && size.waiting == 1);
	store_close(s);
}

static void the_queue_is_bounded(void **state)
{
	struct store_epochs size;
	struct store *s = open_store();

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		add(s, (uint8_t)i, NOW - (i < MANY / 2), 5, 3);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_true(size.rows == MANY && size.waiting == MANY);
	uint64_t most = size.bytes / 4;
	uint32_t dropped = pruned(s, NOW, most);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_true(size.bytes <= most && size.rows + dropped == MANY && size.rows > 0);
	assert_int_equal(waiting(s).last.epoch, NOW);	/* the oldest went */
	store_close(s);
}

/* Gives all that waits, as one answer would tell. */
static void give(struct store *s)
{
	for (struct seen w = waiting(s); w.n; w = waiting(s))
		assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
}

/* Samples of that file again: do they count beside what was given? */
static bool is_beside(struct store *s, const struct store_epoch *was, uint32_t epoch)
{
	add(s, 1, epoch, 5, 2);
	struct seen w = waiting(s);
	assert_int_equal(w.n, 1);
	give(s);
	bool same = memcmp(w.last.machine, was->machine, sizeof(was->machine)) == 0 &&
		    strcmp(w.last.class, was->class) == 0;

	/* else the database has those before, and would take these for all */
	assert_true(same ? w.samples > 2 * STORE_UNIT && w.last.sequence > was->sequence
			 : w.samples == 2 * STORE_UNIT);
	return !same;
}

static struct store_epoch begin(struct store *s)
{
	add(s, 1, NOW, 5, 3);
	struct seen w = waiting(s);
	assert_int_equal(w.n, 1);
	give(s);
	assert_false(is_beside(s, &w.last, NOW));
	return w.last;
}

static void what_ended_begins_beside_it(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);

	(void)state;
	assert_int_equal(store_fleet_clear(s, &err), 0);
	assert_true(is_beside(s, &was, NOW));
	store_close(s);
}

static void what_was_dropped_begins_beside_it(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);

	(void)state;
	assert_int_equal(pruned(s, NOW, 0), 0);		/* it was given */
	assert_true(is_beside(s, &was, NOW));
	store_close(s);
}

/* What is over does not grow any more; and what cannot grow goes first. */
static void what_is_dropped_of_weeks_before_is_no_loss(void **state)
{
	struct store *s = open_store();
	struct store_epochs size;
	struct store_epoch was;

	(void)state;
	add(s, 2, NOW - 1, 5, 3);
	give(s);
	was = begin(s);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_int_equal(size.rows, 2);
	assert_int_equal(pruned(s, NOW, size.bytes - 1), 0);
	assert_false(is_beside(s, &was, NOW));
	id = "another machine";
	add(s, 1, NOW, 5, 2);
	was = waiting(s).last;
	give(s);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_int_equal(pruned(s, NOW, size.bytes - 1), 0);
	assert_false(is_beside(s, &was, NOW));
	id = "a machine";
	store_close(s);
}

/* The clock was ahead, and what was over for it went. */
static void a_week_that_comes_again_begins_beside_itself(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);

	(void)state;
	assert_int_equal(pruned(s, NOW + 1, 1 << 20), 0);
	assert_true(is_beside(s, &was, NOW));
	store_close(s);
}

/* Also one that was another one in between. */
static void another_machine_begins_beside_it(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);

	(void)state;
	id = "another machine";
	assert_true(is_beside(s, &was, NOW));
	id = "a machine";
	assert_true(is_beside(s, &was, NOW));
	to = "host=fleet user=another";
	assert_true(is_beside(s, &was, NOW));
	to = "host=fleet";
	assert_true(is_beside(s, &was, NOW));
	store_close(s);
}

/* What had been given since is not in it. */
static void an_older_copy_of_the_store_is_another_machine(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);
	char command[512];

	(void)state;
	add(s, 1, NOW, 5, 4);			/* this waits, in the copy */
	store_close(s);
	(void)snprintf(command, sizeof(command), "cp '%s/morph.db' '%s/copy'", dir, dir);
	assert_int_equal(system(command), 0);
	s = open_store();
	add(s, 1, NOW, 5, 100);
	give(s);
	store_close(s);
	(void)snprintf(command, sizeof(command),
		       "cd '%s' && rm -f morph.db* && mv copy morph.db", dir);
	assert_int_equal(system(command), 0);
	s = open_store();
	struct seen w = waiting(s);
	assert_true(w.n == 1 && w.samples == 9 * STORE_UNIT);
	assert_memory_equal(w.last.machine, was.machine, sizeof(was.machine));
	add(s, 1, NOW, 5, 2);
	assert_int_equal(waiting(s).n, 2);	/* the one as it was, and one beside it */
	assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
	assert_true(waiting(s).n == 1 && waiting(s).samples == 2 * STORE_UNIT);
	store_close(s);
}

static void a_class_has_what_came_while_it_was(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);

	(void)state;
	class = "laptops";
	assert_true(is_beside(s, &was, NOW));
	class = "";
	assert_false(is_beside(s, &was, NOW));
	store_close(s);
}

/* An older store's row, which was given as who this machine was, goes on as that. */
static void rows_of_an_older_store_go_on(void **state)
{
	struct store *s = open_store();
	struct store_epoch was = begin(s);

	(void)state;
	add(s, 1, NOW, 5, 2);
	store_close(s);
	sql("CREATE TABLE old(original BLOB NOT NULL, kind INTEGER NOT NULL, epoch INTEGER NOT "
	    "NULL, sequence INTEGER NOT NULL, given INTEGER NOT NULL, data BLOB NOT NULL, "
	    "PRIMARY KEY(original, kind, epoch)) WITHOUT ROWID; INSERT INTO old SELECT "
	    "original, kind, epoch, sequence, given, data FROM epoch; DROP TABLE epoch; ALTER "
	    "TABLE old RENAME TO epoch; DELETE FROM state WHERE name = 'giver'; "
	    "PRAGMA user_version = 37");
	s = open_store();
	assert_false(is_beside(s, &was, NOW));
	store_close(s);
}

static void the_fleets_is_kept_as_long_as_its_file(void **state)
{
	struct store_count count[2] = { { 3, 256 }, { 7, 512 } };
	struct edgecounts_edge edge = { 3, 7, 100 };
	struct store_fleet in = { .contributors = 23, .epoch = NOW,
				  .profile = { .ncount = 2, .count = count,
					       .edges = { .nedge = 1, .edge = &edge } } };
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct digest known = digest_number(1), unknown = digest_number(2);
	struct store_fleet out;
	struct store *s = open_store();

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	assert_int_equal(store_fleet_put(s, &known, 0, &in, 0, &err), 0);
	assert_int_equal(store_fleet_put(s, &unknown, 0, &in, 0, &err), 0);
	assert_int_equal(store_fleet_prune(s, &err), 0);
	assert_int_equal(store_fleet_get(s, &unknown, 0, &out, &err), 0);
	assert_int_equal(store_fleet_get(s, &known, 1, &out, &err), 0);
	assert_int_equal(store_fleet_get(s, &known, 0, &out, &err), 1);
	assert_true(out.contributors == 23 && out.epoch == NOW && out.profile.ncount == 2);
	assert_true(out.profile.count[1].samples == 512 && out.profile.edges.nedge == 1);
	store_profile_free(&out.profile);
	add(s, 1, NOW, 1, 1);
	assert_int_equal(store_fleet_clear(s, &err), 0);
	assert_int_equal(store_fleet_get(s, &known, 0, &out, &err), 0);
	assert_int_equal(waiting(s).n, 0);
	store_close(s);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_epoch_grows_and_waits),
		TEST(what_is_given_does_not_wait),
		TEST(it_is_kept_through_a_restart),
		TEST(what_is_over_and_given_goes),
		TEST(the_queue_is_bounded),
		TEST(what_ended_begins_beside_it),
		TEST(what_was_dropped_begins_beside_it),
		TEST(what_is_dropped_of_weeks_before_is_no_loss),
		TEST(a_week_that_comes_again_begins_beside_itself),
		TEST(another_machine_begins_beside_it),
		TEST(an_older_copy_of_the_store_is_another_machine),
		TEST(a_class_has_what_came_while_it_was),
		TEST(rows_of_an_older_store_go_on),
		TEST(the_fleets_is_kept_as_long_as_its_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
