/* pass_shuffle.c - draws a valid layout by chance, for tests of everything after the passes
 *
 * needs: nothing.  Changes: fn->order, fn->leaves, cold, warm, stays, direct, in_line,
 * jump_in_line, counts, prog->order.
 *
 * The entry block stays first and is hot; all else is drawn from options->seed.  Emit aligns
 * blocks by their counts, so those are drawn as well.
 *
 * Tested by tests/unit/editor/passes/test_passes.c.
 */
#include "editor/passes/pass.h"

#include "lib/cpu.h"

/* Vigna's splitmix64. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void shuffle(uint32_t *v, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(draw(state) % i), t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

/* In a quarter of all functions. */
static void draw_stays(struct fn *fn, uint64_t *state)
{
	bool any = draw(state) % 4 == 0;

	for (uint32_t i = 1; any && i < fn->nblock; i++) {
		struct block *b = &fn->block[i];

		b->stays = b->cold && draw(state) % 2 && block_may_stay(fn, b);
		fn->leaves |= b->stays;
	}
}

int pass_shuffle(struct prog *prog, const struct edit_options *options, struct err *err)
{
	uint64_t state = options->seed, of_calls = ~options->seed;
	uint64_t of_stays = options->seed ^ 0x5555555555555555,
		 of_lines = options->seed ^ 0x3333333333333333;

	(void)err;
	bool lines = draw(&of_lines) % 4 != 0;	/* else they are minded nowhere */

	prog->line_costs = cpu_costs_named("skylake");	/* it minds most */
	for (uint32_t i = 0; i < prog->norder; i++) {
		struct fn *fn = &prog->fn[prog->order[i]];
		uint64_t cold_of_8 = draw(&state) % 8;	/* all hot to mostly cold */

		if (fn->nblock > 1)
			shuffle(fn->order + 1, fn->nblock - 1, &state);
		for (uint32_t b = 0; b < fn->nblock; b++)
			fn->block[b].direct =
				draw(&of_calls) % 2 && pass_calls_may(fn, &fn->block[b]);
		for (uint32_t b = 0; b < fn->nblock; b++) {
			fn->block[b].in_line = draw(&of_lines) % 2 && lines;
			fn->block[b].jump_in_line = draw(&of_lines) % 2 && lines;
		}
		for (uint32_t b = 1; b < fn->nblock; b++) {
			fn->block[b].cold = draw(&state) % 8 < cold_of_8;
			fn->block[b].warm = !fn->block[b].cold && draw(&state) % 4 == 0;
			fn->block[b].count = draw(&state) % 4 == 0;
		}
		draw_stays(fn, &of_stays);
	}
	shuffle(prog->order, prog->norder, &state);
	return 0;
}
