/* test_landing.c - landing pads in the annotated program, exception tables in the generation
 *
 * tests/asm/landing.s has functions with exception tables of many forms.  They are moved in
 * many orders; what an exception does at any instruction must be what it does at its original.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "editor/optimize.h"
#include "lib/blockmap.h"
#include "postmorph/unwind/cfi_rows.h"
#include "postmorph/unwind/lsda.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

enum { SEEDS = 32 };

struct made {
	struct arena *a;
	struct bytes original;
	struct prog prog;
	struct wr generation, map_bytes;
	struct image gen;
	struct cfi cfi;			/* of the generation */
	struct blockmap map;
};

static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));
	struct err err;

	m->a = arena_new();
	m->original = asm_build("landing", "-shared -s", m->a);
	if (prog_analyze(m->original, m->a, &m->prog, &err) < 0 || ir_check(&m->prog, &err) < 0)
		fail_msg("%s", err.text);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	arena_free(m->a);
	wr_free(&m->generation);
	wr_free(&m->map_bytes);
	test_free(m);
	return 0;
}

static const struct fn *fn_of(const struct made *m, const char *name)
{
	return asm_fn(&m->prog, name);
}

static void functions_that_cannot_move_say_why(void **state)
{
	const struct made *m = *state;
	static const struct {
		const char *fn;
		enum skip skip;
	} expected[] = {
		{ "throws", SKIP_NONE },
		{ "catches", SKIP_NONE },
		{ "stays_silent", SKIP_NONE },
		{ "split", SKIP_NONE },
		{ "returns_by_its_handler", SKIP_NONE },
		{ "lands_in_its_entry", SKIP_ENTRY_TARGET },
		{ "landed_in", SKIP_NONE },
		{ "lands_elsewhere", SKIP_LANDING_PAD },
		{ "site_ends_in_an_instruction", SKIP_LSDA },
		{ "unknown_form", SKIP_LSDA },
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (fn_of(m, expected[i].fn)->skip != expected[i].skip)
			fail_msg("%s: %s", expected[i].fn,
				 skip_text[fn_of(m, expected[i].fn)->skip]);
}

static void landing_pads_begin_blocks(void **state)
{
	const struct made *m = *state;
	const struct fn *fn = fn_of(m, "catches");
	uint32_t n = 0;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		assert_false(fn->block[i].landing && fn->block[i].padding);
		n += fn->block[i].landing;
	}
	assert_int_equal(n, 2);
	assert_true(fn_of(m, "landed_in")->block[1].landing);
}

static void a_fragment_reached_by_exceptions_joins_its_function(void **state)
{
	const struct made *m = *state;
	const struct fn *fn = fn_of(m, "split");

	assert_int_equal(fn->nrange, 2);
	uint32_t pad = fn_find_block(fn, fn->range[1].addr + 1);
	assert_int_not_equal(pad, NO_BLOCK);
	assert_true(fn->block[pad].landing);
	assert_true(fn->block[pad - 1].padding);	/* the nop in front */
}

static void who_returns_from_a_handler_returns(void **state)
{
	const struct made *m = *state;

	assert_true(fn_of(m, "returns_by_its_handler")->block[0].noreturn);
	assert_true(fn_of(m, "calls_one_that_does_not")->block[0].noreturn);
	assert_false(fn_of(m, "calls_one_that_returns")->block[0].noreturn);
}

static void a_table_in_the_reach_of_a_handler_is_proven(void **state)
{
	const struct made *m = *state;

	assert_int_equal(fn_of(m, "dispatches")->ntable, 1);
	assert_int_equal(fn_of(m, "dispatches")->table[0].bound, 4);
}

static void emit(struct made *m, uint64_t seed)
{
	struct edit_options options = { .all = true, .shuffle = true, .seed = seed };
	struct edit_stats stats;
	struct verify_stats shown;
	struct err err;

	m->generation.n = m->map_bytes.n = 0;
	if (edit_optimize(m->original, NULL, &options, m->a, &m->generation, &m->map_bytes,
			  &stats, &err) < 0 ||
	    image_parse(wr_bytes(&m->generation), m->a, &m->gen, &err) < 0 ||
	    cfi_parse(&m->gen, m->a, &m->cfi, &err) < 0 ||
	    blockmap_read(wr_bytes(&m->map_bytes), &m->map, &err) < 0 ||
	    verify_generation(m->original, wr_bytes(&m->generation), m->a, &shown, &err) < 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

struct side {			/* one of the two files */
	const struct image *img;
	const struct cfi *cfi;
};

struct outcome {		/* of an exception */
	bool table, site;
	vaddr pad;
	char actions[256];	/* filters with the types that they stand for */
};

static uint64_t type_of(const struct lsda *l, uint64_t n)
{
	struct rd r = rd_of(bytes_at(l->types, l->types.n - n * l->type_size, l->type_size));
	uint64_t raw, value;

	assert_true(cfi_read_pointer(&r, l->type_enc & 0x7f,
				     l->types_addr + l->types.n - n * l->type_size, &raw,
				     &value));
	return value;
}

static void tell_actions(const struct lsda *l, uint64_t action, char *text, size_t size)
{
	FILE *f = fmemopen(text, size, "w");

	while (action) {
		struct rd r =
			rd_of(bytes_at(l->actions, action - 1, l->actions.n - (action - 1)));
		int64_t filter = rd_sleb(&r), at = r.p - l->actions.p, next = rd_sleb(&r);

		assert_false(r.bad);
		fprintf(f, "%lld", (long long)filter);
		if (filter > 0)
			fprintf(f, "=%llx", (unsigned long long)type_of(l, (uint64_t)filter));
		r = rd_of(l->specs);
		(void)rd_skip(&r, filter < 0 ? (uint64_t)(-filter - 1) : 0);
		for (uint64_t n; filter < 0 && (n = rd_uleb(&r)) != 0; )
			fprintf(f, ",%llx", (unsigned long long)type_of(l, n));
		fprintf(f, " ");
		action = next ? (uint64_t)(at + next + 1) : 0;
	}
	(void)fclose(f);
}

static struct outcome throw_at(const struct side *s, vaddr addr)
{
	struct outcome out = { .pad = 0 };
	uint32_t fde = cfi_find(s->cfi, addr);
	struct lsda lsda;
	struct lsda_site site;

	assert_int_not_equal(fde, UINT32_MAX);
	out.table = s->cfi->fde[fde].lsda != 0;
	if (!out.table)
		return out;
	assert_true(lsda_read(s->img, s->cfi, fde, &lsda));
	for (struct lsda_iter it = lsda_iter(&lsda); lsda_next(&it, &site); ) {
		if (addr < site.addr || addr - site.addr >= site.len)
			continue;
		out.site = true;
		out.pad = site.pad;
		tell_actions(&lsda, site.action, out.actions, sizeof(out.actions));
	}
	return out;
}

static void compare(const struct made *m, vaddr o, new_vaddr g)
{
	struct side orig = { &m->prog.img, &m->prog.cfi }, gen = { &m->gen, &m->cfi };
	struct outcome want = throw_at(&orig, o), have = throw_at(&gen, g);

	assert_int_equal(have.table, want.table);
	assert_int_equal(have.site, want.site);
	assert_string_equal(have.actions, want.actions);
	assert_int_equal(have.pad != 0, want.pad != 0);
	if (!want.pad)
		return;
	const struct blockmap_block *image = blockmap_find_orig(&m->map, want.pad);

	assert_non_null(image);
	assert_int_equal(m->map.orig_base + image->orig, want.pad);
	assert_int_equal(m->map.gen_base + image->gen, have.pad);
}

/* Instructions are copied in order from the start of a block; behind them stand branches. */
static uint32_t compare_block(const struct made *m, const struct fn *fn, const struct block *b)
{
	uint32_t n = 0;

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		const struct insn *insn = &fn->insn[i];
		vaddr o = prog_insn_addr(&m->prog, insn);
		const struct blockmap_block *image = blockmap_find_orig(&m->map, o);

		if (!image)
			break;
		new_vaddr g = blockmap_gen_of(&m->map, image, o);

		if (g >= m->map.gen_base + image->gen + image->gen_size ||
		    insn->kind == INSN_JMP || insn->kind == INSN_JCC || insn->kind == INSN_NOP)
			break;
		for (uint32_t k = 0; k < insn->len; k++)
			compare(m, o + k, g + k);
		n++;
	}
	return n;
}

static void exceptions_do_the_same_in_every_order(void **state)
{
	struct made *m = *state;
	uint32_t n = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		emit(m, seed);
		for (uint32_t i = 0; i < m->prog.nfn; i++) {
			const struct fn *fn = &m->prog.fn[i];

			for (uint32_t k = 0; k < fn->nblock && fn->skip == SKIP_NONE; k++)
				n += compare_block(m, fn, &fn->block[k]);
		}
		blockmap_free(&m->map);
	}
	assert_true(n > SEEDS * 40);
}

/* Every piece without call sites refers to the same four bytes. */
static void tables_without_sites_are_one(void **state)
{
	struct made *m = *state;
	struct side orig = { &m->prog.img, &m->prog.cfi };
	static const uint8_t empty[] = { 0xff, 0xff, 1, 0 };
	vaddr old = fn_of(m, "stays_silent")->entry;

	assert_true(throw_at(&orig, old).table);
	emit(m, 1);
	const struct blockmap_block *b = blockmap_find_orig(&m->map, old);

	assert_non_null(b);
	uint32_t fde = cfi_find(&m->cfi, m->map.gen_base + b->gen);
	struct bytes record = image_at(&m->gen, m->cfi.fde[fde].lsda, sizeof(empty));

	assert_true(m->cfi.fde[fde].lsda > m->map.gen_base);
	assert_non_null(record.p);
	assert_memory_equal(record.p, empty, sizeof(empty));
	blockmap_free(&m->map);
}

/* What stands side by side and goes to the same landing pad is one site, however many
 * instructions it is; *longer are sites of more than a call. */
static uint32_t count_sites(const struct made *m, uint32_t fde, uint32_t *longer)
{
	struct lsda_site site, last = { .len = 0 };
	struct lsda lsda;
	uint32_t n = 0;

	assert_true(lsda_read(&m->gen, &m->cfi, fde, &lsda));
	for (struct lsda_iter it = lsda_iter(&lsda); lsda_next(&it, &site); n++) {
		assert_false(last.len && last.addr + last.len == site.addr &&
			     last.pad == site.pad && last.action == site.action);
		last = site;
		*longer += site.len > 8;
	}
	return n;
}

static void sites_are_not_more_than_there_need_be(void **state)
{
	struct made *m = *state;
	uint32_t sites = 0, longer = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		emit(m, seed);
		for (uint32_t i = 0; i < m->cfi.nfde; i++)
			if (m->cfi.fde[i].lsda >= m->map.gen_base)
				sites += count_sites(m, i, &longer);
		blockmap_free(&m->map);
	}
	assert_true(sites >= SEEDS * 4);
	assert_true(longer >= SEEDS);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(functions_that_cannot_move_say_why),
		T(landing_pads_begin_blocks),
		T(a_fragment_reached_by_exceptions_joins_its_function),
		T(who_returns_from_a_handler_returns),
		T(a_table_in_the_reach_of_a_handler_is_proven),
		T(exceptions_do_the_same_in_every_order),
		T(tables_without_sites_are_one),
		T(sites_are_not_more_than_there_need_be),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
