/* sampleset.c - gathers places in the order they come, and folds equal ones now and then
 *
 * A hash table of all places would miss the cache at every sample.  Writing the places down one
 * after the other and sorting them later does not.  They are sorted by radix, the last digit
 * first, without the digits in which all are equal.  A small table of recent places catches
 * most of those that come again and again.  The sizes of digits and tables were chosen, and not
 * measured one by one.
 *
 * INVARIANTS
 *   I1  item[0 .. nfolded) is ascending, every place once;
 *   I2  recent[] refers to no item that has been moved: folding clears it.
 */
#include "manager/samples/sampleset.h"
#include "lib/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 17, DIGIT_BITS = 11, DIGIT = 1 << DIGIT_BITS, OFF_DIGITS = 6, DIGITS = 9,
       RECENT_BITS = 12 };
_Static_assert(SAMPLESET_RECENT == 1 << RECENT_BITS, "a place's hash is an index");

/* Digit 0 is the last of the offset, the highest one the first of the file. */
static unsigned digit(const struct sampleset_item *it, unsigned d)
{
	return d < OFF_DIGITS ? it->off >> DIGIT_BITS * d & (DIGIT - 1) :
	       it->file >> DIGIT_BITS * (d - OFF_DIGITS) & (DIGIT - 1);
}

/* Keeps the order of equal digits. */
static void sort_by_digit(const struct sampleset_item *from, struct sampleset_item *to,
			  uint32_t n, unsigned d)
{
	uint32_t at[DIGIT] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		at[digit(&from[i], d)]++;
	for (unsigned k = 0; k < DIGIT; k++) {
		uint32_t count = at[k];

		at[k] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[digit(&from[i], d)]++] = from[i];
}

static void sort(struct sampleset *s)
{
	struct sampleset_item *from = s->item, differ = { 0 };
	struct sampleset_item *to = memory_grow(NULL, s->cap, sizeof(*to));

	for (uint32_t i = 1; i < s->n; i++) {
		differ.off |= from[i].off ^ from[0].off;
		differ.file |= from[i].file ^ from[0].file;
	}
	for (unsigned d = 0; d < DIGITS; d++)
		if (digit(&differ, d)) {
			struct sampleset_item *sorted = to;

			sort_by_digit(from, sorted, s->n, d);
			to = from;
			from = sorted;
		}
	s->item = from;
	free(to);
}

static void fold(struct sampleset *s)
{
	uint32_t n = 0;

	if (s->nfolded == s->n)
		return;
	sort(s);
	memset(s->recent, 0, sizeof(s->recent));
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sampleset_item *it = &s->item[i];
		struct sampleset_item *last = &s->item[n - (n > 0)];

		if (!n || last->off != it->off || last->file != it->file)
			s->item[n++] = *it;
		else if (it->samples > UINT32_MAX - last->samples)
			last->samples = UINT32_MAX;
		else
			last->samples += it->samples;
	}
	s->n = s->nfolded = n;
}

/* False when there are as many places as there may be. */
static bool make_room(struct sampleset *s)
{
	fold(s);
	if (s->n >= SAMPLESET_MAX)
		return false;
	if (2 * s->n >= s->cap) {	/* at least half of it is room from now on */
		s->cap = s->cap ? 2 * s->cap : FIRST;
		s->item = memory_grow(s->item, s->cap, sizeof(*s->item));
	}
	return true;
}

int sampleset_add(struct sampleset *s, uint32_t file, file_off off)
{
	uint64_t hash = (off ^ (uint64_t)file << 48) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *recent = &s->recent[hash >> (64 - RECENT_BITS)];

	if (*recent) {
		struct sampleset_item *it = &s->item[*recent - 1];

		if (it->off == off && it->file == file && it->samples < UINT32_MAX) {
			it->samples++;
			return 0;
		}
	}
	if (s->n == s->cap && !make_room(s))
		return -1;
	s->item[s->n++] = (struct sampleset_item){ .off = off, .file = file, .samples = 1 };
	*recent = s->n;
	return 0;
}

void sampleset_sort(struct sampleset *s)
{
	fold(s);
}

void sampleset_clear(struct sampleset *s)
{
	free(s->item);
	*s = (struct sampleset){ 0 };
}
