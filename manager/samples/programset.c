/* programset.c - counts samples by hour, program and where they are
 *
 * A hash table with open addressing, at most half full; samples of one process come one after
 * the other, so most of them find their item at the first look.
 *
 * Tested by tests/unit/manager/samples/test_programset.c.
 */
#include "manager/samples/programset.h"

#include <stdlib.h>

#include "lib/memory.h"
#include "lib/search.h"

enum { FIRST = 256 };

/* The item of the key, or the empty one where it belongs. */
static struct programset_item *find(const struct programset *s, uint32_t hour,
				    uint32_t program, int64_t where)
{
	uint64_t hash = ((uint64_t)where * 31 + program) * UINT64_C(0x9e3779b97f4a7c15) + hour;
	uint32_t at = (uint32_t)(hash >> 32) & (s->cap - 1);

	for (;; at = (at + 1) & (s->cap - 1)) {
		struct programset_item *i = &s->item[at];

		if (!i->samples ||
		    (i->where == where && i->program == program && i->hour == hour))
			return i;
	}
}

static void grow(struct programset *s)
{
	struct programset old = *s;

	s->cap = old.cap ? 2 * old.cap : FIRST;
	s->item = memory_new(s->cap, sizeof(*s->item));
	for (uint32_t i = 0; i < old.cap; i++) {
		const struct programset_item *o = &old.item[i];

		if (o->samples)
			*find(s, o->hour, o->program, o->where) = *o;
	}
	free(old.item);
}

void programset_add(struct programset *s, uint32_t hour, uint32_t program, int64_t where)
{
	if (2 * s->n >= s->cap)
		grow(s);
	struct programset_item *i = find(s, hour, program, where);

	s->n += !i->samples;
	*i = (struct programset_item){ where, hour, program, i->samples + 1 };
}

static int by_key(const void *a, const void *b)
{
	const struct programset_item *x = a, *y = b;

	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	if (x->hour != y->hour)
		return x->hour < y->hour ? -1 : 1;
	return (x->program > y->program) - (x->program < y->program);
}

void programset_sort(struct programset *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->cap; i++)
		if (s->item[i].samples)
			s->item[n++] = s->item[i];
	if (n)
		qsort(s->item, n, sizeof(*s->item), by_key);
}

const struct programset_item *programset_of(const struct programset *s, int64_t where,
					    uint32_t *n)
{
	uint32_t from = search_first(i, 0, s->n, s->item[i].where < where);
	uint32_t to = search_first(i, from, s->n, s->item[i].where <= where);

	*n = to - from;
	return s->item + from;
}

void programset_clear(struct programset *s)
{
	free(s->item);
	*s = (struct programset){ 0 };
}
