/* test_addresses.c - each instruction of a block has its image, and ranges are cut and joined
 *
 * The programs are those of tests/fuzz/corpus/debugfile, laid out by chance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "binary/decode.h"
#include "binary/mapsection.h"
#include "editor/debug/addresses.h"
#include "tests/unit/editor/debug/made.h"

enum { SEEDS = 5 };

struct moved {
	struct arena *a;
	struct wr file;
	struct image orig, gen;
	struct blockmap map;
	struct addresses ad;
	struct err err;
};

static void make(struct moved *m, const char *name, uint64_t seed)
{
	*m = (struct moved){ .a = arena_new() };
	struct bytes file = made_file(name, m->a);

	made_generation(file, seed, m->a, &m->file);
	assert_int_equal(image_parse(file, m->a, &m->orig, &m->err), 0);
	assert_int_equal(image_parse(wr_bytes(&m->file), m->a, &m->gen, &m->err), 0);
	assert_int_equal(mapsection_read(&m->gen, &m->map, &m->err), 0);
	addresses_init(&m->ad, &m->orig, &m->gen, &m->map, m->a);
}

static void drop(struct moved *m)
{
	blockmap_free(&m->map);
	wr_free(&m->file);
	arena_free(m->a);
}

/* An instruction without a field that depends on its place is copied as it is, or longer. */
static void check_insn(const struct moved *m, const struct blockmap_block *b,
		       const struct addresses_insn *i)
{
	vaddr at = m->map.orig_base + b->orig + i->orig, target;
	struct bytes o = image_rest(&m->orig, at);
	struct insn insn;

	assert_true(insn_decode(o, at, &insn, &target));
	assert_in_range(i->gen, 0, b->gen_size);
	if (i->gen == i->gen_end) {
		assert_true(insn.kind == INSN_NOP || insn.kind == INSN_JMP);
		return;
	}
	if (insn.field || insn.kind == INSN_NOP)
		return;
	assert_true(i->gen_end - i->gen >= insn.len);
	if (i->gen_end - i->gen > insn.len)
		return;			/* a load with a displacement (emit_longer.c) */
	assert_memory_equal(o.p, image_at(&m->gen, m->map.gen_base + b->gen + i->gen,
					  insn.len).p, insn.len);
}

static void every_instruction_has_its_image(void **state)
{
	static const char *const name[] = { "dwarf5", "clang5", "macros", "dwarf2" };
	struct addresses_block block;
	struct moved m;

	(void)state;
	for (int k = 0; k < 4 * SEEDS; k++) {
		make(&m, name[k % 4], (uint64_t)k + 1);
		assert_true(m.map.nblock > 5);
		for (uint32_t i = 0; i < m.map.nblock; i++) {
			const struct blockmap_block *b = &m.map.block[i];

			assert_int_equal(addresses_walk(&m.ad, b, &block, &m.err), 0);
			assert_true(block.n > 0 && block.insn[0].orig == 0);
			for (uint32_t j = 0; j < block.n; j++)
				check_insn(&m, b, &block.insn[j]);
		}
		drop(&m);
	}
}

static void an_image_that_is_none_is_refused(void **state)
{
	struct addresses_block block;
	struct moved m;
	uint32_t refused = 0;

	(void)state;
	make(&m, "dwarf5", 1);
	for (uint32_t i = 0; i < m.map.nblock; i++) {	/* of the block behind it */
		m.map.block[i].orig += 1;
		m.map.block[i].orig_size += 9;
		refused += addresses_walk(&m.ad, &m.map.block[i], &block, &m.err) < 0;
	}
	assert_true(refused > m.map.nblock / 2);
	assert_int_equal(m.err.kind, ERR_REFUSED);
	drop(&m);
}

static void starts_and_ends_are_those_of_instructions(void **state)
{
	struct moved m;
	new_vaddr start, end, next;
	bool left_out;

	(void)state;
	make(&m, "macros", 3);
	for (uint32_t i = 0; i < m.map.nblock; i++) {
		const struct blockmap_block *b = &m.map.block[i];
		vaddr at = m.map.orig_base + b->orig;
		struct addresses_block block;

		assert_int_equal(addresses_walk(&m.ad, b, &block, &m.err), 0);
		for (uint32_t j = 0; j + 1 < block.n; j++) {
			vaddr to = at + block.insn[j + 1].orig;

			assert_int_equal(addresses_start(&m.ad, at + block.insn[j].orig, &start,
							 &left_out, &m.err), 1);
			assert_int_equal(start, m.map.gen_base + b->gen + block.insn[j].gen);
			assert_int_equal(left_out, block.insn[j].gen == block.insn[j].gen_end);
			assert_int_equal(addresses_end(&m.ad, to, &end, &m.err), 1);
			assert_int_equal(end, m.map.gen_base + b->gen + block.insn[j].gen_end);
			assert_int_equal(addresses_start(&m.ad, to, &next, NULL, &m.err), 1);
			assert_true(end <= next);
		}
	}
	assert_int_equal(addresses_start(&m.ad, 16, &start, NULL, &m.err), 0);
	assert_int_equal(addresses_end(&m.ad, 0, &end, &m.err), 0);
	drop(&m);
}

static void images_of_everything_are_new_text(void **state)
{
	addresses_ranges all = { 0 }, half = { 0 };
	struct moved m;

	(void)state;
	make(&m, "dwarf4", 2);
	uint64_t size = 0, sum = 0;

	for (uint32_t i = 0; i < m.map.nblock; i++)
		size += m.map.block[i].gen_size;
	assert_int_equal(addresses_images(&m.ad, 0, UINT64_MAX, &all, &m.err), 0);
	/* cut in the middle of a block: both parts together are the same */
	const struct blockmap_block *b = &m.map.block[0];
	struct addresses_block block;
	assert_int_equal(addresses_walk(&m.ad, b, &block, &m.err), 0);
	vaddr cut = m.map.orig_base + b->orig + block.insn[block.n / 2].orig;

	assert_int_equal(addresses_images(&m.ad, 0, cut, &half, &m.err), 0);
	assert_int_equal(addresses_images(&m.ad, cut, UINT64_MAX, &half, &m.err), 0);
	addresses_merge(&all, 0);
	addresses_merge(&half, 0);
	for (uint32_t i = 0; i < all.n; i++)
		sum += all.v[i].to - all.v[i].from;
	assert_int_equal(sum, size);
	assert_int_equal(all.n, half.n);
	assert_memory_equal(all.v, half.v, all.n * sizeof(*all.v));
	drop(&m);
}

/* Where GCC says that a register's value ends with a call: one byte in front of its end. */
static void a_bound_in_an_instruction_keeps_its_distance_from_the_end(void **state)
{
	struct moved m;
	uint32_t ncut = 0;

	(void)state;
	make(&m, "dwarf5", 3);
	for (uint32_t i = 0; i < m.map.nblock; i++) {
		const struct blockmap_block *b = &m.map.block[i];
		vaddr at = m.map.orig_base + b->orig;
		new_vaddr gen = m.map.gen_base + b->gen;
		struct addresses_block block;

		assert_int_equal(addresses_walk(&m.ad, b, &block, &m.err), 0);
		for (uint32_t j = 0; j < block.n; j++) {
			const struct addresses_insn *insn = &block.insn[j];
			uint32_t end = j + 1 < block.n ? insn[1].orig : b->orig_size;
			addresses_ranges cut = { 0 };

			if (end - insn->orig < 2 || insn->gen_end - insn->gen < 2)
				continue;
			assert_int_equal(addresses_images(&m.ad, at, at + end - 1, &cut,
							  &m.err), 0);
			assert_int_equal(cut.n, 1);
			assert_int_equal(cut.v[0].from, gen);
			assert_int_equal(cut.v[0].to, gen + insn->gen_end - 1);
			cut.n = 0;
			assert_int_equal(addresses_images(&m.ad, at + end - 1, at + end, &cut,
							  &m.err), 0);
			assert_int_equal(cut.v[0].from, gen + insn->gen_end - 1);
			ncut++;
		}
	}
	assert_true(ncut > 50);
	drop(&m);
}

static void ranges_are_joined_but_for_the_entry(void **state)
{
	struct addresses_range v[] = { { 30, 40 }, { 10, 20 }, { 20, 25 }, { 40, 44 } };
	addresses_ranges r = { v, 4, 4 };

	(void)state;
	addresses_merge(&r, 20);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.v[0].from, 20);	/* the entry's comes first, and apart */
	assert_int_equal(r.v[0].to, 25);
	assert_int_equal(r.v[1].from, 10);
	assert_int_equal(r.v[1].to, 20);
	assert_int_equal(r.v[2].from, 30);
	assert_int_equal(r.v[2].to, 44);
}

static void ranges_are_cut_by_others(void **state)
{
	struct addresses_range v[] = { { 10, 20 }, { 30, 40 } }, r = { 5, 35 };
	addresses_ranges of = { v, 2, 2 }, in = { 0 }, out = { 0 };
	struct arena *a = arena_new();

	(void)state;
	addresses_inside(a, r, &of, &in);
	addresses_outside(a, r, &of, &out);
	assert_int_equal(in.n, 2);
	assert_true(in.v[0].from == 10 && in.v[0].to == 20 && in.v[1].from == 30 &&
		    in.v[1].to == 35);
	assert_int_equal(out.n, 2);
	assert_true(out.v[0].from == 5 && out.v[0].to == 10 && out.v[1].from == 20 &&
		    out.v[1].to == 30);
	assert_true(addresses_has(&of, 10) && addresses_has(&of, 39));
	assert_false(addresses_has(&of, 9) || addresses_has(&of, 20) || addresses_has(&of, 40));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_has_its_image),
		cmocka_unit_test(an_image_that_is_none_is_refused),
		cmocka_unit_test(starts_and_ends_are_those_of_instructions),
		cmocka_unit_test(images_of_everything_are_new_text),
		cmocka_unit_test(a_bound_in_an_instruction_keeps_its_distance_from_the_end),
		cmocka_unit_test(ranges_are_joined_but_for_the_entry),
		cmocka_unit_test(ranges_are_cut_by_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("addresses", tests, NULL, NULL);
}
