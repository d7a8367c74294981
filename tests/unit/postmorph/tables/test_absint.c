/* test_absint.c - where ways join only what holds on both is known, also where that is seen
 * at once */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "postmorph/tables/absint.h"

enum { INSN = 7, ROUNDS = 200000 };
static const uint32_t HERE = (uint32_t)1 << 31 | (uint32_t)INSN * 32;

static uint32_t seed = 1;

static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static struct abs_value any_value(void)
{
	const uint32_t name[] = { 0, 5, 6, HERE, HERE + 1 };
	struct abs_value v = value_plain();

	if (chance(3) == 0)
		return v;
	v.may = chance(3) == 0;
	v.bound[2] = chance(2) ? UINT32_MAX : chance(3);
	v.name = name[chance(5)];
	v.form = (uint8_t)(v.name ? chance(2) : 0);
	return v;
}

/* A state has a cell once. */
static void set_cell(struct abs_state *s, unsigned k)
{
	struct abs_cell cell = { .disp = chance(5), .base = 4, .index = ABS_NONE, .bytes = 8 };

	for (unsigned i = 0; i < ABS_NCELL; i++)
		if (s->cell[i].bytes && s->cell[i].disp == cell.disp)
			k = i;
	s->cell[k] = cell;
	s->v[ABS_NREG + k] = any_value();
}

static struct abs_compare any_compare(void)
{
	return (struct abs_compare){ .name = chance(2) ? 5 : HERE, .n = chance(2), .valid = 1 };
}

/* Some one thing in it is another, or not. */
static void change(struct abs_state *s)
{
	unsigned i = chance(ABS_NREG), k = chance(ABS_NCELL);

	switch (chance(8)) {
	case 0: s->v[i] = any_value(); break;
	case 1: set_cell(s, k); break;
	case 2: s->cell[k] = (struct abs_cell){ 0 }; s->v[ABS_NREG + k] = value_plain(); break;
	case 3: s->compare = any_compare(); break;
	case 4: s->compare = (struct abs_compare){ 0 }; break;
	case 5: s->flags ^= 1; break;
	case 6: s->counts ^= 1; break;
	default: s->flags_may ^= 1; break;
	}
}

static bool is_here(uint32_t name)
{
	return (name & ~(uint32_t)31) == HERE;
}

/* Given here, it is one of several that were named alike on either way. */
static void check_name(const struct abs_value *got, const struct abs_value *x,
		       const struct abs_value *y, const struct abs_state *s)
{
	unsigned alike = 0;

	if (!got->name)
		return;
	assert_true(x->name && y->name && x->form == y->form && got->form == x->form);
	if (!is_here(got->name)) {
		assert_true(got->name == x->name && got->name == y->name);
		return;
	}
	for (unsigned i = 0; i < ABS_NVALUE; i++)
		alike += s->v[i].name == got->name;
	assert_true(alike > 1);
}

static void check_value(const struct abs_value *got, const struct abs_value *x,
			const struct abs_value *y, const struct abs_state *s)
{
	struct abs_value want = value_join(x, y);

	want.name = got->name;
	want.form = got->form;
	assert_memory_equal(got, &want, sizeof(want));
	assert_true(got->name || !got->form);
	check_name(got, x, y, s);
}

static void check_cell(const struct abs_state *s, const struct abs_state *old,
		       const struct abs_state *from, unsigned k)
{
	unsigned j = 0;

	if (!s->cell[k].bytes)
		return;
	assert_memory_equal(&s->cell[k], &old->cell[k], sizeof(s->cell[k]));
	while (j < ABS_NCELL && memcmp(&from->cell[j], &s->cell[k], sizeof(s->cell[k])) != 0)
		j++;
	assert_true(j < ABS_NCELL);
	check_value(&s->v[ABS_NREG + k], &old->v[ABS_NREG + k], &from->v[ABS_NREG + j], s);
}

static void a_join_knows_what_holds_on_both_ways(void **state)
{
	static const struct abs_compare none;
	uint32_t same = 0;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct abs_state s, from, old;

		absint_top(&s);
		for (uint32_t n = chance(12); n > 0; n--)
			change(&s);
		from = s;
		for (uint32_t n = chance(3); n > 0; n--)
			change(&from);
		old = s;
		bool changed = absint_join(&s, &from, INSN);
		same += !changed;
		assert_int_equal(changed, memcmp(&s, &old, sizeof(s)) != 0);
		assert_int_equal(s.flags, old.flags | from.flags);
		assert_int_equal(s.counts, old.counts & from.counts);
		assert_int_equal(s.flags_may, old.flags_may | from.flags_may);
		if (memcmp(&old.compare, &from.compare, sizeof(none)) != 0 ||
		    is_here(old.compare.name))
			assert_memory_equal(&s.compare, &none, sizeof(none));
		for (unsigned i = 0; i < ABS_NREG; i++)
			check_value(&s.v[i], &old.v[i], &from.v[i], &s);
		for (unsigned k = 0; k < ABS_NCELL; k++)
			check_cell(&s, &old, &from, k);
	}
	assert_in_range(same, ROUNDS / 100, ROUNDS - ROUNDS / 100);
}

/* A call that throws has overwritten the registers that calls may overwrite, and no others. */
static void a_landing_pad_sees_what_calls_preserve(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ABS_NREG; i++) {
		struct abs_state s, out;
		/* rbx rsp rbp r12-r15 */
		bool kept = i == 3 || i == 4 || i == 5 || i >= 12;

		absint_top(&s);
		assert_false(absint_throw(&s, &out));
		s.v[i].may = 1 << 5;
		if (absint_throw(&s, &out) != kept)
			fail_msg("register %u", i);
		for (unsigned k = 0; k < ABS_NREG; k++)
			assert_int_equal(out.v[k].may, kept && k == i ? 1 << 5 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_knows_what_holds_on_both_ways),
		cmocka_unit_test(a_landing_pad_sees_what_calls_preserve),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
