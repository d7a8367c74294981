/* branchset.c - a hash table of branches and runs with open addressing, at most half full
 *
 * Tested by tests/unit/manager/samples/test_branchset.c.
 */
#include "manager/samples/branchset.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/memory.h"
#include "lib/search.h"

enum { SLOTS_LEAST = 1024 };
static const uint32_t COUNT_MOST = UINT32_MAX >> 1;

static uint64_t hash(uint32_t file, file_off from, file_off to, bool run)
{
	uint64_t h = from * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 29 ^ to) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 32 ^ (uint64_t)file << 1 ^ run) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

static bool is(const struct branchset_item *i, uint32_t file, file_off from, file_off to,
	       bool run)
{
	return i->file == file && i->from == from && i->to == to && i->run == run;
}

/* The slot of that item, or the free one that it would get. */
static uint32_t *find(const struct branchset *s, uint32_t file, file_off from, file_off to,
		      bool run)
{
	uint32_t mask = s->nslot - 1, at = (uint32_t)hash(file, from, to, run) & mask;

	while (s->slot[at] && !is(&s->item[s->slot[at] - 1], file, from, to, run))
		at = (at + 1) & mask;
	return &s->slot[at];
}

static void make_room(struct branchset *s)
{
	s->cap = s->cap ? 2 * s->cap : SLOTS_LEAST / 2;
	s->item = memory_grow(s->item, s->cap, sizeof(*s->item));
	free(s->slot);
	s->nslot = 2 * s->cap;
	s->slot = memory_new(s->nslot, sizeof(*s->slot));
	for (uint32_t i = 0; i < s->n; i++) {
		const struct branchset_item *it = &s->item[i];

		*find(s, it->file, it->from, it->to, it->run) = i + 1;
	}
}

int branchset_add(struct branchset *s, uint32_t file, file_off from, file_off to, bool run)
{
	assert(!s->sorted);
	if (s->n == s->cap && s->n < BRANCHSET_MAX)
		make_room(s);
	uint32_t *slot = find(s, file, from, to, run);
	if (*slot) {
		struct branchset_item *it = &s->item[*slot - 1];

		if (it->count < COUNT_MOST)
			it->count++;
		return 0;
	}
	if (s->n == BRANCHSET_MAX)
		return -1;
	s->item[s->n++] = (struct branchset_item){ .from = from, .to = to, .file = file,
						   .count = 1, .run = run };
	*slot = s->n;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct branchset_item *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (int)x->run - (int)y->run;
}

void branchset_sort(struct branchset *s)
{
	if (s->n)
		qsort(s->item, s->n, sizeof(*s->item), by_place);
	s->sorted = true;
}

const struct branchset_item *branchset_of(const struct branchset *s, uint32_t file, uint32_t *n)
{
	assert(s->sorted);
	uint32_t first = search_first(i, 0, s->n, s->item[i].file < file);
	uint32_t end = search_first(i, first, s->n, s->item[i].file <= file);

	*n = end - first;
	return s->item + first;
}

void branchset_clear(struct branchset *s)
{
	free(s->item);
	free(s->slot);
	*s = (struct branchset){ 0 };
}
