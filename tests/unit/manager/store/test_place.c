/* test_place.c - which instructions had samples: added up, faded, bounded by whole blocks */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/storefixture.h"

static int64_t module_of(struct store *s, const char *path, uint8_t n)
{
	struct store_module m = module_at(path, n);
	struct err err;

	assert_int_equal(store_module_put(s, &m, &err), 0);
	return m.id;
}

static void add(struct store *s, int64_t module, struct attribute_place *place, uint32_t n,
		double span_s)
{
	static unsigned k;
	struct attribute_module m = { .module = (uint64_t)module, .nplace = n,
				      .place = place };
	struct attribution a = { .nmodule = 1, .module = &m };
	struct store_fading fading = { span_s, 100, 600, 0 };
	char key[32];
	struct err err;

	(void)snprintf(key, sizeof(key), "file %u", ++k);
	if (store_add_attribution(s, key, &a, (struct bytes){ 0 }, &fading, &err) < 0)
		fail_msg("%s", err.text);
}

struct seen {
	uint32_t n, blocks;
	struct store_place last, first;
	double samples;
};

static void see(void *ctx, const struct store_place *p)
{
	struct seen *seen = ctx;

	if (!seen->n++)
		seen->first = *p;
	seen->blocks += seen->n == 1 || p->block != seen->last.block;
	seen->last = *p;
	seen->samples += p->samples;
}

static struct seen look(struct store *s, int64_t module)
{
	struct seen seen = { 0 };
	struct err err;

	if (store_place_each(s, module, see, &seen, &err) < 0)
		fail_msg("%s", err.text);
	return seen;
}

static void samples_of_an_instruction_add_up_and_fade(void **state)
{
	struct store *s = open_store();
	struct attribute_place place[] = { { 0x401008, 3, 5 }, { 0x401000, 3, 1 },
					   { 0xffffffffff600000, 9, 2 } };
	int64_t a = module_of(s, "/usr/bin/a", 1), b = module_of(s, "/usr/bin/b", 2);
	struct err err;

	(void)state;
	add(s, a, place, 3, 0);
	add(s, a, place, 1, 0);
	struct seen seen = look(s, a);
	assert_int_equal(seen.n, 3);
	assert_true(seen.first.block == 3 && seen.first.addr == 0x401000);
	assert_true(seen.last.addr == 0xffffffffff600000 && seen.last.samples == 2);
	assert_true(seen.samples == 13);
	assert_int_equal(look(s, b).n, 0);
	add(s, a, place, 0, 100);			/* a half-life later */
	assert_true(fabs(look(s, a).samples - 6.5) < 1e-9);
	assert_int_equal(store_module_discard(s, a, &err), 0);
	assert_int_equal(look(s, a).n, 0);
	store_close(s);
}

static void the_blocks_with_most_samples_stay_and_are_whole(void **state)
{
	enum { BLOCKS = 10000, OF_EACH = 4 };
	struct attribute_place *place = calloc(BLOCKS * OF_EACH, sizeof(*place));
	struct store *s = open_store();
	int64_t a = module_of(s, "/usr/bin/a", 1);

	(void)state;
	for (uint32_t i = 0; i < BLOCKS * OF_EACH; i++)
		place[i] = (struct attribute_place){ 0x1000 + i, i / OF_EACH,
						     1 + i / OF_EACH };
	add(s, a, place, BLOCKS * OF_EACH, 0);
	struct seen seen = look(s, a);
	assert_in_range(seen.n, STORE_PLACES_MAX * 3 / 4, STORE_PLACES_MAX);
	assert_int_equal(seen.n, seen.blocks * OF_EACH);
	assert_int_equal(seen.last.block, BLOCKS - 1);
	assert_int_equal(seen.first.block, BLOCKS - seen.blocks);
	free(place);
	store_close(s);
}

static void what_cannot_be_is_damage(void **state)
{
	struct store *s = open_store();
	int64_t a = module_of(s, "/usr/bin/a", 1);
	struct seen seen = { 0 };
	struct err err;

	(void)state;
	store_close(s);
	sql("INSERT INTO place VALUES(1, 3, 4, -1.5)");
	s = open_store();
	assert_int_equal(store_place_each(s, a, see, &seen, &err), -1);
	assert_non_null(strstr(err.text, "place"));
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_of_an_instruction_add_up_and_fade),
		TEST(the_blocks_with_most_samples_stay_and_are_whole),
		TEST(what_cannot_be_is_damage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
