/* sampleset.c - an open hash table, at most half full, that is sorted in place when done */
#include "manager/sampleset.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t home_of(uint32_t file, file_off off, uint32_t cap)
{
	uint64_t h = (off ^ (uint64_t)file << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 32) & (cap - 1);
}

static struct sampleset_item *slot_of(struct sampleset_item *item, uint32_t cap, uint32_t file,
				      file_off off)
{
	uint32_t i = home_of(file, off, cap);

	while (item[i].samples && (item[i].off != off || item[i].file != file))
		i = (i + 1) & (cap - 1);
	return &item[i];
}

static void grow(struct sampleset *s)
{
	uint32_t cap = s->cap ? 2 * s->cap : 4096;
	struct sampleset_item *item = calloc(cap, sizeof(*item));

	if (!item) {
		(void)fputs("out of memory\n", stderr);	/* exits anyway */
		exit(1);
	}
	for (uint32_t i = 0; i < s->cap; i++)
		if (s->item[i].samples)
			*slot_of(item, cap, s->item[i].file, s->item[i].off) = s->item[i];
	free(s->item);
	s->item = item;
	s->cap = cap;
}

int sampleset_add(struct sampleset *s, uint32_t file, file_off off)
{
	if (2 * s->n >= s->cap)
		grow(s);

	struct sampleset_item *it = slot_of(s->item, s->cap, file, off);
	if (!it->samples) {
		if (s->n == SAMPLESET_MAX)
			return -1;
		s->n++;
		it->off = off;
		it->file = file;
	}
	if (it->samples < UINT32_MAX)
		it->samples++;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct sampleset_item *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->off > y->off) - (x->off < y->off);
}

void sampleset_sort(struct sampleset *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->cap; i++)
		if (s->item[i].samples)
			s->item[n++] = s->item[i];
	if (n)
		qsort(s->item, n, sizeof(*s->item), by_place);
}

void sampleset_clear(struct sampleset *s)
{
	free(s->item);
	*s = (struct sampleset){ 0 };
}
