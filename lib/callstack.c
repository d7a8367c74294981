/* callstack.c - reads and writes what `morph-edit unwind` gets and gives
 *
 * Tested by tests/unit/lib/test_callstack.c.
 */
#include "lib/callstack.h"

#include "lib/err.h"
#include "lib/search.h"

static const char magic[CALLSTACK_HEADER] = "MCALLS01";

enum { BIT_KERNEL = 1 };

/* --- the question --- */

void callstack_write_header(struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
}

void callstack_write_space(const struct callstack_mapping *m, uint32_t n, struct wr *out)
{
	wr_u32(out, CALLSTACK_SPACE);
	wr_u32(out, n);
	for (uint32_t i = 0; i < n; i++) {
		wr_u64(out, m[i].start);
		wr_u64(out, m[i].end);
		wr_u64(out, m[i].off);
		wr_u32(out, m[i].table);
	}
}

void callstack_write_sample(const struct callstack_sample *s, struct wr *out)
{
	wr_u32(out, CALLSTACK_SAMPLE);
	wr_u32(out, s->space);
	wr_u32(out, s->kernel ? BIT_KERNEL : 0);
	wr_u64(out, s->pc);
	for (int i = 0; i < CALLSTACK_GPRS; i++)
		wr_u64(out, s->gpr[i]);
	wr_u32(out, (uint32_t)s->stack.n);
	if (s->stack.n)
		wr_raw(out, s->stack.p, (size_t)s->stack.n);
}

int callstack_open(struct bytes stream, struct callstack_reader *out, struct err *err)
{
	struct rd rd = rd_of(stream);
	const uint8_t *head = rd_skip(&rd, CALLSTACK_HEADER);

	if (!head || memcmp(head, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_INPUT, "not a stream of samples with stacks");
	*out = (struct callstack_reader){ .rd = rd };
	return 0;
}

/* The i-th, which is there. */
static struct callstack_mapping mapping(struct bytes space, uint64_t i)
{
	struct rd r = rd_of(bytes_at(space, i * CALLSTACK_MAPPING, CALLSTACK_MAPPING));
	struct callstack_mapping m = { rd_u64(&r), rd_u64(&r), rd_u64(&r), 0 };

	m.table = rd_u32(&r);
	return m;
}

static bool read_space(struct rd *r, struct bytes *out)
{
	uint64_t n = rd_u32(r), end = 0;

	*out = (struct bytes){ rd_skip(r, n * CALLSTACK_MAPPING), n * CALLSTACK_MAPPING };
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		struct callstack_mapping m = mapping(*out, i);

		if (m.start < end || m.end <= m.start)
			r->bad = true;
		end = m.end;
	}
	return !r->bad;
}

static bool read_sample(const struct callstack_reader *reader, struct rd *r,
			struct callstack_sample *out)
{
	out->space = rd_u32(r);
	uint32_t bits = rd_u32(r);
	out->kernel = bits & BIT_KERNEL;
	out->pc = rd_u64(r);
	for (int i = 0; i < CALLSTACK_GPRS; i++)
		out->gpr[i] = rd_u64(r);
	uint32_t n = rd_u32(r);
	out->stack = (struct bytes){ rd_skip(r, n), n };
	return !r->bad && bits <= BIT_KERNEL && out->space < reader->nspace;
}

int callstack_read(struct callstack_reader *reader, struct bytes *space,
		   struct callstack_sample *sample, struct err *err)
{
	struct rd *r = &reader->rd;

	if (rd_left(r) == 0)
		return CALLSTACK_END;
	uint32_t kind = rd_u32(r);
	if (kind == CALLSTACK_SPACE && read_space(r, space)) {
		reader->nspace++;
		return CALLSTACK_SPACE;
	}
	if (kind == CALLSTACK_SAMPLE && read_sample(reader, r, sample)) {
		reader->nread++;
		return CALLSTACK_SAMPLE;
	}
	return err_set(err, ERR_INPUT, "what follows sample %llu is malformed or cut short",
		       (unsigned long long)reader->nread);
}

bool callstack_mapping_at(struct bytes space, uint64_t addr, struct callstack_mapping *out)
{
	uint64_t n = space.n / CALLSTACK_MAPPING;
	uint64_t k = search_first(i, 0, n, mapping(space, i).end <= addr);

	if (k == n)
		return false;
	*out = mapping(space, k);
	return addr >= out->start;
}

/* --- the answer --- */

void callstack_write(const struct callstack *c, struct wr *out)
{
	wr_u32(out, c->end);
	wr_u32(out, c->guessed);
	wr_u32(out, c->n);
	for (uint32_t i = 0; i < c->n; i++)
		wr_u64(out, c->addr[i]);
}

bool callstack_take(struct rd *r, struct callstack *out)
{
	if (rd_left(r) == 0)
		return false;
	uint32_t end = rd_u32(r);
	uint32_t guessed = rd_u32(r);
	out->n = rd_u32(r);
	if (end >= NCALLSTACK_END || guessed > 1 || out->n == 0 || out->n > CALLSTACK_DEPTH_MAX)
		r->bad = true;
	out->end = (enum callstack_end)end;
	out->guessed = guessed;
	for (uint32_t i = 0; i < out->n && !r->bad; i++)
		out->addr[i] = rd_u64(r);
	return !r->bad;
}
