/* test_matchblocks.c - which block is which, in functions that are drawn block by block */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "editor/inherit/match.h"
#include "lib/arena.h"

enum { MOST = 8, NONE_ = -1 };

/* Two versions of one function that has a name, beside others of theirs that are called. */
struct pair {
	struct signature_block block[2][MOST];
	struct signature_call call[2][MOST];
	struct signature_fn fn[2][3];
	struct signature s[2];
	uint32_t got[MOST];		/* partners of the old one's blocks */
};

/* A block of the old version (0) or the new one (1); a hash stands for all three. */
static void put(struct pair *p, int side, uint32_t hash, int fall, int taken)
{
	struct signature *s = &p->s[side];

	p->block[side][s->nblock++] = (struct signature_block){
		.off = s->nblock * 16, .ninsn = 2, .fall = (uint32_t)fall,
		.taken = (uint32_t)taken, .exact = hash, .loose = hash, .rough = hash };
}

static void put_call(struct pair *p, int side, uint32_t block, uint32_t callee, uint32_t import)
{
	struct signature *s = &p->s[side];

	p->call[side][s->ncall++] =
		(struct signature_call){ .block = block, .callee = callee, .import = import };
}

static void match(struct pair *p)
{
	struct arena *a = arena_new();
	struct match m;

	for (int k = 0; k < 2; k++) {
		struct signature *s = &p->s[k];

		s->fn = p->fn[k];
		s->block = p->block[k];
		s->call = p->call[k];
		s->fn[0] = (struct signature_fn){ .name = 1, .nblock = s->nblock,
						  .ncall = s->ncall };
		s->nfn = 1;
		/* two that can be called, of one block each that nothing resembles */
		for (uint32_t i = 1; i < 3; i++)
			s->fn[s->nfn++] = (struct signature_fn){
				.entry = i * 0x100, .name = 1 + i, .block = s->nblock,
				.call = s->ncall };
	}
	match_signatures(&p->s[0], &p->s[1], a, &m);
	memcpy(p->got, m.block, p->s[0].nblock * sizeof(*p->got));
	arena_free(a);
}

static void check(const struct pair *p, uint32_t block, int want)
{
	if (p->got[block] != (uint32_t)want)
		fail_msg("block %u became %d, not %d", block, (int)p->got[block], want);
}

/* What is there twice on a side is not paired by itself; what is there once is, wherever. */
static void only_what_is_alone_is_paired_by_its_hash(void **state)
{
	for (int twice = 0; twice < 2; twice++) {	/* which side has it twice */
		struct pair p = { 0 };

		(void)state;
		for (int k = 0; k < 2; k++) {
			put(&p, k, 100 + (uint32_t)k, NONE_, NONE_);	/* entry */
			if (k == 0)
				put(&p, k, 9, NONE_, NONE_);
			put(&p, k, 200 + (uint32_t)k, 0, 0);	/* keeps gaps apart */
			put(&p, k, 7, NONE_, NONE_);
			put(&p, k, 300 + (uint32_t)k, 0, 0);
			if (k == twice)
				put(&p, k, 7, NONE_, NONE_);
			if (k == 1)
				put(&p, k, 9, NONE_, NONE_);
		}
		/* they lie where no pair is in front, so that their order tells nothing */
		match(&p);
		check(&p, 1, p.s[1].nblock - 1);
	}
}

/* Of two equal ones, on either side, an edge tells which it is, and not which comes first. */
static void of_two_that_are_equal_none_is_alone(void **state)
{
	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		struct pair p = { 0 };

		for (int k = 0; k < 2; k++) {
			put(&p, k, 1, k == twice ? 2 : 1, NONE_);
			if (k == twice)
				put(&p, k, 7, NONE_, NONE_);
			put(&p, k, 7, NONE_, NONE_);
		}
		match(&p);
		check(&p, twice ? 1 : 2, twice ? 2 : 1);
		if (!twice)
			check(&p, 1, NONE_);
	}
}

/* Along edges of one kind. */
static void edges_lead_from_pair_to_pair(void **state)
{
	struct pair p = { 0 };

	(void)state;
	put(&p, 0, 1, 1, 2);
	put(&p, 0, 8, NONE_, NONE_);
	put(&p, 0, 8, NONE_, NONE_);
	put(&p, 1, 1, 2, 1);		/* they have changed places */
	put(&p, 1, 8, NONE_, NONE_);
	put(&p, 1, 8, NONE_, NONE_);
	match(&p);
	check(&p, 0, 0);
	check(&p, 1, 2);
	check(&p, 2, 1);
}

/* One open block leads to a pair: it is known by that; of two nobody knows which. */
static void several_that_lead_to_a_pair_are_no_guess(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 3; n++) {
		struct pair p = { 0 };

		for (int k = 0; k < 2; k++) {
			put(&p, k, 100 + (uint32_t)k, NONE_, NONE_);
			/* as many ways out, and nothing else in common */
			for (uint32_t i = 0; i < n; i++)
				put(&p, k, 20 + 10 * (uint32_t)k + i, (int)n + 1, 0);
			put(&p, k, 77, NONE_, NONE_);
		}
		match(&p);
		check(&p, n + 1, (int)n + 1);
		check(&p, 1, n == 1 ? 1 : NONE_);
	}
}

/* The block that calls what no other does. */
static void callees_tell_of_blocks(void **state)
{
	struct pair p = { 0 };

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		put(&p, (int)k, 100 + k, NONE_, NONE_);
		for (uint32_t i = 1; i < 5; i++)
			put(&p, (int)k, 10 * (k + 1) + i, i % 2 ? 0 : NONE_, NONE_);
	}
	/* function 2 after function 1; function 1 and one of another file; that one alone; and
	 * a pointer, which tells nothing */
	const uint32_t at[2][4] = { { 1, 2, 3, 4 }, { 3, 4, 1, 2 } };

	for (int k = 0; k < 2; k++)
		for (uint32_t block = 1; block < 5; block++) {
			uint32_t which = at[k][block - 1];

			if (which == 1)
				put_call(&p, k, block, 1, 0);
			if (which < 3)
				put_call(&p, k, block, which == 1 ? 2 : 1, 0);
			if (which == 2 || which == 3)
				put_call(&p, k, block, SIGNATURE_NONE, 55);
			if (which == 4)
				put_call(&p, k, block, SIGNATURE_NONE, 0);
		}
	match(&p);
	check(&p, 1, 3);
	check(&p, 2, 4);
	check(&p, 3, 1);
	check(&p, 4, NONE_);
}

/* In the order of addresses behind a pair, as long as open blocks follow; no partner twice. */
static void gaps_are_filled_in_order(void **state)
{
	struct pair p = { 0 };

	(void)state;
	put(&p, 0, 1, NONE_, NONE_);
	put(&p, 0, 4, NONE_, NONE_);
	put(&p, 0, 4, NONE_, NONE_);
	put(&p, 0, 4, NONE_, NONE_);
	put(&p, 1, 1, NONE_, NONE_);
	put(&p, 1, 6, 0, 0);		/* new */
	put(&p, 1, 4, NONE_, NONE_);
	put(&p, 1, 4, NONE_, NONE_);
	match(&p);
	check(&p, 1, 2);
	check(&p, 2, 3);
	check(&p, 3, NONE_);
}

/* They say which is which where nothing else does; the one behind is another function's. */
static void labels_of_the_function_alone_tell_of_blocks(void **state)
{
	struct pair p = { 0 };

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < 4; i++)
			put(&p, (int)k, 10 * (k + 1) + i, i == 2 ? 0 : NONE_,
			    i == 2 ? 0 : NONE_);
		p.block[k][1].label = 1 + k;		/* they have changed places */
		p.block[k][3].label = 2 - k;
	}
	p.block[0][4].label = 1;
	match(&p);
	check(&p, 1, 3);
	check(&p, 3, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_alone_is_paired_by_its_hash),
		cmocka_unit_test(of_two_that_are_equal_none_is_alone),
		cmocka_unit_test(edges_lead_from_pair_to_pair),
		cmocka_unit_test(several_that_lead_to_a_pair_are_no_guess),
		cmocka_unit_test(callees_tell_of_blocks),
		cmocka_unit_test(gaps_are_filled_in_order),
		cmocka_unit_test(labels_of_the_function_alone_tell_of_blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("matchblocks", tests, NULL, NULL);
}
