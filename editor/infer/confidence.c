/* confidence.c - adds up executions by the confidence that inference has in them */
#include "editor/infer/confidence.h"

static bool is_branch(const struct block *b)
{
	return b->fall != NO_BLOCK && b->taken != NO_BLOCK && b->fall != b->taken;
}

void confidence_sum(const struct prog *prog, struct confidence_shares *out)
{
	struct confidence_shares e = { 0 };
	double all[NCONFIDENCE_OF] = { 0 };

	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];

		for (uint32_t i = 0; fn->moved && i < fn->nblock; i++) {
			const struct block *b = &fn->block[i];
			const double n[NCONFIDENCE_OF] = {
				[CONFIDENCE_OF_WORK] = b->count * block_length(fn, b),
				[CONFIDENCE_OF_BLOCKS] = b->count,
				[CONFIDENCE_OF_BRANCHES] = is_branch(b) ? b->count : 0,
			};

			for (int k = 0; k < NCONFIDENCE_OF; k++) {
				e.share[k][b->confidence] += n[k];
				all[k] += n[k];
			}
		}
	}
	for (int k = 0; k < NCONFIDENCE_OF; k++)
		for (int c = 0; c < NCONFIDENCE; c++)
			e.share[k][c] = all[k] > 0 ? e.share[k][c] / all[k] : 0;
	*out = e;
}
