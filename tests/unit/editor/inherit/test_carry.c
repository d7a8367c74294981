/* test_carry.c - a profile of one version becomes one of the other */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "editor/inherit/carry.h"
#include "editor/infer/attach.h"
#include "lib/profile.h"
#include "tests/unit/editor/inherit/twoversions.h"

struct scene {
	struct twoversions t;
	struct match m;
	struct profile_block block[4];
	struct profile_edge edge[3];
	struct profile_call call[3];
	struct profile old, now;
	struct carried told;
};

static vaddr old_block(const struct scene *s, const char *fn, const char *bytes)
{
	uint32_t b = twoversions_block(&s->t.old_prog, fn, bytes);

	assert_int_not_equal(b, SIGNATURE_NONE);
	return asm_fn(&s->t.old_prog, fn)->block[b].addr;
}

static vaddr now_block(const struct scene *s, const char *fn, const char *bytes)
{
	return asm_fn(&s->t.now_prog, fn)->block[
			twoversions_block(&s->t.now_prog, fn, bytes)].addr;
}

/* In steps, of which `first` is the first block and `loop` the head of the loop; in `gone`; and
 * the calls of _start. */
static void make(struct arena *a, const char *clock, struct scene *s)
{
	const struct prog *old = &s->t.old_prog;

	*s = (struct scene){ .old = { .module = "/x", .clock = clock, .outside = 2 } };
	twoversions_make(a, &s->t);
	match_signatures(&s->t.old, &s->t.now, a, &s->m);
	vaddr first = old_block(s, "steps", "\xb8"), loop = old_block(s, "steps", "\x03\x07");
	vaddr step = old_block(s, "steps", "\x48\x8b\x7f\x08");
	const struct signature_fn *start = &s->t.old.fn[twoversions_fn(old, "_start")];

	s->block[0] = (struct profile_block){ first, 30 };
	s->block[1] = (struct profile_block){ loop, 60 };
	s->block[2] = (struct profile_block){ asm_fn(old, "gone")->entry, 10 };
	s->edge[0] = (struct profile_edge){ first, loop, 5 };
	s->edge[1] = (struct profile_edge){ step, loop, 40 };
	s->edge[2] = (struct profile_edge){ asm_fn(old, "gone")->entry, loop, 7 };
	for (uint32_t i = 0; i < 2; i++)
		s->call[i] = (struct profile_call){
			s->t.old.base + s->t.old.call[start->call + i].off,
			asm_fn(old, i ? "other" : "steps")->entry, 3 + i };
	s->call[2] = (struct profile_call){ s->call[0].insn, asm_fn(old, "gone")->entry, 1 };
	s->old.original = old->digest;
	s->old.block = s->block;
	s->old.nblock = 3;
	s->old.edge = s->edge;
	s->old.nedge = 3;
	s->old.call = s->call;
	s->old.ncall = 3;
	carry_profile(&s->m, &s->old, a, &s->now, &s->told);
}

static double samples_at(const struct profile *p, vaddr addr)
{
	for (uint32_t i = 0; i < p->nblock; i++)
		if (p->block[i].addr == addr)
			return p->block[i].samples;
	return 0;
}

static void samples_edges_and_calls_come_along(void **state)
{
	struct arena *a = arena_new();
	struct scene s;

	(void)state;
	make(a, "tick", &s);
	vaddr loop = now_block(&s, "steps", "\x03\x07");

	assert_true(digest_equal(&s.now.original, &s.t.now_prog.digest));
	assert_string_equal(s.now.clock, "tick");
	assert_int_equal(s.now.nblock, 2);
	assert_true(samples_at(&s.now, now_block(&s, "steps", "\xb8")) == 30);
	assert_true(samples_at(&s.now, loop) == 60);
	assert_true(s.now.samples == 90);
	assert_true(s.now.outside == 12);		/* those of `gone`, too */
	assert_int_equal(s.now.nedge, 2);
	assert_int_equal(s.now.edge[0].to, loop);
	assert_true(s.now.edge[0].count == 5 && s.now.edge[1].count == 40);
	/* in the block of the second call is one as before, in the first, too */
	assert_int_equal(s.now.ncall, 2);
	assert_int_equal(s.now.call[0].target, asm_fn(&s.t.now_prog, "steps")->entry);
	assert_int_equal(s.now.call[1].target, asm_fn(&s.t.now_prog, "other")->entry);
	assert_true(s.now.call[0].count == 3 && s.now.call[1].count == 4);
	arena_free(a);
}

static void it_is_told_how_much_was_recognised(void **state)
{
	struct arena *a = arena_new();
	struct scene s;

	(void)state;
	make(a, "tick", &s);
	assert_int_equal(s.told.functions, 2);
	assert_int_equal(s.told.matched, 1);
	assert_true(s.told.weight == 100 && s.told.matched_weight == 90);
	assert_int_equal(s.told.blocks, 3);
	assert_int_equal(s.told.matched_blocks, 2);
	assert_true(s.told.how[MATCH_NAME] == 90 && s.told.how[MATCH_EXACT] == 0);
	arena_free(a);
}

/* Complete counts are not complete for the other version, and weigh by instructions. */
static void exact_counts_become_executions(void **state)
{
	struct arena *a = arena_new();
	struct scene s;

	(void)state;
	make(a, "exact", &s);
	assert_string_equal(s.now.clock, "branches");
	assert_true(samples_at(&s.now, now_block(&s, "steps", "\x03\x07")) == 60);
	/* 3 instructions, 3, and 9 */
	assert_true(s.told.weight == 30 * 3 + 60 * 3 + 10 * 9);
	arena_free(a);
}

/* What is carried over is a profile that the program takes. */
static void the_other_version_takes_it(void **state)
{
	struct arena *a = arena_new();
	struct scene s;
	struct err err;

	(void)state;
	make(a, "tick", &s);
	if (profile_attach(&s.t.now_prog, &s.now, &err) < 0)
		fail_msg("%s", err.text);
	const struct fn *steps = asm_fn(&s.t.now_prog, "steps");
	assert_true(steps->samples == 90);
	assert_int_equal(steps->nseen_edge, 2);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_edges_and_calls_come_along),
		cmocka_unit_test(it_is_told_how_much_was_recognised),
		cmocka_unit_test(exact_counts_become_executions),
		cmocka_unit_test(the_other_version_takes_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("carry", tests, NULL, NULL);
}
