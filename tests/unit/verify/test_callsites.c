/* test_callsites.c - the Verifier's own reading of exception tables, on records made by hand
 *
 * Original code stands at OTEXT, its exception table at OLSDA; new text at GTEXT, new tables at
 * GLSDA.  The blocks at OPAD and OPAD2 have images at GPAD and GPAD2.  One instruction of the
 * original, at OTEXT + 0x10, is compared with its image at GTEXT + 0x20.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "verify/parts.h"

enum {
	OTEXT = 0x1000, OPAD = 0x1080, OPAD2 = 0x10a0, OLSDA = 0x1800, OEND = 0x2000,
	GTEXT = 0x3000, GPAD = 0x3080, GPAD2 = 0x30a0, GLSDA = 0x3800, GEND = 0x4000,
	O = OTEXT + 0x10, G = GTEXT + 0x20, LEN = 5, TYPE = 0x1f00, TYPE2 = 0x1f40,
	OMIT = 0xff, ULEB = 0x01, UDATA4 = 0x03, PCREL4 = 0x1b, FUNCREL4 = 0x4b,
	INDIRECT4 = 0x9b,
};

struct world {
	struct verify v;
	struct err err;
	struct vcie cie;
	struct section sh[3];
	struct vfde ofde, gfde;
	struct blockmap_block block[2];
	uint32_t by_orig[2];
	bool open, fragment;
	Elf64_Phdr ph[2], *fresh;
	uint8_t file[GEND - OTEXT], cut[(GEND - OTEXT) / 8];
};

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct world *world_new(void)
{
	struct world *w = arena_alloc(arena, sizeof(*w));
	struct verify *v = &w->v;

	w->ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = OTEXT,
				 .p_filesz = OEND - OTEXT, .p_memsz = OEND - OTEXT };
	w->ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = GTEXT,
				 .p_offset = GTEXT - OTEXT, .p_filesz = GEND - GTEXT,
				 .p_memsz = GEND - GTEXT };
	w->fresh = &w->ph[1];
	w->block[0] = (struct blockmap_block){ GPAD - GTEXT, 8, OPAD - OTEXT, 8, false };
	w->block[1] = (struct blockmap_block){ GPAD2 - GTEXT, 8, OPAD2 - OTEXT, 8, false };
	w->by_orig[1] = 1;
	w->ofde = (struct vfde){ .addr = OTEXT, .len = 0x100, .lsda = OLSDA };
	w->gfde = (struct vfde){ .addr = GTEXT, .len = 0x100, .lsda = GLSDA };
	memset(w->file + OPAD - OTEXT, 0xcc, 0x40);
	*v = (struct verify){
		.a = arena, .err = &w->err, .walk = { .cut = w->cut },
		.file = { .fresh = arena_array(arena, 1, sizeof(*v->file.fresh)), .nfresh = 1 },
		.pointers = { .open = &w->open },
		.orig = { .file = { w->file, OEND - OTEXT }, .ph = w->ph, .nph = 1,
			  .eh = { .e_type = ET_DYN } },
		.gen = { .file = { w->file, GEND - OTEXT }, .ph = w->ph, .nph = 2,
			 .eh = { .e_type = ET_DYN } },
		.map = { .orig_base = OTEXT, .gen_base = GTEXT, .hot_size = 0x100,
			 .nblock = 2, .block = w->block, .by_orig = w->by_orig },
		.ocfi = { .cie = &w->cie, .ncie = 1, .fde = &w->ofde, .nfde = 1,
			  .fragment = &w->fragment },
		.gcfi = { .fde = &w->gfde, .nfde = 1 },
	};
	v->file.fresh[0] = w->fresh;
	return w;
}

struct table {			/* what an LSDA says; written by put() */
	vaddr pads;		/* explicit LPStart, 0: omitted */
	bool from_start;	/* there is one, `distance` from the function */
	int32_t distance;
	uint8_t type_enc, site_enc;
	uint32_t site[4][4];	/* start, length, pad, action; as in the file */
	int nsite;
	struct bytes actions;
	vaddr type[3];		/* type 1 first */
	int ntype;
	struct bytes lists;
};

#define RAW(...) ((struct bytes){ (const uint8_t[]){ __VA_ARGS__ }, \
				  sizeof((const uint8_t[]){ __VA_ARGS__ }) })

static void put_site(struct wr *w, uint8_t enc, uint32_t n)
{
	if (enc == ULEB)
		wr_uleb(w, n);
	else
		wr_u32(w, n);
}

/* Returns of how many bytes it is. */
static uint64_t put(struct world *world, vaddr at, const struct table *t)
{
	struct wr sites = { 0 }, w = { 0 };
	uint64_t types = 4 * (uint64_t)t->ntype;

	for (int i = 0; i < t->nsite; i++) {
		for (int k = 0; k < 3; k++)
			put_site(&sites, t->site_enc, t->site[i][k]);
		wr_uleb(&sites, t->site[i][3]);
	}
	wr_u8(&w, t->from_start ? FUNCREL4 : t->pads ? PCREL4 : OMIT);
	if (t->from_start)
		wr_u32(&w, (uint32_t)t->distance);
	else if (t->pads)
		wr_u32(&w, (uint32_t)(t->pads - (at + 1)));
	wr_u8(&w, t->type_enc);
	assert_true(sites.n + t->actions.n + types < 0x70);	/* one byte each below */
	if (t->type_enc != OMIT)
		wr_uleb(&w, 2 + sites.n + t->actions.n + types);
	wr_u8(&w, t->site_enc);
	wr_uleb(&w, sites.n);
	wr_raw(&w, sites.p, sites.n);
	wr_raw(&w, t->actions.p, t->actions.n);
	for (int i = t->ntype; i-- > 0; ) {
		vaddr here = at + w.n;

		wr_u32(&w, t->type[i] == 0 ? 0 : (uint32_t)(t->type[i] -
			   ((t->type_enc & 0x70) == 0x10 ? here : 0)));
	}
	wr_raw(&w, t->lists.p, t->lists.n);
	uint64_t n = w.n;
	memcpy(world->file + (at - OTEXT), w.p, n);
	wr_free(&w);
	wr_free(&sites);
	return n;
}

static int compare_at(struct world *w, vaddr o, new_vaddr g)
{
	struct vpair c = { { .cfi = &w->v.ocfi, .fde = 0 }, { .cfi = &w->v.gcfi, .fde = 0 } };

	w->ofde.exceptions = w->gfde.exceptions = 0;
	w->v.lsda.last_site[0] = w->v.lsda.last_site[1] = NULL;
	if (verify_callsites(&w->v) < 0)
		return -1;
	return verify_exceptions(&w->v, &c, o, LEN, g, LEN);
}

/* The result of comparing the two tables at the instruction. */
static int compare(const struct table *o, const struct table *g)
{
	struct world *w = world_new();

	put(w, OLSDA, o);
	put(w, GLSDA, g);
	return compare_at(w, O, G);
}

/* Both accept nothing else: the original's with a site over O, the image's with one over G. */
#define SITE_O(pad, action) .site_enc = ULEB, .site = { { 0x10, 8, pad, action } }, .nsite = 1
#define SITE_G(pad, action) .site_enc = ULEB, .site = { { 0x20, 8, pad, action } }, .nsite = 1
#define PAD_O (OPAD - OTEXT)
#define PAD_G (GPAD - GTEXT)

static void sites_are_the_same_in_any_form(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table g = { .type_enc = OMIT, SITE_G(PAD_G, 0) };

	(void)state;
	assert_int_equal(compare(&o, &g), 0);
	g = (struct table){
		.type_enc = OMIT, .site_enc = UDATA4, .pads = GTEXT - 0x40, .nsite = 3,
		.site = { { 0, 4, 0, 0 }, { 0x20, 5, PAD_G + 0x40, 0 }, { 0x25, 9, 0, 0 } }
	};
	assert_int_equal(compare(&o, &g), 0);
	g.pads = OTEXT;
	/* original code is as good as its image */
	g.site[1][2] = PAD_O;
	assert_int_equal(compare(&o, &g), 0);
}

/* A symbol at the address of the personality routine. */
static void name_routine(struct world *w, const char *name)
{
	enum { SYMBOLS = 0x1c00, NAMES = 0x1d00, ROUTINE = 0x1040 };
	Elf64_Sym s = { .st_name = 1, .st_value = ROUTINE, .st_shndx = 1 };

	w->cie.personality = ROUTINE;
	w->v.orig.sh = w->sh;
	w->v.orig.nsh = 3;
	w->sh[1].h = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = SYMBOLS - OTEXT,
				   .sh_size = sizeof(s), .sh_link = 2 };
	w->sh[2].h = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = NAMES - OTEXT,
				   .sh_size = strlen(name) + 2 };
	memcpy(w->file + SYMBOLS - OTEXT, &s, sizeof(s));
	memcpy(w->file + NAMES + 1 - OTEXT, name, strlen(name) + 1);
}

static int compare_named(const struct table *o, const struct table *g, const char *name)
{
	struct world *w = world_new();

	put(w, OLSDA, o);
	put(w, GLSDA, g);
	name_routine(w, name);
	return compare_at(w, O, G);
}

static void routines_of_unknown_names_find_the_table_they_know(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table same = { .type_enc = OMIT, SITE_G(PAD_G, 0) };
	struct table start = { .type_enc = OMIT, SITE_G(PAD_G + 0x40, 0),
			       .pads = GTEXT - 0x40 };
	struct table words = same;

	(void)state;
	words.site_enc = UDATA4;
	assert_int_equal(compare_named(&o, &start, "_d_eh_personality"), -1);
	assert_int_equal(compare_named(&o, &words, "_d_eh_personality"), -1);
	/* in the same form, it is not the same table */
	assert_int_equal(compare_named(&o, &same, "__gdc_personality_v0"), -1);
	assert_int_equal(compare_named(&o, &same, "__gxx_personality_v0"), 0);
	o.site[0][2] = same.site[0][2] = words.site[0][2] = 0;
	assert_int_equal(compare_named(&o, &same, "__gdc_personality_v0"), 0);
	assert_int_equal(compare_named(&o, &words, "__gdc_personality_v0"), -1);
	o.site[0][2] = PAD_O;
	words.site[0][2] = PAD_G;
	assert_int_equal(compare_named(&o, &start, "__gxx_personality_v0"), 0);
	assert_int_equal(compare_named(&o, &start, ""), 0);
}

/* Where landing pads count from: from the function by nothing said (0), from a place of its own
 * (1), or from the function by a distance (2). */
static struct table counting_from(int what)
{
	static const vaddr distance = 0x40;
	struct table t = { .type_enc = OMIT, SITE_G(PAD_G, 0) };

	if (what == 1)
		t.pads = GTEXT - distance;
	t.from_start = what == 2;
	t.distance = -(int32_t)distance;
	if (what)
		t.site[0][2] += distance;
	return t;
}

static void rust_s_routine_counts_pads_from_the_function(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table away = counting_from(2), none = counting_from(2);

	(void)state;
	for (int what = 0; what < 3; what++) {
		struct table g = counting_from(what);

		assert_int_equal(compare_named(&o, &g, "rust_eh_personality"),
				 what == 1 ? -1 : 0);
		assert_int_equal(compare_named(&o, &g, "__gxx_personality_v0"),
				 what == 2 ? -1 : 0);
		assert_int_equal(compare_named(&o, &g, ""), what == 2 ? -1 : 0);
		assert_int_equal(compare_named(&o, &g, "_d_eh_personality"), -1);
	}
	away.distance++;
	assert_int_equal(compare_named(&o, &away, "rust_eh_personality"), -1);
	none.distance = 0;		/* some take it for a start at 0 */
	none.site[0][2] = PAD_G;
	assert_int_equal(compare_named(&o, &none, "rust_eh_personality"), -1);
}

/* One without a name is D's or Rust's where the file holds what their runtimes know their
 * exceptions by; libc++abi's does not read all that Rust's does. */
static void nameless_routines_may_be_of_d_or_rust(void **state)
{
	enum { GDC, LDC, RUST, CXX, RUST_AND_LIBCXX, NKIND };
	static const uint64_t class[][2] = {
		[GDC] = { 0x474e554344000000 }, [LDC] = { 0x444d440044000000 },
		[RUST] = { 0x4d4f5a0052555354 }, [CXX] = { 0x474e5543432b2b00 },
		[RUST_AND_LIBCXX] = { 0x4d4f5a0052555354, 0x434c4e47432b2b00 },
	};
	static const bool serves[NKIND][3] = {
		[RUST] = { true, false, true }, [CXX] = { true, true, false },
	};
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };

	(void)state;
	for (int i = 0; i < NKIND; i++)
		for (int what = 0; what < 3; what++) {
			struct table g = counting_from(what);
			struct world *w = world_new();

			put(w, OLSDA, &o);
			put(w, GLSDA, &g);
			name_routine(w, "");
			memcpy(w->file + 0x1e01 - OTEXT, class[i], sizeof(class[i]));
			assert_int_equal(compare_at(w, O, G), serves[i][what] ? 0 : -1);
			name_routine(w, "__gxx_personality_v0");
			assert_int_equal(compare_at(w, O, G), what == 2 ? -1 : 0);
		}
}

static void a_landing_pad_must_be_the_image_of_the_original(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table g = { .type_enc = OMIT, SITE_G(GPAD2 - GTEXT, 0) };

	(void)state;
	assert_int_equal(compare(&o, &g), -1);
	g.site[0][2] = PAD_G + 1;
	assert_int_equal(compare(&o, &g), -1);
	g.site[0][2] = 0;
	assert_int_equal(compare(&o, &g), -1);
	o.site[0][2] = 0;
	assert_int_equal(compare(&o, &g), 0);
	g.site[0][2] = PAD_G;
	assert_int_equal(compare(&o, &g), -1);
}

static void no_site_no_pad_and_no_table_are_three_things(void **state)
{
	struct table none = { .type_enc = OMIT, .site_enc = ULEB };
	struct table o = { .type_enc = OMIT, SITE_O(0, 0) },
		     g = { .type_enc = OMIT, SITE_G(0, 0) };
	struct world *w = world_new();

	(void)state;
	assert_int_equal(compare(&none, &none), 0);
	assert_int_equal(compare(&o, &none), -1);
	assert_int_equal(compare(&none, &g), -1);
	put(w, OLSDA, &none);
	put(w, GLSDA, &none);
	w->gfde.lsda = 0;
	assert_int_equal(compare_at(w, O, G), -1);
	w->ofde.lsda = 0;
	assert_int_equal(compare_at(w, O, G), 0);
	w->gfde.lsda = GLSDA;
	assert_int_equal(compare_at(w, O, G), -1);
}

static void a_site_covers_whole_instructions(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table g = { .type_enc = OMIT, SITE_G(PAD_G, 0) };

	(void)state;
	g.site[0][1] = LEN - 1;
	assert_int_equal(compare(&o, &g), -1);
	o.site[0][1] = LEN - 1;
	g.site[0][1] = LEN;
	assert_int_equal(compare(&o, &g), -1);
	o.site[0][1] = LEN;
	assert_int_equal(compare(&o, &g), 0);
	g.site[0][0]++;
	assert_int_equal(compare(&o, &g), -1);
}

/* filter 1, then filter 2, then a cleanup: offsets 0, 2, 4 */
static const uint8_t chain[] = { 1, 1, 2, 1, 0, 0 };
#define CHAIN { chain, sizeof(chain) }

static void actions_are_compared_record_by_record(void **state)
{
	struct table o = { .type_enc = PCREL4, SITE_O(PAD_O, 1), .actions = CHAIN,
			   .type = { TYPE, TYPE2 }, .ntype = 2 };
	struct table g = { .type_enc = PCREL4, SITE_G(PAD_G, 1), .actions = CHAIN,
			   .type = { TYPE, TYPE2 }, .ntype = 2 };

	(void)state;
	assert_int_equal(compare(&o, &g), 0);
	g.site[0][3] = 0;				/* no chain */
	assert_int_equal(compare(&o, &g), -1);
	g.site[0][3] = 3;				/* begins with the second record */
	assert_int_equal(compare(&o, &g), -1);
	g.site[0][3] = 1;
	g.actions = RAW(1, 1, 2, 0);			/* the cleanup is missing */
	assert_int_equal(compare(&o, &g), -1);
	g.actions = RAW(2, 1, 1, 1, 0, 0);		/* another order */
	assert_int_equal(compare(&o, &g), -1);
	g.actions = RAW(0, 0, 2, 0x7d, 1, 0x7d);	/* 1, 2, 0 by steps back */
	g.site[0][3] = 5;
	assert_int_equal(compare(&o, &g), 0);
	g.actions = RAW(1, 1, 2, 1, 0, 1, 0, 0);	/* one more */
	g.site[0][3] = 1;
	assert_int_equal(compare(&o, &g), -1);
}

static void types_are_compared_by_what_they_lead_to(void **state)
{
	struct table o = { .type_enc = PCREL4, SITE_O(PAD_O, 1), .actions = RAW(1, 0),
			   .type = { TYPE }, .ntype = 1 };
	struct table g = { .type_enc = PCREL4, SITE_G(PAD_G, 1), .actions = RAW(1, 0),
			   .type = { TYPE }, .ntype = 1 };

	(void)state;
	assert_int_equal(compare(&o, &g), 0);
	g.type[0] = TYPE2;
	assert_int_equal(compare(&o, &g), -1);
	g.type[0] = 0;					/* catches everything */
	assert_int_equal(compare(&o, &g), -1);
	o.type[0] = 0;
	g.type_enc = INDIRECT4;				/* nothing to be indirect about */
	assert_int_equal(compare(&o, &g), 0);
	o.type[0] = g.type[0] = TYPE;
	assert_int_equal(compare(&o, &g), -1);
	o.type_enc = INDIRECT4;
	assert_int_equal(compare(&o, &g), 0);
	g.type_enc = OMIT;
	assert_int_equal(compare(&o, &g), -1);
	o.type_enc = OMIT;				/* filters that stand for nothing */
	assert_int_equal(compare(&o, &g), -1);
}

static void tables_may_end_with_their_segment(void **state)
{
	struct table o = { .type_enc = PCREL4, SITE_O(PAD_O, 1), .actions = RAW(1, 0),
			   .type = { TYPE }, .ntype = 1 };
	struct table g = { .type_enc = PCREL4, SITE_G(PAD_G, 1), .actions = RAW(1, 0),
			   .type = { TYPE }, .ntype = 1 };

	(void)state;
	for (int32_t more = 0; more <= 1; more++) {
		struct world *w = world_new();

		w->ofde.lsda = OEND - put(w, OLSDA, &o) + (vaddr)more;
		w->gfde.lsda = GEND - put(w, GLSDA, &g);
		(void)put(w, w->ofde.lsda, &o);
		(void)put(w, w->gfde.lsda, &g);
		/* a byte of the types is of no file */
		assert_int_equal(compare_at(w, O, G), more ? -1 : 0);
	}
}

static void absolute_types_need_a_fixed_address(void **state)
{
	struct table o = { .type_enc = UDATA4, SITE_O(PAD_O, 1), .actions = RAW(1, 0),
			   .type = { TYPE }, .ntype = 1 };
	struct table g = { .type_enc = PCREL4, SITE_G(PAD_G, 1), .actions = RAW(1, 0),
			   .type = { TYPE }, .ntype = 1 };
	struct world *w = world_new();

	(void)state;
	assert_int_equal(compare(&o, &g), -1);
	put(w, OLSDA, &o);
	put(w, GLSDA, &g);
	w->v.orig.eh.e_type = w->v.gen.eh.e_type = ET_EXEC;
	assert_int_equal(compare_at(w, O, G), 0);
	o.type[0] = TYPE2;
	put(w, OLSDA, &o);
	assert_int_equal(compare_at(w, O, G), -1);
}

static void exception_specifications_are_lists_of_types(void **state)
{
	struct table o = { .type_enc = PCREL4, SITE_O(PAD_O, 1), .actions = RAW(0x7f, 0),
			   .type = { TYPE, TYPE2 }, .ntype = 2, .lists = RAW(1, 2, 0) };
	struct table g = { .type_enc = PCREL4, SITE_G(PAD_G, 1), .actions = RAW(0x7f, 0),
			   .type = { TYPE, TYPE2 }, .ntype = 2, .lists = RAW(1, 2, 0) };

	(void)state;
	assert_int_equal(compare(&o, &g), 0);
	g.lists = RAW(1, 0);
	assert_int_equal(compare(&o, &g), -1);
	g.lists = RAW(2, 1, 0);
	assert_int_equal(compare(&o, &g), -1);
	g.type[0] = TYPE2;
	g.type[1] = TYPE;
	assert_int_equal(compare(&o, &g), 0);
	g.lists = RAW(2, 1, 1, 0);
	assert_int_equal(compare(&o, &g), -1);
	g.actions = RAW(0x7e, 0);			/* the list behind */
	g.lists = RAW(0, 2, 1, 0);
	/* the filter itself is seen by the pad */
	assert_int_equal(compare(&o, &g), -1);
	o.lists = g.lists = RAW(0);			/* throws nothing */
	g.actions = o.actions;
	assert_int_equal(compare(&o, &g), 0);
}

static void what_has_another_form_is_refused(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table good = { .type_enc = OMIT, SITE_G(PAD_G, 0) }, g = good;

	(void)state;
	assert_int_equal(compare(&o, &g), 0);
	g.nsite = 2;					/* overlap */
	g.site[1][0] = 0x24;
	g.site[1][1] = 8;
	assert_int_equal(compare(&o, &g), -1);
	g.site[1][0] = 0;				/* descend */
	assert_int_equal(compare(&o, &g), -1);
	g.site[1][0] = 0xfc;				/* reach out of the FDE */
	assert_int_equal(compare(&o, &g), -1);
	g.site[1][0] = 0xf8;
	assert_int_equal(compare(&o, &g), 0);
	g = good;
	g.site_enc = 0x13;				/* relative to where it stands */
	assert_int_equal(compare(&o, &g), -1);
}

/* One behind the other in one site: its actions are read once. */
static void sites_that_were_the_same_are_not_compared_again(void **state)
{
	struct table o = { .type_enc = PCREL4, SITE_O(PAD_O, 1), .actions = CHAIN,
			   .type = { TYPE, TYPE2 }, .ntype = 2 };
	struct table g = { .type_enc = PCREL4, SITE_G(PAD_G, 1), .actions = CHAIN,
			   .type = { TYPE, TYPE2 }, .ntype = 2 };
	struct world *w = world_new();

	(void)state;
	put(w, OLSDA, &o);
	put(w, GLSDA, &g);
	assert_int_equal(compare_at(w, O, G), 0);
	struct vpair c = { { .cfi = &w->v.ocfi, .fde = 0 }, { .cfi = &w->v.gcfi, .fde = 0 } };
	uint64_t left = w->v.lsda.budget;
	assert_int_equal(verify_exceptions(&w->v, &c, O + LEN, 1, G + LEN, 1), 0);
	assert_int_equal(w->v.lsda.budget, left);
	w->v.lsda.last_site[0] = NULL;
	assert_int_equal(verify_exceptions(&w->v, &c, O + LEN, 1, G + LEN, 1), 0);
	assert_in_range(left - w->v.lsda.budget, 3, 100);
}

static void the_same_frame_has_the_same_row_and_is_one(void **state)
{
	struct table none = { .type_enc = OMIT, .site_enc = ULEB };
	struct world *w = world_new();
	struct vrow row[] = { { .addr = OTEXT, .state = 5 }, { .addr = O, .state = 6 } };
	struct vrow image[] = { { .addr = GTEXT, .state = 6 } };
	struct vpair c = { { .cfi = &w->v.ocfi, .fde = 0 }, { .cfi = &w->v.gcfi, .fde = 0 } };

	(void)state;
	put(w, OLSDA, &none);
	put(w, GLSDA, &none);
	assert_int_equal(compare_at(w, O, G), 0);
	w->v.ocfi.row = row;
	w->v.gcfi.row = image;
	w->ofde.nrow = 2;
	w->gfde.nrow = 1;
	w->ofde.understood = w->gfde.understood = true;
	assert_true(verify_same_frame(&w->v, c, O, G));
	assert_false(verify_same_frame(&w->v, c, O - 1, G));
	/* neither has any row */
	c.orig.fde = c.gen.fde = NO_FDE;
	assert_false(verify_same_frame(&w->v, c, OEND + 1, GEND + 1));
}

static void chains_that_never_end_are_refused(void **state)
{
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 1), .actions = RAW(0, 0x7f) };
	struct table g = { .type_enc = OMIT, SITE_G(PAD_G, 1), .actions = RAW(0, 0x7f) };

	(void)state;
	assert_int_equal(compare(&o, &g), -1);
}

static void tables_must_be_constant_and_inside_the_file(void **state)
{
	enum { SIZE = 4 + 5 };			/* header, a site whose pad takes two bytes */
	struct table o = { .type_enc = OMIT, SITE_O(PAD_O, 0) };
	struct table g = { .type_enc = OMIT, SITE_G(PAD_G, 0) };
	struct world *w = world_new();

	(void)state;
	put(w, OLSDA, &o);
	put(w, GLSDA, &g);
	w->ph[1].p_flags |= PF_W;
	assert_int_equal(compare_at(w, O, G), -1);
	w->ph[1].p_flags = PF_R;
	assert_int_equal(compare_at(w, O, G), 0);
	for (uint64_t n = 0; n < SIZE; n++) {
		w->ph[1].p_filesz = GLSDA - GTEXT + n;
		assert_int_equal(compare_at(w, O, G), -1);
	}
	w->ph[1].p_filesz = GLSDA - GTEXT + SIZE;
	assert_int_equal(compare_at(w, O, G), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_the_same_in_any_form),
		cmocka_unit_test(routines_of_unknown_names_find_the_table_they_know),
		cmocka_unit_test(rust_s_routine_counts_pads_from_the_function),
		cmocka_unit_test(nameless_routines_may_be_of_d_or_rust),
		cmocka_unit_test(a_landing_pad_must_be_the_image_of_the_original),
		cmocka_unit_test(no_site_no_pad_and_no_table_are_three_things),
		cmocka_unit_test(a_site_covers_whole_instructions),
		cmocka_unit_test(actions_are_compared_record_by_record),
		cmocka_unit_test(types_are_compared_by_what_they_lead_to),
		cmocka_unit_test(tables_may_end_with_their_segment),
		cmocka_unit_test(absolute_types_need_a_fixed_address),
		cmocka_unit_test(exception_specifications_are_lists_of_types),
		cmocka_unit_test(what_has_another_form_is_refused),
		cmocka_unit_test(sites_that_were_the_same_are_not_compared_again),
		cmocka_unit_test(the_same_frame_has_the_same_row_and_is_one),
		cmocka_unit_test(chains_that_never_end_are_refused),
		cmocka_unit_test(tables_must_be_constant_and_inside_the_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
