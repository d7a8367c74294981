/* statesample.c - reads and writes streams of samples with registers, stack and memory
 *
 * A record says its size twice, as a whole and by the lengths of its parts, and both must
 * agree: a reader that lost its place notices at once.
 */
#include "lib/statesample.h"

#include <assert.h>

#include "lib/err.h"

static const char magic[STATESAMPLE_HEADER] = "MSTATE02";

void statesample_write_header(struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
}

void statesample_write(const struct statesample *s, struct wr *out)
{
	assert(s->stack.n <= STATESAMPLE_STACK_MAX && s->memory.n <= STATEMEMORY_MAX);
	wr_u32(out, STATESAMPLE_FIXED + (uint32_t)(s->stack.n + s->memory.n));
	wr_u32(out, 0);
	wr_u64(out, s->pc);
	wr_u64(out, s->bias);
	wr_u64(out, s->rflags);
	for (int i = 0; i < STATESAMPLE_GPRS; i++)
		wr_u64(out, s->gpr[i]);
	wr_u32(out, (uint32_t)s->stack.n);
	wr_u32(out, (uint32_t)s->memory.n);
	if (s->stack.n)
		wr_raw(out, s->stack.p, (size_t)s->stack.n);
	if (s->memory.n)
		wr_raw(out, s->memory.p, (size_t)s->memory.n);
}

int statesample_open(struct bytes stream, struct statesample_reader *out, struct err *err)
{
	struct rd rd = rd_of(stream);
	const uint8_t *head = rd_skip(&rd, STATESAMPLE_HEADER);

	if (!head || memcmp(head, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_INPUT, "not a stream of state samples");
	*out = (struct statesample_reader){ rd, 0 };
	return 0;
}

int statesample_read(struct statesample_reader *r, struct statesample *out, struct err *err)
{
	struct statesample s = { 0 };
	struct rd rd = r->rd;

	if (rd_left(&rd) == 0)
		return 0;
	uint32_t size = rd_u32(&rd), flags = rd_u32(&rd);
	s.pc = rd_u64(&rd);
	s.bias = rd_u64(&rd);
	s.rflags = rd_u64(&rd);
	for (int i = 0; i < STATESAMPLE_GPRS; i++)
		s.gpr[i] = rd_u64(&rd);
	uint32_t stack = rd_u32(&rd), memory = rd_u32(&rd);
	s.stack = (struct bytes){ rd_skip(&rd, stack), stack };
	s.memory = (struct bytes){ rd_skip(&rd, memory), memory };
	if (rd.bad || stack > STATESAMPLE_STACK_MAX || memory > STATEMEMORY_MAX || flags != 0 ||
	    size != STATESAMPLE_FIXED + stack + memory)
		return err_set(err, ERR_INPUT, "state sample %llu is malformed or cut short",
			       (unsigned long long)r->nread + 1);
	r->rd = rd;
	r->nread++;
	*out = s;
	return 1;
}
