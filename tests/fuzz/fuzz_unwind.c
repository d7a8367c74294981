/* fuzz_unwind.c - stacks by unwind rows and samples of any content
 *
 * Bytes 0 to 3 say how many of the rest are tables of rows; what is behind them are samples.
 */
#include <stddef.h>
#include <stdlib.h>

#include "editor/interpret/unwindwalk.h"
#include "lib/arena.h"
#include "lib/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void unwind(const struct unwindwalk *w, struct bytes samples, struct arena *a)
{
	VEC(struct bytes) space = { 0 };
	struct callstack_sample s;
	struct callstack_reader r;
	struct wr answer = { 0 };
	struct callstack c, got;
	struct bytes one;
	struct err err;
	int rc;

	if (callstack_open(samples, &r, &err) < 0)
		return;
	while ((rc = callstack_read(&r, &one, &s, &err)) > CALLSTACK_END) {
		if (rc == CALLSTACK_SPACE) {
			vec_push(a, &space, one);
			continue;
		}
		unwindwalk_sample(w, space.v[s.space], &s, &c);
		answer.n = 0;
		callstack_write(&c, &answer);
		struct rd back = rd_of(wr_bytes(&answer));
		if (!callstack_take(&back, &got) || got.n != c.n || got.end != c.end ||
		    memcmp(got.addr, c.addr, c.n * sizeof(*c.addr)) != 0)
			abort();
	}
	wr_free(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd in = rd_of((struct bytes){ data, size });
	uint32_t rows = rd_u32(&in);
	struct bytes tables = { rd_skip(&in, rows), rows };
	VEC(struct unwindtable) table = { 0 };
	struct unwindtable t;
	struct err err;

	if (in.bad)
		return 0;
	struct arena *a = arena_new();
	struct rd r = rd_of(tables);
	while (rd_left(&r) && unwindtable_open(&r, &t, &err) == 0)
		vec_push(a, &table, t);
	struct unwindwalk w = { table.v, table.n };
	unwind(&w, (struct bytes){ in.p, rd_left(&in) }, a);
	arena_free(a);
	return 0;
}
