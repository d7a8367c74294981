/* table_code.c - writes and reads block tables in the code of table_code.h
 *
 * Tested by tests/unit/manager/store/test_table_code.c.
 */
#include "manager/store/table_code.h"

#include <stdlib.h>

#include "lib/err.h"
#include "manager/store/gamma.h"

enum { FORM = 1, BITS_A_BLOCK = 4, BITS_A_FUNCTION = 3 };	/* at least */

/* --- writing --- */

/* b, which is near a. */
static bool put_near(struct gamma_out *o, uint64_t a, uint64_t b)
{
	uint64_t far = b >= a ? b - a : a - b;

	if (far >> 62)
		return false;
	gamma_put(o, b >= a ? 2 * far + 1 : 2 * far);
	return true;
}

static bool put_functions(const struct blocktable *t, struct gamma_out *o)
{
	uint64_t at = t->base;

	for (uint32_t i = 0; i < t->nfn; i++) {
		if (!put_near(o, at, t->fn[i].entry))
			return false;
		gamma_put(o, (uint64_t)t->fn[i].size + 1);
		gamma_put(o, (uint64_t)t->fn[i].reason + 1);
		at = t->fn[i].entry + t->fn[i].size;
	}
	return true;
}

static bool put_blocks(const struct blocktable *t, struct gamma_out *o)
{
	uint64_t end = 0;
	uint32_t fn = 0;

	for (uint32_t i = 0; i < t->nblock; i++) {
		const struct blocktable_block *b = &t->block[i];

		if (b->off < end || !b->size)
			return false;
		gamma_put(o, b->off - end + 1);
		gamma_put(o, b->size);
		if (!put_near(o, b->size / 4, b->ninsn) || !put_near(o, fn, b->fn))
			return false;
		end = (uint64_t)b->off + b->size;
		fn = b->fn;
	}
	return true;
}

bool table_code_write(const struct blocktable *t, struct wr *out)
{
	size_t start = out->n;
	struct gamma_out o = { .w = out };

	wr_u8(out, FORM);
	wr_u64(out, t->base);
	wr_u64(out, t->text_size);
	wr_u32(out, t->nseg);
	wr_u32(out, t->nfn);
	wr_u32(out, t->nblock);
	blockmap_segs_write(t->seg, t->nseg, out);
	if (!put_functions(t, &o) || !put_blocks(t, &o)) {
		out->n = start;
		return false;
	}
	gamma_end(&o);
	return true;
}

/* --- reading --- */

bool table_code_is(struct bytes b)
{
	return b.n && b.p[0] == FORM;
}

/* What is near a; false: malformed. */
static bool get_near(struct gamma_in *in, uint64_t a, uint64_t *out)
{
	uint64_t v = gamma_get(in);

	*out = v & 1 ? a + v / 2 : a - v / 2;
	return v != 0;
}

static bool get_u32(struct gamma_in *in, uint64_t less, uint32_t *out)
{
	uint64_t v = gamma_get(in);

	*out = (uint32_t)(v - less);
	return v >= 1 && v - less <= UINT32_MAX;
}

static bool get_functions(struct gamma_in *in, struct blocktable *t)
{
	uint64_t at = t->base;

	for (uint32_t i = 0; i < t->nfn; i++) {
		struct blocktable_fn *f = &t->fn[i];

		if (!get_near(in, at, &f->entry) || !get_u32(in, 1, &f->size) ||
		    !get_u32(in, 1, &f->reason) ||
		    (i && f->entry <= t->fn[i - 1].entry))
			return false;
		at = f->entry + f->size;
	}
	return true;
}

static bool get_blocks(struct gamma_in *in, struct blocktable *t)
{
	uint64_t end = 0, fn = 0;

	for (uint32_t i = 0; i < t->nblock; i++) {
		struct blocktable_block *b = &t->block[i];
		uint64_t ninsn;
		uint32_t gap;

		if (!get_u32(in, 1, &gap) || !get_u32(in, 0, &b->size) ||
		    !get_near(in, b->size / 4, &ninsn) || !get_near(in, fn, &fn) ||
		    end + gap + b->size > UINT32_MAX || ninsn < 1 || ninsn > UINT32_MAX ||
		    fn >= t->nfn)
			return false;
		b->off = (uint32_t)(end + gap);
		b->ninsn = (uint32_t)ninsn;
		b->fn = (uint32_t)fn;
		end = (uint64_t)b->off + b->size;
	}
	return true;
}

static int read_bits(struct bytes bits, struct blocktable *t, struct err *err)
{
	struct gamma_in in = gamma_of(bits);

	/* before anything is allocated by what it says of itself */
	if ((uint64_t)t->nfn * BITS_A_FUNCTION + (uint64_t)t->nblock * BITS_A_BLOCK > in.n)
		return err_set(err, ERR_INPUT, "fewer bits than its counts say");
	t->fn = calloc((size_t)t->nfn + 1, sizeof(*t->fn));
	t->block = calloc((size_t)t->nblock + 1, sizeof(*t->block));
	if (!t->fn || !t->block)
		return err_set(err, ERR_SYS, "out of memory");
	if (!get_functions(&in, t) || !get_blocks(&in, t) || !gamma_at_end(&in))
		return err_set(err, ERR_INPUT, "its bits are malformed");
	return 0;
}

int table_code_read(struct bytes b, const struct digest *original, struct blocktable *out,
		    struct err *err)
{
	struct blocktable t = { .original = *original };
	struct rd r = rd_of(b);
	int rc = -1;

	if (rd_u8(&r) != FORM)
		err_set(err, ERR_INPUT, "another form");
	t.base = rd_u64(&r);
	t.text_size = rd_u64(&r);
	t.nseg = rd_u32(&r);
	t.nfn = rd_u32(&r);
	t.nblock = rd_u32(&r);
	if (r.bad || t.base > UINT64_MAX - UINT32_MAX)
		err_set(err, ERR_INPUT, "its head is malformed");
	else if (table_code_is(b) && blockmap_segs_read(&r, t.nseg, &t.seg, err) == 0)
		rc = read_bits((struct bytes){ r.p, rd_left(&r) }, &t, err);
	if (rc < 0) {
		blocktable_free(&t);
		return err_wrap(err, "block table");
	}
	*out = t;
	return 0;
}
