/* test_match.c - functions and blocks of two versions find each other, and no others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/inherit/match.h"
#include "tests/unit/editor/inherit/twoversions.h"

static uint32_t partner(const struct twoversions *t, const struct match *m, const char *name)
{
	return m->fn[twoversions_fn(&t->old_prog, name)];
}

static void check_partner(const struct twoversions *t, const struct match *m, const char *name,
			  enum match_how how)
{
	uint32_t f = twoversions_fn(&t->old_prog, name);

	if (m->fn[f] != twoversions_fn(&t->now_prog, name))
		fail_msg("%s became number %u", name, m->fn[f]);
	if (m->how[f] != how)
		fail_msg("%s: found by %s", name, match_how_name[m->how[f]]);
	assert_int_equal(m->fn_back[m->fn[f]], f);
}

static void names_find_each_other(void **state)
{
	static const char *const names[] = { "_start", "first_twin", "second_twin", "steps",
					     "other", "far" };
	struct arena *a = arena_new();
	struct twoversions t;
	struct match m;

	(void)state;
	twoversions_make(a, &t);
	match_signatures(&t.old, &t.now, a, &m);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_partner(&t, &m, names[i], MATCH_NAME);
	assert_int_equal(partner(&t, &m, "gone"), SIGNATURE_NONE);
	assert_int_equal(m.fn_back[twoversions_fn(&t.now_prog, "fresh")], SIGNATURE_NONE);
	arena_free(a);
}

/* Without names: by instructions, texts, calls, and what is beside them. */
static void stripped_ones_find_each_other(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;
	struct match m;

	(void)state;
	twoversions_make(a, &t);
	twoversions_strip(&t);
	match_signatures(&t.old, &t.now, a, &m);
	check_partner(&t, &m, "other", MATCH_EXACT);
	check_partner(&t, &m, "far", MATCH_EXACT);
	assert_int_equal(partner(&t, &m, "gone"), SIGNATURE_NONE);
	assert_int_equal(m.fn_back[twoversions_fn(&t.now_prog, "fresh")], SIGNATURE_NONE);
	check_partner(&t, &m, "_start", MATCH_WORDS);
	check_partner(&t, &m, "steps", MATCH_PLACE);
	check_partner(&t, &m, "first_twin", MATCH_PLACE);
	check_partner(&t, &m, "second_twin", MATCH_PLACE);
	arena_free(a);
}

/* Of a function that is called by one which was found. */
static void calls_lead_to_pairs(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;
	struct match m;

	(void)state;
	twoversions_make(a, &t);
	twoversions_strip(&t);
	t.old.fn[twoversions_fn(&t.old_prog, "_start")].name = 1;
	t.now.fn[twoversions_fn(&t.now_prog, "_start")].name = 1;
	match_signatures(&t.old, &t.now, a, &m);
	check_partner(&t, &m, "_start", MATCH_NAME);
	check_partner(&t, &m, "steps", MATCH_CALLS);
	arena_free(a);
}

/* A text tells of the function that alone refers to it; of two that do, it tells nothing. */
static void a_text_of_two_elects_none(void **state)
{
	static uint32_t word[] = { 7, 7 };

	(void)state;
	for (uint32_t n = 1; n <= 2; n++) {
		struct arena *a = arena_new();
		struct signature_block x = { .ninsn = 1, .fall = SIGNATURE_NONE,
					     .taken = SIGNATURE_NONE, .rough = 1 };
		struct signature_block y[2] = { x, x };
		struct signature_fn f = { .nblock = 1, .nword = 1 };
		struct signature_fn g[2] = { f, f };
		struct match m;

		y[0].rough = 2;
		y[1].rough = 3;
		g[1].entry = 16;
		g[1].block = g[1].word = 1;
		g[1].nword = n - 1;
		const struct signature old = { .nfn = 1, .nblock = 1, .nword = 1, .fn = &f,
					       .block = &x, .word = word };
		const struct signature now = { .nfn = 2, .nblock = 2, .nword = n, .fn = g,
					       .block = y, .word = word };
		match_signatures(&old, &now, a, &m);
		assert_int_equal(m.fn[0], n == 1 ? 0 : SIGNATURE_NONE);
		arena_free(a);
	}
}

/* Nor do as many texts of another one's. */
static void who_has_not_clearly_more_is_not_elected(void **state)
{
	static uint32_t has[] = { 7, 8, 9 }, of[2][5] = { { 7, 8, 8, 9 }, { 7, 8, 9, 8 } };

	(void)state;
	/* both have 8; 7 is the one's, 9 the other's, then the one's as well */
	for (uint32_t k = 0; k < 2; k++) {
		struct arena *a = arena_new();
		struct signature_block x = { .ninsn = 1, .fall = SIGNATURE_NONE,
					     .taken = SIGNATURE_NONE, .rough = 1 };
		struct signature_block y[2] = { x, x };
		struct signature_fn f = { .nblock = 1, .nword = 3 };
		struct signature_fn g[2] = { { .nblock = 1, .nword = k ? 3 : 2 },
					     { .entry = 16, .nblock = 1, .block = 1,
					       .word = k ? 3 : 2, .nword = k ? 1 : 2 } };
		struct match m;

		y[0].rough = 2;
		y[1].rough = 3;
		const struct signature old = { .nfn = 1, .nblock = 1, .nword = 3, .fn = &f,
					       .block = &x, .word = has };
		const struct signature now = { .nfn = 2, .nblock = 2, .nword = 4, .fn = g,
					       .block = y, .word = of[k] };
		match_signatures(&old, &now, a, &m);
		assert_int_equal(m.fn[0], k ? 0 : SIGNATURE_NONE);
		arena_free(a);
	}
}

/* Two blocks that both are nothing alike, and lie the other way round: by the labels they are
 * known; where one has more labels by nothing. */
static void labels_lead_to_pairs(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		struct arena *a = arena_new();
		const struct signature_block none = { .ninsn = 1, .fall = SIGNATURE_NONE,
						      .taken = SIGNATURE_NONE };
		struct signature_block x[4] = { none, none, none, none };
		struct signature_block y[4] = { none, none, none, none };
		struct signature_fn f = { .name = 1, .nblock = 4 }, g = f;
		struct match m;

		for (uint32_t i = 1; i < 4; i++) {
			x[i].exact = x[i].loose = x[i].rough = i;
			y[i].exact = y[i].loose = y[i].rough = 10 + i;
		}
		x[1].label = y[2].label = 1;
		x[2].label = y[1].label = 2;
		y[3].label = more ? 3 : 0;
		const struct signature old = { .nfn = 1, .nblock = 4, .fn = &f, .block = x };
		const struct signature now = { .nfn = 1, .nblock = 4, .fn = &g, .block = y };
		match_signatures(&old, &now, a, &m);
		assert_int_equal(m.block[0], 0);
		assert_int_equal(m.block[1], more ? SIGNATURE_NONE : 2);
		assert_int_equal(m.block[2], more ? SIGNATURE_NONE : 1);
		assert_int_equal(m.block[3], SIGNATURE_NONE);
		arena_free(a);
	}
}

/* A constant changed, and a block came in between. */
static void blocks_find_each_other(void **state)
{
	static const char *const same[] = { "\xb8", "\x03\x07", "\x48\x8b\x7f\x08", "\xc3",
					    "\xf7", "\x83\xc8" };
	struct arena *a = arena_new();
	struct twoversions t;
	struct match m;

	(void)state;
	twoversions_make(a, &t);
	match_signatures(&t.old, &t.now, a, &m);
	const struct signature_fn *old = &t.old.fn[twoversions_fn(&t.old_prog, "steps")];
	const struct signature_fn *now = &t.now.fn[twoversions_fn(&t.now_prog, "steps")];

	assert_int_equal(old->nblock, 6);
	assert_int_equal(now->nblock, 8);
	for (size_t i = 0; i < 6; i++) {
		uint32_t x = twoversions_block(&t.old_prog, "steps", same[i]);
		uint32_t y = twoversions_block(&t.now_prog, "steps", same[i]);

		assert_int_not_equal(x, SIGNATURE_NONE);
		assert_int_not_equal(y, SIGNATURE_NONE);
		if (m.block[old->block + x] != now->block + y)
			fail_msg("block %zu: %u is not %u", i, x, y);
	}
	arena_free(a);
}

/* Another program altogether: nothing is taken for what it is not. */
static void strangers_find_nothing(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;
	struct prog other;
	struct signature s;
	struct match m;

	(void)state;
	twoversions_make(a, &t);
	asm_analyze("jumptable", "-shared", a, &other);
	signature_of(&other, &s);
	match_signatures(&t.old, &s, a, &m);
	for (uint32_t f = 0; f < t.old.nfn; f++)
		assert_int_equal(m.fn[f], SIGNATURE_NONE);
	for (uint32_t b = 0; b < t.old.nblock; b++)
		assert_int_equal(m.block[b], SIGNATURE_NONE);
	arena_free(a);
}

static void likeness_is_the_share_of_common_operations(void **state)
{
	struct arena *a = arena_new(), *scratch = arena_new();
	struct twoversions t;

	(void)state;
	twoversions_make(a, &t);
	uint32_t steps = twoversions_fn(&t.old_prog, "steps");
	uint32_t now = twoversions_fn(&t.now_prog, "steps");
	uint32_t gone = twoversions_fn(&t.old_prog, "gone");

	assert_true(match_likeness(&t.old, steps, &t.old, steps, scratch) == 1);
	assert_true(match_likeness(&t.old, gone, &t.now, now, scratch) == 0);
	/* old: 17 operations; new: 20, of which the 3 are in blocks of their own */
	double like = match_likeness(&t.old, steps, &t.now, now, scratch);
	assert_true(like > 0.7 && like < 1);
	assert_true(like == match_likeness(&t.now, now, &t.old, steps, scratch));
	arena_free(scratch);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_find_each_other),
		cmocka_unit_test(stripped_ones_find_each_other),
		cmocka_unit_test(calls_lead_to_pairs),
		cmocka_unit_test(a_text_of_two_elects_none),
		cmocka_unit_test(who_has_not_clearly_more_is_not_elected),
		cmocka_unit_test(labels_lead_to_pairs),
		cmocka_unit_test(blocks_find_each_other),
		cmocka_unit_test(strangers_find_nothing),
		cmocka_unit_test(likeness_is_the_share_of_common_operations),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
