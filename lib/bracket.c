/* bracket.c - builds the slots of bracket.h: for each, how many of the numbers lie before it */
#include "lib/bracket.h"

void bracket_make(struct bracket *b, uint32_t *room, uint32_t n,
		  uint64_t (*at)(const void *ctx, uint32_t i), const void *ctx)
{
	uint32_t i = 0;

	*b = (struct bracket){ .before = room };
	if (n == 0)
		return;
	b->lowest = at(ctx, 0);
	uint64_t span = at(ctx, n - 1) - b->lowest;
	while (span >> b->shift >= n)
		b->shift++;
	b->nslot = (uint32_t)(span >> b->shift) + 1;
	for (uint32_t slot = 0; slot < b->nslot; slot++) {
		b->before[slot] = i;
		while (i < n && (at(ctx, i) - b->lowest) >> b->shift == slot)
			i++;
	}
	b->before[b->nslot] = n;
}
