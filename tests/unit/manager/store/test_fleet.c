/* test_fleet.c - evidence for a fleet in the store: what waits, and no more than may */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/storefixture.h"

enum { NOW = 2969, MANY = 200 };

static struct err err;

static void add(struct store *s, uint8_t file, uint32_t epoch, uint32_t block,
		uint32_t samples)
{
	struct blockcount count = { block, samples };
	const struct attribute_module m = { .module = 1, .ncount = 1, .count = &count,
					    .samples = samples };
	struct digest d = digest_number(file);

	assert_int_equal(store_epoch_add(s, &d, epoch, &m, &err), 0);
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
	uint8_t machine[STORE_MACHINE], same[STORE_MACHINE];

	(void)state;
	add(s, 1, NOW, 5, 3);
	assert_int_equal(store_machine(s, machine, &err), 0);
	store_close(s);
	s = open_store();
	assert_true(waiting(s).samples == 3 * STORE_UNIT);
	assert_int_equal(store_machine(s, same, &err), 0);
	assert_memory_equal(machine, same, sizeof(same));
	store_close(s);
}

static void what_is_over_and_given_goes(void **state)
{
	struct store_epochs size;
	struct store *s = open_store();
	uint32_t dropped;

	(void)state;
	add(s, 1, NOW - 1, 5, 3);
	struct seen w = waiting(s);
	add(s, 2, NOW - 1, 5, 3);
	assert_int_equal(store_epoch_given(s, &w.last, &err), 0);
	assert_int_equal(store_epoch_prune(s, NOW - 1, 1 << 20, &dropped, &err), 0);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_int_equal(size.rows, 2);		/* it could still grow */
	assert_int_equal(store_epoch_prune(s, NOW, 1 << 20, &dropped, &err), 0);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_true(size.rows == 1 && size.waiting == 1 && dropped == 0);
	store_close(s);
}

static void the_queue_is_bounded(void **state)
{
	struct store_epochs size;
	struct store *s = open_store();
	uint32_t dropped;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		add(s, (uint8_t)i, NOW - (i < MANY / 2), 5, 3);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_true(size.rows == MANY && size.waiting == MANY);
	uint64_t most = size.bytes / 4;
	assert_int_equal(store_epoch_prune(s, NOW, most, &dropped, &err), 0);
	assert_int_equal(store_epoch_size(s, &size, &err), 0);
	assert_true(size.bytes <= most && size.rows + dropped == MANY && size.rows > 0);
	assert_int_equal(waiting(s).last.epoch, NOW);	/* the oldest went */
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
		TEST(the_fleets_is_kept_as_long_as_its_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
