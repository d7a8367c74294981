/* branchcounts.c - writes and reads the stream of branchcounts.h */
#include "lib/branchcounts.h"

#include "lib/err.h"

static const char magic[8] = { 'M', 'B', 'R', 'A', 'N', 'C', 'H', '1' };

void branchcounts_write_header(struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
}

void branchcounts_write(const struct branchcount *b, struct wr *out)
{
	wr_u64(out, b->from);
	wr_u64(out, b->to);
	wr_u64(out, b->count << 1 | b->run);
}

bool branchcounts_is(struct bytes stream)
{
	return stream.n >= sizeof(magic) && memcmp(stream.p, magic, sizeof(magic)) == 0;
}

int branchcounts_open(struct bytes stream, struct branchcounts_reader *out, struct err *err)
{
	if (!branchcounts_is(stream))
		return err_set(err, ERR_INPUT, "not a stream of branch counts");
	*out = (struct branchcounts_reader){ .rd = rd_of(stream) };
	(void)rd_skip(&out->rd, sizeof(magic));
	return 0;
}

int branchcounts_read(struct branchcounts_reader *r, struct branchcount *out, struct err *err)
{
	if (rd_left(&r->rd) == 0)
		return 0;
	struct branchcount b = { .from = rd_u64(&r->rd) };
	b.to = rd_u64(&r->rd);
	uint64_t count = rd_u64(&r->rd);
	if (r->rd.bad)
		return err_set(err, ERR_INPUT,
			       "the stream of branch counts ends in record %llu",
			       (unsigned long long)r->nread);
	r->nread++;
	b.count = count >> 1;
	b.run = count & 1;
	*out = b;
	return 1;
}
