/* stateset.c - states gathered in an array, sorted by file and offset; see stateset.h
 *
 * What is sorted has no registers in it: qsort() copies to the heap and leaves copies there.
 *
 * Tested by tests/unit/manager/samples/test_stateset.c and test_attribute.c.
 */
#include "manager/samples/stateset.h"

#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/statememory.h"

enum { ALIGN = 8 };

int stateset_add(struct stateset *s, uint32_t file, file_off off, uint64_t pc,
		 const struct spool_state *state)
{
	const size_t most = sizeof(*state) + SPOOL_STACK_MAX + STATEMEMORY_MAX + ALIGN;

	if (s->n == STATESET_MAX || s->states.n > STATESET_BYTES_MAX - most)
		return -1;
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->item = memory_grow(s->item, s->cap, sizeof(*s->item));
	}
	s->states.secret = true;
	s->item[s->n++] = (struct stateset_item){ file, off, pc, s->states.n };
	wr_raw(&s->states, state, sizeof(*state));
	wr_raw(&s->states, state->stack, state->stack_bytes);
	wr_raw(&s->states, state->memory, state->memory_bytes);
	wr_align(&s->states, ALIGN);
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

struct spool_state stateset_state(const struct stateset *s, const struct stateset_item *item)
{
	const uint8_t *p = s->states.p + item->at;
	struct spool_state state;

	memcpy(&state, p, sizeof(state));
	state.stack = p + sizeof(state);
	state.memory = state.stack + state.stack_bytes;
	return state;
}

void stateset_clear(struct stateset *s)
{
	free(s->item);
	wr_free(&s->states);
	*s = (struct stateset){ 0 };
}
