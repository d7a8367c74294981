/* spoil.h - generations of tests/asm/NAME.s in which one thing is wrong
 *
 * What makes the generation right is changed in the original, in its copy and in the image
 * alike, so that nothing else than that is wrong.
 */
#ifndef TESTS_UNIT_SPOIL_H
#define TESTS_UNIT_SPOIL_H

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/digest.h"
#include "tests/unit/asm.h"
#include "tests/unit/renewed.h"
#include "verify/verify.h"

struct spoil {
	struct arena *a;
	struct wr original, generation;		/* changed by the test */
	struct image orig, gen;			/* as they were */
	struct blockmap map;
};

static inline struct spoil spoil_make_with(const char *name, const char *flags,
					   struct edit_options options)
{
	struct spoil m = { .a = arena_new() };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	struct err err;
	struct bytes o = asm_build(name, flags, m.a);

	wr_raw(&m.original, o.p, o.n);
	if (edit_optimize(o, NULL, &options, m.a, &m.generation, &map, &stats, &err) < 0 ||
	    image_parse(o, m.a, &m.orig, &err) < 0 ||
	    image_parse(wr_bytes(&m.generation), m.a, &m.gen, &err) < 0 ||
	    blockmap_read(wr_bytes(&map), &m.map, &err) < 0)
		fail_msg("%s", err.text);
	wr_free(&map);
	return m;
}

static inline struct spoil spoil_make_as(const char *name, const char *flags, uint64_t seed)
{
	return spoil_make_with(name, flags,
			       (struct edit_options){ .all = true,
						      .shuffle = true, .seed = seed,
						      .generation = 1,
						      .keep_pointers = true });
}

static inline struct spoil spoil_make(const char *name, uint64_t seed)
{
	return spoil_make_as(name, "-shared", seed);
}

static inline vaddr spoil_address(const struct spoil *m, const char *name)
{
	const struct section *symbols = image_section(&m->orig, ".symtab");
	const struct section *names = image_section(&m->orig, ".strtab");
	struct bytes file = m->orig.file;
	struct rd r = rd_of(bytes_at(file, symbols->h.sh_offset, symbols->h.sh_size));

	while (rd_left(&r)) {
		uint32_t at = rd_u32(&r);
		(void)rd_u32(&r);
		vaddr value = rd_u64(&r);
		(void)rd_u64(&r);
		struct rd s =
			rd_of(bytes_at(file, names->h.sh_offset + at, names->h.sh_size - at));
		if (strcmp(rd_str(&s), name) == 0)
			return value;
	}
	fail_msg("no symbol %s", name);
	return 0;
}

/* Instruction number n of a function. */
static inline vaddr spoil_insn(const struct spoil *m, const char *function, unsigned n)
{
	vaddr at = spoil_address(m, function), target;
	struct insn insn;

	for (; n > 0; n--, at += insn.len)
		assert_true(insn_decode(image_rest(&m->orig, at), at, &insn, &target));
	return at;
}

static inline new_vaddr spoil_image(const struct spoil *m, vaddr addr)
{
	const struct blockmap_block *b = blockmap_find_orig(&m->map, addr);

	assert_non_null(b);
	return blockmap_gen_of(&m->map, b, addr);
}

static inline uint8_t *spoil_original(struct spoil *m, vaddr addr)
{
	return m->original.p + (image_rest(&m->orig, addr).p - m->orig.file.p);
}

static inline uint8_t *spoil_generation(struct spoil *m, vaddr addr)
{
	return m->generation.p + (image_rest(&m->gen, addr).p - m->gen.file.p);
}

/* A byte of the instruction at `addr`, which begins with no prefix of that kind, in the
 * original, in its copy and, behind the prefixes that it has in front, in its image. */
static inline void spoil_change(struct spoil *m, vaddr addr, unsigned at, uint8_t from,
				uint8_t to)
{
	uint8_t *image = spoil_generation(m, spoil_image(m, addr));

	while (*image == INSN_FRONT)
		image++;
	uint8_t *p[] = { spoil_original(m, addr) + at, spoil_generation(m, addr) + at,
			 image + at };

	for (int i = 0; i < 3; i++) {
		if (*p[i] != from && !(i == 2 && *p[i] == (from | 0x80)))
			fail_msg("byte %u at %#llx is %#x", at, (unsigned long long)addr,
				 *p[i]);
		*p[i] ^= from ^ to;
	}
}

/* The map says that the new table, one of the map's, has fewer entries, and it has. */
static inline void spoil_cut(struct spoil *m, const struct blockmap_table *table,
			     uint32_t nentry)
{
	struct blockmap_table *t = &m->map.table[table - m->map.table];
	const struct section *s = image_section(&m->gen, ".morph.map");
	uint32_t size = blockmap_entry_size(t->kind);
	struct wr map = { 0 };

	memset(spoil_generation(m, t->new_addr) + nentry * size, 0,
	       (t->nentry - nentry) * (uint64_t)size);
	t->nentry = nentry;
	blockmap_write(&m->map, &map);
	assert_int_equal(map.n, s->h.sh_size);
	memcpy(m->generation.p + s->h.sh_offset, map.p, map.n);
	wr_free(&map);
}

/* Accepted (NULL), or refused with that in the sentence.  Frees it. */
static inline void spoil_expect(struct spoil *m, const char *why)
{
	enum { DIGEST_OFF = 16 };
	const struct section *map = image_section(&m->gen, ".morph.map");
	struct digest d = digest_of(wr_bytes(&m->original));
	struct verify_stats stats;
	struct err err;

	bool fits = renewed_fits(m->orig.file, m->generation.p, m->generation.n);
	memcpy(m->generation.p + map->h.sh_offset + DIGEST_OFF, d.b, sizeof(d.b));
	if (fits)
		renewed_set(wr_bytes(&m->original), m->generation.p, m->generation.n);
	int rc = verify_generation(wr_bytes(&m->original), wr_bytes(&m->generation), m->a,
				   &stats, &err);
	if (!why && rc < 0)
		fail_msg("refused: %s", err.text);
	if (why && rc == 0)
		fail_msg("accepted");
	if (why && !strstr(err.text, why))
		fail_msg("refused for another reason: %s", err.text);
	blockmap_free(&m->map);
	wr_free(&m->original);
	wr_free(&m->generation);
	arena_free(m->a);
}

#endif
