/* signature.c - encoding and checking of signatures
 *
 * What is read was written by a confined job and kept by others since, so reading checks
 * everything: counts against the bytes that are there, order, indices and bounds.
 */
#include "editor/inherit/signature.h"

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/search.h"

static const char magic[8] = { 'M', 'O', 'R', 'P', 'H', 'S', 'I', 'G' };

enum { VERSION = 1, FN_SIZE = 28, BLOCK_SIZE = 32, CALL_SIZE = 16, WORD_SIZE = 4 };

void signature_write(const struct signature *s, struct wr *out)
{
	wr_raw(out, magic, sizeof(magic));
	wr_u32(out, VERSION);
	wr_raw(out, s->original.b, sizeof(s->original.b));
	wr_u64(out, s->base);
	wr_u32(out, s->nfn);
	wr_u32(out, s->nblock);
	wr_u32(out, s->ncall);
	wr_u32(out, s->nword);
	for (uint32_t i = 0; i < s->nfn; i++) {
		wr_u64(out, s->fn[i].entry);
		wr_u64(out, s->fn[i].name);
		wr_u32(out, s->fn[i].nblock);
		wr_u32(out, s->fn[i].ncall);
		wr_u32(out, s->fn[i].nword);
	}
	for (uint32_t i = 0; i < s->nblock; i++) {
		const struct signature_block *b = &s->block[i];

		wr_u32(out, b->off);
		wr_u32(out, b->ninsn);
		wr_u32(out, b->fall);
		wr_u32(out, b->taken);
		wr_u32(out, b->exact);
		wr_u32(out, b->loose);
		wr_u32(out, b->rough);
		wr_u32(out, b->label);
	}
	for (uint32_t i = 0; i < s->ncall; i++) {
		wr_u32(out, s->call[i].off);
		wr_u32(out, s->call[i].block);
		wr_u32(out, s->call[i].callee);
		wr_u32(out, s->call[i].import);
	}
	for (uint32_t i = 0; i < s->nword; i++)
		wr_u32(out, s->word[i]);
}

static int read_header(struct rd *r, struct signature *s, struct err *err)
{
	const uint8_t *m = rd_skip(r, sizeof(magic));

	if (!m || memcmp(m, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_INPUT, "not a signature");
	uint32_t version = rd_u32(r);
	if (!r->bad && version != VERSION)
		return err_set(err, ERR_INPUT,
			       "signature of version %u, this program reads %d", version,
			       VERSION);
	const uint8_t *digest = rd_skip(r, sizeof(s->original.b));
	if (digest)
		memcpy(s->original.b, digest, sizeof(s->original.b));
	s->base = rd_u64(r);
	s->nfn = rd_u32(r);
	s->nblock = rd_u32(r);
	s->ncall = rd_u32(r);
	s->nword = rd_u32(r);
	if (r->bad)
		return err_set(err, ERR_INPUT, "header is cut off");
	if (s->base > UINT64_MAX - UINT32_MAX)
		return err_set(err, ERR_INPUT, "text wraps around the address space");
	if (rd_left(r) != (uint64_t)s->nfn * FN_SIZE + (uint64_t)s->nblock * BLOCK_SIZE +
			  (uint64_t)s->ncall * CALL_SIZE + (uint64_t)s->nword * WORD_SIZE)
		return err_set(err, ERR_INPUT,
			       "%llu bytes of records are not what its counts say",
			       (unsigned long long)rd_left(r));
	return 0;
}

static int read_fns(struct rd *r, struct signature *s, struct err *err)
{
	uint32_t nblock = 0, ncall = 0, nword = 0;

	for (uint32_t i = 0; i < s->nfn; i++) {
		struct signature_fn *fn = &s->fn[i];

		fn->entry = rd_u64(r);
		fn->name = rd_u64(r);
		fn->nblock = rd_u32(r);
		fn->ncall = rd_u32(r);
		fn->nword = rd_u32(r);
		if (i && fn->entry <= s->fn[i - 1].entry)
			return err_set(err, ERR_INPUT, "function %u is out of order", i);
		if (fn->nblock > s->nblock - nblock || fn->ncall > s->ncall - ncall ||
		    fn->nword > s->nword - nword)
			return err_set(err, ERR_INPUT,
				       "function %u has more blocks, calls or words than are "
				       "left", i);
		fn->block = nblock;
		fn->call = ncall;
		fn->word = nword;
		nblock += fn->nblock;
		ncall += fn->ncall;
		nword += fn->nword;
	}
	if (nblock != s->nblock || ncall != s->ncall || nword != s->nword)
		return err_set(err, ERR_INPUT, "blocks, calls or words are of no function");
	return 0;
}

static int read_blocks(struct rd *r, const struct signature *s, const struct signature_fn *fn,
		       struct err *err)
{
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct signature_block *b = &s->block[fn->block + i];

		b->off = rd_u32(r);
		b->ninsn = rd_u32(r);
		b->fall = rd_u32(r);
		b->taken = rd_u32(r);
		b->exact = rd_u32(r);
		b->loose = rd_u32(r);
		b->rough = rd_u32(r);
		b->label = rd_u32(r);
		if (b->label > fn->nblock)
			return err_set(err, ERR_INPUT, "block %u is a label too many",
				       fn->block + i);
		if (b->ninsn == 0 || (b->fall != SIGNATURE_NONE && b->fall >= fn->nblock) ||
		    (b->taken != SIGNATURE_NONE && b->taken >= fn->nblock))
			return err_set(err, ERR_INPUT,
				       "block %u is empty or leads out of its function",
				       fn->block + i);
	}
	return 0;
}

static int read_calls(struct rd *r, const struct signature *s, const struct signature_fn *fn,
		      struct err *err)
{
	for (uint32_t i = 0; i < fn->ncall; i++) {
		struct signature_call *c = &s->call[fn->call + i];

		c->off = rd_u32(r);
		c->block = rd_u32(r);
		c->callee = rd_u32(r);
		c->import = rd_u32(r);
		if (c->block >= fn->nblock || (i && c->block < c[-1].block) ||
		    (c->callee != SIGNATURE_NONE && c->callee >= s->nfn))
			return err_set(err, ERR_INPUT,
				       "call %u is out of order, or of no block or function",
				       fn->call + i);
	}
	return 0;
}

static int read_words(struct rd *r, const struct signature *s, const struct signature_fn *fn,
		      struct err *err)
{
	for (uint32_t i = 0; i < fn->nword; i++) {
		uint32_t *word = &s->word[fn->word + i];

		*word = rd_u32(r);
		if (i && *word <= word[-1])
			return err_set(err, ERR_INPUT, "word %u is out of order", fn->word + i);
	}
	return 0;
}

int signature_read(struct bytes bytes, struct arena *a, struct signature *out, struct err *err)
{
	struct signature s = { 0 };
	struct rd r = rd_of(bytes);

	if (read_header(&r, &s, err) < 0)
		return err_wrap(err, "signature");
	s.fn = arena_array(a, s.nfn, sizeof(*s.fn));
	s.block = arena_array(a, s.nblock, sizeof(*s.block));
	s.call = arena_array(a, s.ncall, sizeof(*s.call));
	s.word = arena_array(a, s.nword, sizeof(*s.word));
	int rc = read_fns(&r, &s, err);
	for (uint32_t i = 0; rc == 0 && i < s.nfn; i++)
		rc = read_blocks(&r, &s, &s.fn[i], err);
	for (uint32_t i = 0; rc == 0 && i < s.nfn; i++)
		rc = read_calls(&r, &s, &s.fn[i], err);
	for (uint32_t i = 0; rc == 0 && i < s.nfn; i++)
		rc = read_words(&r, &s, &s.fn[i], err);
	if (rc < 0)
		return err_wrap(err, "signature");
	*out = s;
	return 0;
}

uint32_t signature_calls(const struct signature *s, const struct signature_fn *fn, uint32_t b,
			 uint32_t *first)
{
	const struct signature_call *c = &s->call[fn->call];

	*first = fn->call + search_first(i, 0, fn->ncall, c[i].block < b);
	return fn->call + search_first(i, 0, fn->ncall, c[i].block <= b) - *first;
}
