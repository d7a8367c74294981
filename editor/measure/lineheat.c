/* lineheat.c - how often 64-byte lines of code are executed, in some layout of a program
 *
 * Tested by tests/e2e/page.sh.
 */
#include "editor/measure/lineheat.h"

#include <inttypes.h>
#include <stdlib.h>

/* Less than what any sample stands for is nothing. */
static const double LEAST = 0.0005;

struct heat {
	vaddr line;		/* its number: the address of its start by its size */
	double count;
};

static int by_line(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

void lineheat_write(const struct prog *prog, const struct placement *pl, const char *name,
		    struct wr *out)
{
	VEC(struct heat) v = { 0 };

	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct placed *at = pl->block[f];

		for (uint32_t i = 0; at && i < prog->fn[f].nblock; i++) {
			struct heat h = { .count = prog->fn[f].block[i].count };

			if (h.count < LEAST || !at[i].known || !at[i].size)
				continue;
			h.line = at[i].addr / LINEHEAT_LINE;
			for (; h.line * LINEHEAT_LINE < at[i].addr + at[i].size; h.line++)
				vec_push(prog->arena, &v, h);
		}
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_line);
	for (uint32_t i = 0, k; i < v.n; i = k) {
		double sum = 0;

		for (k = i; k < v.n && v.v[k].line == v.v[i].line; k++)
			sum += v.v[k].count;
		wr_text(out, arena_printf(prog->arena, "heat\t%s\t0x%" PRIx64 "\t%.3f\n", name,
					  v.v[i].line * LINEHEAT_LINE, sum));
	}
}
