/* gainheap.c - a binary heap */
#include "editor/graph/gainheap.h"

#include <stdlib.h>

#include "editor/graph/memory.h"

static bool before(const struct gainheap_entry *x, const struct gainheap_entry *y)
{
	if (x->gain != y->gain)
		return x->gain > y->gain;
	return x->item != y->item ? x->item < y->item : x->stamp > y->stamp;
}

void gainheap_push(struct gainheap *h, double gain, uint32_t item, uint32_t stamp)
{
	struct gainheap_entry e = { gain, item, stamp };
	uint32_t at = h->n++;

	if (h->n > h->cap) {
		h->cap = h->cap ? 2 * h->cap : 64;
		h->entry = memory_grow(h->entry, h->cap, sizeof(*h->entry));
	}
	for (; at > 0 && before(&e, &h->entry[(at - 1) / 2]); at = (at - 1) / 2)
		h->entry[at] = h->entry[(at - 1) / 2];
	h->entry[at] = e;
}

bool gainheap_pop(struct gainheap *h, struct gainheap_entry *out)
{
	uint32_t at = 0;

	if (h->n == 0)
		return false;
	*out = h->entry[0];
	struct gainheap_entry last = h->entry[--h->n];
	while (2 * at + 1 < h->n) {
		uint32_t kid = 2 * at + 1;

		if (kid + 1 < h->n && before(&h->entry[kid + 1], &h->entry[kid]))
			kid++;
		if (!before(&h->entry[kid], &last))
			break;
		h->entry[at] = h->entry[kid];
		at = kid;
	}
	h->entry[at] = last;
	return true;
}

void gainheap_free(struct gainheap *h)
{
	free(h->entry);
	*h = (struct gainheap){ 0 };
}
