#include "manager/samples/stateset.h"

#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"

static void grow(struct stateset *s)
{
	uint32_t cap = s->cap ? 2 * s->cap : 1024;
	struct stateset_item *item = memory_new(cap, sizeof(*item));

	if (s->n) {
		memcpy(item, s->item, s->n * sizeof(*item));
		explicit_bzero(s->item, s->n * sizeof(*item));
	}
	free(s->item);
	s->item = item;
	s->cap = cap;
}

int stateset_add(struct stateset *s, uint32_t file, file_off off, uint64_t pc,
		 const struct spool_state *state)
{
	if (s->n == STATESET_MAX ||
	    state->stack_bytes + state->memory_bytes > STATESET_STACK_MAX - s->stack.n)
		return -1;
	if (s->n == s->cap)
		grow(s);
	s->item[s->n++] = (struct stateset_item){ file, off, pc, *state, s->stack.n };
	wr_raw(&s->stack, state->stack, state->stack_bytes);
	wr_raw(&s->stack, state->memory, state->memory_bytes);
	return 0;
}

static int by_file(const void *a, const void *b)
{
	const struct stateset_item *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->off > y->off) - (x->off < y->off);
}

void stateset_sort(struct stateset *s)
{
	if (s->n)
		qsort(s->item, s->n, sizeof(*s->item), by_file);
}

const struct stateset_item *stateset_of(const struct stateset *s, uint32_t file, uint32_t *n)
{
	uint32_t lo = 0, hi = s->n, end;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->item[mid].file < file)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < s->n && s->item[end].file == file; end++)
		;
	*n = end - lo;
	return s->item + lo;
}

void stateset_clear(struct stateset *s)
{
	if (s->item)
		explicit_bzero(s->item, s->n * sizeof(*s->item));
	if (s->stack.p)
		explicit_bzero(s->stack.p, s->stack.n);
	free(s->item);
	wr_free(&s->stack);
	*s = (struct stateset){ 0 };
}
