/* table_code.c - writes and reads block tables in the code of table_code.h
 *
 * The numbers of a kind lie together, as a column, so that libzstd finds what is alike: the
 * blocks of one template's functions, say, have the same sizes.  An older version wrote all of
 * them as a row of bits; these are read, too.
 *
 * Tested by tests/unit/manager/store/test_table_code.c.
 */
#include "manager/store/table_code.h"

#include <stdlib.h>

#include "lib/err.h"
#include "manager/store/gamma.h"
#include "manager/store/packed.h"

enum { FORM_BITS = 1, FORM_COLUMNS = 2 };
enum { BITS_A_BLOCK = 4, BITS_A_FUNCTION = 3 };	/* at least */
enum { COLUMNS_MAX = 1 << 28 };			/* bytes of all, chosen: 60 million blocks */

/* Numbers are 1 or more. */
enum column { ENTRY, FN_SIZE, REASON, GAP, SIZE, NINSN, FN, NCOLUMN };

/* --- writing --- */

struct columns {
	struct wr of[NCOLUMN];
};

/* b, which is near a. */
static bool put_near(struct columns *o, enum column c, uint64_t a, uint64_t b)
{
	uint64_t far = b >= a ? b - a : a - b;

	if (far >> 62)
		return false;
	wr_uleb(&o->of[c], b >= a ? 2 * far + 1 : 2 * far);
	return true;
}

static bool put_functions(const struct blocktable *t, struct columns *o)
{
	uint64_t at = t->base;

	for (uint32_t i = 0; i < t->nfn; i++) {
		if (!put_near(o, ENTRY, at, t->fn[i].entry))
			return false;
		wr_uleb(&o->of[FN_SIZE], (uint64_t)t->fn[i].size + 1);
		wr_uleb(&o->of[REASON], (uint64_t)t->fn[i].reason + 1);
		at = t->fn[i].entry + t->fn[i].size;
	}
	return true;
}

static bool put_blocks(const struct blocktable *t, struct columns *o)
{
	uint64_t end = 0;
	uint32_t fn = 0;

	for (uint32_t i = 0; i < t->nblock; i++) {
		const struct blocktable_block *b = &t->block[i];

		if (b->off < end || !b->size)
			return false;
		wr_uleb(&o->of[GAP], b->off - end + 1);
		wr_uleb(&o->of[SIZE], b->size);
		if (!put_near(o, NINSN, b->size / 4, b->ninsn) || !put_near(o, FN, fn, b->fn))
			return false;
		end = (uint64_t)b->off + b->size;
		fn = b->fn;
	}
	return true;
}

/* Packs them and lets go of them. */
static bool put_columns(struct columns *o, struct wr *out)
{
	struct wr all = { 0 };
	size_t before = out->n;

	for (int c = 0; c < NCOLUMN; c++)
		wr_u64(&all, o->of[c].n);
	for (int c = 0; c < NCOLUMN; c++) {
		if (o->of[c].n)
			wr_raw(&all, o->of[c].p, o->of[c].n);
		wr_free(&o->of[c]);
	}
	if (all.n <= COLUMNS_MAX)
		packed_write(wr_bytes(&all), out);
	wr_free(&all);
	return out->n > before;
}

bool table_code_write(const struct blocktable *t, struct wr *out)
{
	size_t start = out->n;
	struct columns o = { 0 };

	wr_u8(out, FORM_COLUMNS);
	wr_u64(out, t->base);
	wr_u64(out, t->text_size);
	wr_u32(out, t->nseg);
	wr_u32(out, t->nfn);
	wr_u32(out, t->nblock);
	blockmap_segs_write(t->seg, t->nseg, out);
	bool can = put_functions(t, &o) && put_blocks(t, &o);
	if (!put_columns(&o, out) || !can) {
		out->n = start;
		return false;
	}
	return true;
}

/* --- reading --- */

bool table_code_is(struct bytes b)
{
	return b.n && (b.p[0] == FORM_BITS || b.p[0] == FORM_COLUMNS);
}

struct numbers {
	bool are_bits;
	struct gamma_in bits;
	struct rd column[NCOLUMN];
};

/* The next one of a column; 0: malformed, or the end. */
static uint64_t get(struct numbers *in, enum column c)
{
	return in->are_bits ? gamma_get(&in->bits) : rd_uleb(&in->column[c]);
}

static bool is_at_end(const struct numbers *in)
{
	if (in->are_bits)
		return gamma_at_end(&in->bits);
	for (int c = 0; c < NCOLUMN; c++)
		if (in->column[c].bad || rd_left(&in->column[c]))
			return false;
	return true;
}

/* What is near a; false: malformed. */
static bool get_near(struct numbers *in, enum column c, uint64_t a, uint64_t *out)
{
	uint64_t v = get(in, c);

	*out = v & 1 ? a + v / 2 : a - v / 2;
	return v != 0;
}

static bool get_u32(struct numbers *in, enum column c, uint64_t less, uint32_t *out)
{
	uint64_t v = get(in, c);

	*out = (uint32_t)(v - less);
	return v >= 1 && v - less <= UINT32_MAX;
}

static bool get_functions(struct numbers *in, struct blocktable *t)
{
	uint64_t at = t->base;

	for (uint32_t i = 0; i < t->nfn; i++) {
		struct blocktable_fn *f = &t->fn[i];

		if (!get_near(in, ENTRY, at, &f->entry) ||
		    !get_u32(in, FN_SIZE, 1, &f->size) ||
		    !get_u32(in, REASON, 1, &f->reason) ||
		    (i && f->entry <= t->fn[i - 1].entry))
			return false;
		at = f->entry + f->size;
	}
	return true;
}

static bool get_blocks(struct numbers *in, struct blocktable *t)
{
	uint64_t end = 0, fn = 0;

	for (uint32_t i = 0; i < t->nblock; i++) {
		struct blocktable_block *b = &t->block[i];
		uint64_t ninsn;
		uint32_t gap;

		if (!get_u32(in, GAP, 1, &gap) || !get_u32(in, SIZE, 0, &b->size) ||
		    !get_near(in, NINSN, b->size / 4, &ninsn) || !get_near(in, FN, fn, &fn) ||
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

/* Before anything is allocated by what the table says of itself. */
static bool have_room(const struct numbers *in, const struct blocktable *t)
{
	uint64_t bits = (uint64_t)t->nfn * BITS_A_FUNCTION + (uint64_t)t->nblock * BITS_A_BLOCK;

	if (in->are_bits)
		return bits <= in->bits.n;
	for (int c = 0; c < NCOLUMN; c++)
		if (rd_left(&in->column[c]) < (c < GAP ? t->nfn : t->nblock))
			return false;
	return true;
}

static int read_numbers(struct numbers *in, struct blocktable *t, struct err *err)
{
	if (!have_room(in, t))
		return err_set(err, ERR_INPUT, "fewer numbers than its counts say");
	t->fn = calloc((size_t)t->nfn + 1, sizeof(*t->fn));
	t->block = calloc((size_t)t->nblock + 1, sizeof(*t->block));
	if (!t->fn || !t->block)
		return err_set(err, ERR_SYS, "out of memory");
	if (!get_functions(in, t) || !get_blocks(in, t) || !is_at_end(in))
		return err_set(err, ERR_INPUT, "its numbers are malformed");
	return 0;
}

static int read_bits(struct bytes b, struct blocktable *t, struct err *err)
{
	struct numbers in = { .are_bits = true, .bits = gamma_of(b) };

	return read_numbers(&in, t, err);
}

static int read_columns(struct bytes b, struct blocktable *t, struct err *err)
{
	struct numbers in = { .are_bits = false };
	struct wr all = { 0 };
	uint64_t size[NCOLUMN];
	bool ok = packed_read(b, COLUMNS_MAX, &all);
	struct rd r = rd_of(wr_bytes(&all));

	for (int c = 0; c < NCOLUMN; c++)
		size[c] = rd_u64(&r);
	for (int c = 0; c < NCOLUMN; c++) {
		const uint8_t *p = rd_skip(&r, size[c]);

		in.column[c] = rd_of((struct bytes){ p, p ? size[c] : 0 });
	}
	int rc = ok && !r.bad && !rd_left(&r) ? read_numbers(&in, t, err) :
		 err_set(err, ERR_INPUT, "its columns are malformed");
	wr_free(&all);
	return rc;
}

int table_code_read(struct bytes b, const struct digest *original, struct blocktable *out,
		    struct err *err)
{
	struct blocktable t = { .original = *original };
	struct rd r = rd_of(b);
	uint8_t form = rd_u8(&r);
	int rc = -1;

	t.base = rd_u64(&r);
	t.text_size = rd_u64(&r);
	t.nseg = rd_u32(&r);
	t.nfn = rd_u32(&r);
	t.nblock = rd_u32(&r);
	if (!table_code_is(b) || r.bad || t.base > UINT64_MAX - UINT32_MAX)
		err_set(err, ERR_INPUT, "its head is malformed");
	else if (blockmap_segs_read(&r, t.nseg, &t.seg, err) == 0)
		rc = (form == FORM_BITS ? read_bits : read_columns)(
			(struct bytes){ r.p, rd_left(&r) }, &t, err);
	if (rc < 0) {
		blocktable_free(&t);
		return err_wrap(err, "block table");
	}
	*out = t;
	return 0;
}
