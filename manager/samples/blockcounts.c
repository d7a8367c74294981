/* blockcounts.c - sorts samples by block with a radix sort, the last digit first
 *
 * An array that is in order already is left as it is.
 */
#include "manager/samples/blockcounts.h"
#include "lib/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGIT = 1 << DIGIT_BITS };

/* Keeps the order of equal digits. */
static void sort_by_digit(const struct blockcount *from, struct blockcount *to,
			  uint32_t n, unsigned shift)
{
	uint32_t at[DIGIT] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		at[from[i].block >> shift & (DIGIT - 1)]++;
	for (unsigned k = 0; k < DIGIT; k++) {
		uint32_t count = at[k];

		at[k] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].block >> shift & (DIGIT - 1)]++] = from[i];
}

static void sort(struct blockcount *count, uint32_t n)
{
	struct blockcount *room = memory_grow(NULL, n, sizeof(*room)), *from = count,
			       *to = room;
	uint32_t differ = 0;

	for (uint32_t i = 1; i < n; i++)
		differ |= count[i].block ^ count[0].block;
	for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS)
		if (differ >> shift & (DIGIT - 1)) {
			struct blockcount *sorted = to;

			sort_by_digit(from, sorted, n, shift);
			to = from;
			from = sorted;
		}
	if (from != count)
		memcpy(count, from, n * sizeof(*count));
	free(room);
}

static uint32_t sum(uint32_t x, uint32_t y)
{
	return y > UINT32_MAX - x ? UINT32_MAX : x + y;
}

uint32_t blockcounts_sort(struct blockcount *count, uint32_t n)
{
	bool ascending = true;
	uint32_t out = 0;

	for (uint32_t i = 1; i < n && ascending; i++)
		ascending = count[i - 1].block <= count[i].block;
	if (!ascending)
		sort(count, n);
	for (uint32_t i = 0; i < n; i++) {
		if (out && count[out - 1].block == count[i].block)
			count[out - 1].samples = sum(count[out - 1].samples, count[i].samples);
		else
			count[out++] = count[i];
	}
	return out;
}

void blockcounts_add(struct blockcount **to, uint32_t *nto, const struct blockcount *more,
		uint32_t n)
{
	const struct blockcount *old = *to;
	uint32_t nold = *nto, out = 0;

	if (!n)
		return;
	struct blockcount *all = memory_grow(NULL, (size_t)nold + n, sizeof(*all));
	for (uint32_t i = 0, k = 0; i < nold || k < n; ) {
		if (k == n || (i < nold && old[i].block <= more[k].block))
			all[out] = old[i++];
		else
			all[out] = (struct blockcount){ more[k].block, 0 };
		if (k < n && more[k].block == all[out].block)
			all[out].samples = sum(all[out].samples, more[k++].samples);
		out++;
	}
	free(*to);
	*to = memory_grow(all, out, sizeof(*all));
	*nto = out;
}
