/* test_ir_check.c - a sound program passes, and each damage is told with its invariant */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/err.h"
#include "tests/unit/irtext.h"

static const char text[] =
	"fn f\n"
	"  b0 size 6 -> b1 b2\n"
	"  b1 size 8 insns 2 cold -> b3\n"
	"  b2 size 7 -> table b0 b3\n"
	"  b3 size 3 -> ret\n"
	"fn g\n"
	"  b0 size 9 -> ret\n";

static void functions_descend(struct prog *p)
{
	vaddr entry = p->fn[0].entry;

	p->fn[0].entry = p->fn[1].entry;
	p->fn[1].entry = entry;
}

static void a_range_belongs_to_two(struct prog *p)
{
	p->fn[1].range[0] = p->fn[0].range[0];
	p->fn[1].range[0].addr = p->fn[1].entry;
}

static void a_block_is_too_long(struct prog *p)
{
	p->fn[0].block[1].size++;
}

static void a_block_is_missing(struct prog *p)
{
	p->fn[0].nblock--;
}

static void an_instruction_is_missing(struct prog *p)
{
	p->fn[0].block[1].ninsn--;
}

static void a_block_is_placed_twice(struct prog *p)
{
	p->fn[0].order[2] = p->fn[0].order[1];
}

static void the_entry_is_not_first(struct prog *p)
{
	p->fn[0].order[0] = 1;
	p->fn[0].order[1] = 0;
}

static void the_entry_is_cold(struct prog *p)
{
	p->fn[0].block[0].cold = true;
}

static void a_fall_through_leads_elsewhere(struct prog *p)
{
	p->fn[0].block[0].fall = 2;
}

static void a_branch_leads_elsewhere(struct prog *p)
{
	p->fn[0].block[0].taken = 3;
}

static void a_return_has_a_target(struct prog *p)
{
	p->fn[0].block[3].taken = 0;
}

static void a_return_goes_by_a_table(struct prog *p)
{
	p->fn[0].block[3].table = 0;
}

static void a_table_has_no_bound(struct prog *p)
{
	p->fn[0].table[0].bound = 0;
}

static void an_entry_leads_elsewhere(struct prog *p)
{
	p->fn[0].table[0].succ[0] = 2;
}

static void a_function_is_laid_out_twice(struct prog *p)
{
	p->order[1] = p->order[0];
}

static void a_function_is_not_laid_out(struct prog *p)
{
	p->norder = 1;
}

static void one_is_laid_out_that_stays(struct prog *p)
{
	p->fn[1].skip = SKIP_SHORT;
}

static void a_block_stays_that_runs(struct prog *p)
{
	p->fn[0].block[3].stays = true;
	p->fn[0].leaves = true;
}

static void nobody_knows_that_one_stays(struct prog *p)
{
	p->fn[0].leaves = true;
}

static const struct damage {
	void (*make)(struct prog *p);
	const char *invariant;
} damages[] = {
	{ functions_descend, "I1" },
	{ a_range_belongs_to_two, "I1" },
	{ a_block_is_too_long, "I2" },
	{ a_block_is_missing, "I2" },
	{ an_instruction_is_missing, "I2" },
	{ a_block_is_placed_twice, "I3" },
	{ the_entry_is_not_first, "I3" },
	{ the_entry_is_cold, "I3" },
	{ a_fall_through_leads_elsewhere, "I4" },
	{ a_branch_leads_elsewhere, "I4" },
	{ a_return_has_a_target, "I4" },
	{ a_return_goes_by_a_table, "I4" },
	{ a_table_has_no_bound, "I4" },
	{ an_entry_leads_elsewhere, "I4" },
	{ a_function_is_laid_out_twice, "I5" },
	{ a_function_is_not_laid_out, "I5" },
	{ one_is_laid_out_that_stays, "I5" },
	{ a_block_stays_that_runs, "I6" },
	{ nobody_knows_that_one_stays, "I6" },
};

/* All functions are moved, in their order. */
static void make(struct arena *a, struct irtext *t)
{
	struct err err;

	if (irtext_parse((struct bytes){ (const uint8_t *)text, sizeof(text) - 1 }, a, t,
			 &err) < 0)
		fail_msg("%s", err.text);
	t->prog.norder = t->prog.nfn;
	t->prog.order = arena_array(a, t->prog.nfn, sizeof(*t->prog.order));
	for (uint32_t i = 0; i < t->prog.nfn; i++) {
		t->prog.order[i] = i;
		t->prog.fn[i].moved = true;
	}
}

static void a_sound_program_passes(void **state)
{
	struct arena *a = arena_new();
	struct irtext t;
	struct err err;

	(void)state;
	make(a, &t);
	if (ir_check(&t.prog, &err) < 0)
		fail_msg("%s", err.text);
	arena_free(a);
}

static void every_damage_is_told_with_its_invariant(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct arena *a = arena_new();
		struct irtext t;
		struct err err = { 0 };

		make(a, &t);
		damages[i].make(&t.prog);
		if (ir_check(&t.prog, &err) == 0)
			fail_msg("damage %u of %s passes", i, damages[i].invariant);
		if (!strstr(err.text, damages[i].invariant))
			fail_msg("damage %u of %s: %s", i, damages[i].invariant, err.text);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_program_passes),
		cmocka_unit_test(every_damage_is_told_with_its_invariant),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
