/* test_hostile.c - debug information that nobody's compiler writes: it costs no more than its
 * size, and gets no wrong meaning
 *
 * The sections are made here, for a generation of a program of tests/fuzz/corpus/debugfile.  What
 * is counted in hundreds of thousands would be hours, were it looked at once for each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "binary/mapsection.h"
#include "editor/debug/debug.h"
#include "editor/debug/dwarfinfo.h"
#include "editor/debug/lineprogram.h"
#include "tests/unit/editor/debug/made.h"

enum { MANY = 1 << 19, LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13 };

struct made {
	struct arena *a;
	struct wr file, was[DEBUG_NSECTION];
	struct image orig, gen;
	struct blockmap map;
	struct debug d;
	struct err err;
};

static uint64_t seed = 1;

static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));

	m->a = arena_new();
	struct bytes file = made_file("macros", m->a);
	made_generation(file, seed, m->a, &m->file);
	assert_int_equal(image_parse(file, m->a, &m->orig, &m->err), 0);
	assert_int_equal(image_parse(wr_bytes(&m->file), m->a, &m->gen, &m->err), 0);
	assert_int_equal(mapsection_read(&m->gen, &m->map, &m->err), 0);
	m->d = (struct debug){ .a = m->a, .err = &m->err };
	addresses_init(&m->d.addresses, &m->orig, &m->gen, &m->map, m->a);
	debug_lists_init(&m->d);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	for (int i = 0; i < DEBUG_NSECTION; i++) {
		wr_free(&m->was[i]);
		wr_free(&m->d.section[i].now);
	}
	for (uint32_t i = 0; i < m->d.ranges.table.n; i++)
		wr_free(&m->d.ranges.table.v[i]->lists);
	blockmap_free(&m->map);
	wr_free(&m->file);
	arena_free(m->a);
	test_free(m);
	return 0;
}

/* What was written so far is what the debug information has. */
static void set_sections(struct made *m)
{
	for (int i = 0; i < DEBUG_NSECTION; i++) {
		struct debug_section *s = &m->d.section[i];

		s->was = wr_bytes(&m->was[i]);
		if (i == DEBUG_INFO || i == DEBUG_ADDR)
			wr_raw(&s->now, s->was.p, s->was.n);
	}
}

static void translate_units(struct made *m)
{
	wr_put_u32(&m->was[DEBUG_INFO], 0, (uint32_t)(m->was[DEBUG_INFO].n - 4));
	set_sections(m);
	if (debug_read_units(&m->d) < 0 || debug_translate_abbrevs(&m->d) < 0 ||
	    debug_translate_units(&m->d) < 0)
		fail_msg("%s", m->err.text);
}

static void begin_unit(struct made *m)
{
	struct wr *info = &m->was[DEBUG_INFO];

	wr_u32(info, 0);		/* its length: translate_units() */
	wr_u16(info, 5);
	wr_u8(info, DW_UT_compile);
	wr_u8(info, sizeof(vaddr));
	wr_u32(info, 0);
}

/* Pairs of an attribute and its form, behind them 0. */
static void put_decl(struct made *m, unsigned code, unsigned tag, bool children,
		     const unsigned *pair)
{
	struct wr *w = &m->was[DEBUG_ABBREV];

	wr_uleb(w, code);
	wr_uleb(w, tag);
	wr_u8(w, children);
	for (; pair[0]; pair += 2) {
		wr_uleb(w, pair[0]);
		wr_uleb(w, pair[1]);
	}
	wr_u16(w, 0);
}

#define PAIRS(...) ((const unsigned[]){ __VA_ARGS__, 0 })

/* --- line programs --- */

static void begin_lines(struct wr *w)
{
	static const uint8_t operands[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	static const uint8_t numbers[] = { 1, 1, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE };

	wr_u32(w, 0);			/* its length: end_lines() */
	wr_u16(w, 4);
	wr_u32(w, sizeof(numbers) + sizeof(operands));
	wr_raw(w, numbers, sizeof(numbers));
	wr_raw(w, operands, sizeof(operands));
}

static void put_address(struct wr *w, vaddr at)
{
	wr_u8(w, DW_LNS_extended);
	wr_uleb(w, 9);
	wr_u8(w, DW_LNE_set_address);
	wr_u64(w, at);
}

static void end_lines(struct wr *w, vaddr step)
{
	wr_u8(w, DW_LNS_advance_pc);
	wr_uleb(w, step);
	wr_u8(w, DW_LNS_extended);
	wr_uleb(w, 1);
	wr_u8(w, DW_LNE_end_sequence);
	wr_put_u32(w, 0, (uint32_t)(w->n - 4));
}

/* A row, that many bytes and lines behind the one in front. */
static uint8_t row(unsigned step, int lines)
{
	return (uint8_t)(OPCODE_BASE + (unsigned)(lines - LINE_BASE) + LINE_RANGE * step);
}

/* The last instruction of a block, which its image does not have; at *in_front begins the last
 * one that it has. */
static vaddr find_left_out(struct made *m, vaddr *in_front, new_vaddr *now)
{
	for (uint32_t i = 0; i < m->map.nblock; i++) {
		const struct blockmap_block *b = &m->map.block[i];
		struct addresses_block block;

		assert_int_equal(addresses_walk(&m->d.addresses, b, &block, &m->err), 0);
		const struct addresses_insn *last = &block.insn[block.n - 1];
		if (block.n < 2 || last->gen < last->gen_end || last->gen < b->gen_size ||
		    last[-1].gen == last[-1].gen_end)
			continue;
		*in_front = m->map.orig_base + b->orig + last[-1].orig;
		*now = m->map.gen_base + b->gen + last[-1].gen;
		return m->map.orig_base + b->orig + last->orig;
	}
	return 0;
}

static void lines_of_what_was_left_out_are_put_in_front_at_once(void **state)
{
	enum { SEEDS = 64 };
	struct made *m = *state;
	struct lineprogram p = { 0 };
	vaddr in_front = 0, at;
	new_vaddr now = 0;
	uint32_t n = 0, last = UINT32_MAX;

	while (!(at = find_left_out(m, &in_front, &now)) && ++seed < SEEDS) {
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
		m = *state;
	}
	seed = 1;
	if (!at)
		fail_msg("no image is without its last instruction");
	struct wr *w = &m->was[DEBUG_LINE];
	begin_lines(w);
	put_address(w, in_front);
	wr_u8(w, row(0, 1));
	wr_u8(w, DW_LNS_advance_pc);
	wr_uleb(w, at - in_front);
	for (int i = 0; i < MANY; i++)
		wr_u8(w, row(0, 1));
	end_lines(w, 1);
	set_sections(m);
	if (debug_translate_lines(&m->d) < 0)
		fail_msg("%s", m->err.text);
	struct bytes out = wr_bytes(&m->d.section[DEBUG_LINE].now);
	struct bytes unit = bytes_at(out, 0, 4 + bytes_first(bytes_at(out, 0, 4)));
	assert_int_equal(lineprogram_read_header(unit, &p), 1);
	assert_int_equal(lineprogram_run(&p, m->a, UINT32_MAX), 0);
	/* in front of the line that the instruction is of, the last one first */
	for (uint32_t i = 0; i < p.row.n; i++)
		if (p.row.v[i].addr == now && p.row.v[i].line > 2 && !p.row.v[i].end) {
			assert_true(p.row.v[i].line < last);
			last = p.row.v[i].line;
			n++;
		}
	assert_int_equal(n, MANY);
}

/* An image of nothing but NOPs and a jump. */
static void nops_in_front_of_a_jump_are_not_walked_for_each(void **state)
{
	enum { AT = 0x10000, NOPS = MANY / 2 };
	struct made *m = *state;
	struct wr *w = &m->was[DEBUG_LINE];
	uint8_t *code = arena_array(m->a, NOPS + 5, 1);
	struct image img = { .text = { code, NOPS + 5 }, .text_at = AT };
	struct blockmap none = { .orig_base = AT };

	memset(code, 0x90, NOPS);
	code[NOPS] = 0xe9;
	addresses_init(&m->d.addresses, &img, &m->gen, &none, m->a);
	begin_lines(w);
	put_address(w, AT);
	wr_u8(w, row(0, 1));
	for (int i = 0; i < NOPS; i++)
		wr_u8(w, row(1, 0));
	end_lines(w, 5);
	set_sections(m);
	if (debug_translate_lines(&m->d) < 0)
		fail_msg("%s", m->err.text);
}

/* --- entries --- */

static void blocks_in_blocks_belong_to_what_is_around_them(void **state)
{
	struct made *m = *state;
	struct wr *info = &m->was[DEBUG_INFO];
	vaddr at = m->map.orig_base + m->map.block[0].orig;

	put_decl(m, 1, DW_TAG_compile_unit, true, PAIRS(DW_AT_language, DW_FORM_data1));
	put_decl(m, 2, DW_TAG_lexical_block, true,
		 PAIRS(DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8));
	put_decl(m, 3, DW_TAG_formal_parameter, false, PAIRS(DW_AT_language, DW_FORM_data1));
	wr_u8(&m->was[DEBUG_ABBREV], 0);
	begin_unit(m);
	wr_u8(info, 1);
	wr_u8(info, DW_LANG_C99);
	for (int i = 0; i < MANY; i++) {
		wr_u8(info, 2);
		wr_u64(info, at);
		wr_u64(info, 1);
		if (i == MANY / 2) {	/* the only one with a variable */
			wr_u8(info, 3);
			wr_u8(info, 0);
		}
	}
	for (int i = 0; i <= MANY; i++)
		wr_u8(info, 0);
	translate_units(m);
	assert_int_equal(m->d.scope.n, MANY);
	assert_int_equal(debug_translate_lines(&m->d), 0);
	for (uint32_t i = 0; i < m->d.scope.n; i++)
		assert_int_equal(m->d.scope.v[i].id, i < MANY / 2 ? 0 : MANY / 2 + 1);
}

/* Where the one block's original ends and that of the other begins, but not the images. */
static vaddr find_apart(struct made *m, new_vaddr *start)
{
	for (uint32_t i = 1; i < m->map.nblock; i++) {
		vaddr at = m->map.orig_base + m->map.block[i].orig;
		new_vaddr end;

		if (addresses_start(&m->d.addresses, at, start, NULL, &m->err) == 1 &&
		    addresses_end(&m->d.addresses, at, &end, &m->err) == 1 && end != *start)
			return at;
	}
	fail_msg("all images are in the order of originals");
	return 0;
}

static void a_slot_for_an_end_and_a_start_is_a_start(void **state)
{
	struct made *m = *state;
	struct wr *info = &m->was[DEBUG_INFO];
	new_vaddr start, end;
	vaddr at = find_apart(m, &start);

	put_decl(m, 1, DW_TAG_compile_unit, true, PAIRS(DW_AT_addr_base, DW_FORM_sec_offset));
	put_decl(m, 2, DW_TAG_label, false, PAIRS(DW_AT_low_pc, DW_FORM_addrx));
	put_decl(m, 3, DW_TAG_call_site, false, PAIRS(DW_AT_call_return_pc, DW_FORM_addrx));
	wr_u8(&m->was[DEBUG_ABBREV], 0);
	wr_u64(&m->was[DEBUG_ADDR], 0x0008000500000000);
	for (int i = 0; i < 3; i++)
		wr_u64(&m->was[DEBUG_ADDR], at);
	begin_unit(m);
	wr_u8(info, 1);
	wr_u32(info, 8);
	wr_raw(info, (const uint8_t[]){ 2, 0, 3, 0, 3, 1, 2, 1, 3, 2, 0 }, 11);
	translate_units(m);
	struct bytes now = wr_bytes(&m->d.section[DEBUG_ADDR].now);
	assert_int_equal(bytes_first(bytes_at(now, 8, 8)), start);
	assert_int_equal(bytes_first(bytes_at(now, 16, 8)), start);
	assert_int_equal(addresses_end(&m->d.addresses, at, &end, &m->err), 1);
	assert_int_equal(bytes_first(bytes_at(now, 24, 8)), end);
}

/* A form of other length than an offset's would take the unit for originals apart. */
static void a_name_is_a_string_or_none(void **state)
{
	static const struct {
		unsigned form, size;
		bool based, is_name;
	} kind[] = {
		{ DW_FORM_strp, 4, false, true }, { DW_FORM_line_strp, 4, false, true },
		{ DW_FORM_string, 4, false, true }, { DW_FORM_strx1, 1, true, true },
		{ DW_FORM_strx1, 1, false, false }, { DW_FORM_data1, 1, false, false },
		{ DW_FORM_data8, 8, false, false }, { DW_FORM_data4, 4, false, false },
		{ DW_FORM_flag_present, 0, false, false }, { DW_FORM_block1, 4, false, false },
	};

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		void *own = NULL;

		(void)state;
		assert_int_equal(setup(&own), 0);
		struct made *m = own;
		put_decl(m, 1, DW_TAG_compile_unit, false,
			 PAIRS(DW_AT_name, kind[i].form,
			       kind[i].based ? DW_AT_str_offsets_base : DW_AT_language,
			       DW_FORM_data4));
		wr_u8(&m->was[DEBUG_ABBREV], 0);
		begin_unit(m);
		wr_u8(&m->was[DEBUG_INFO], 1);
		wr_raw(&m->was[DEBUG_INFO], "\3ab\0\0\0\0\0", kind[i].size);
		wr_u32(&m->was[DEBUG_INFO], 8);
		m->d.str_offsets = (struct bytes){ (const uint8_t[40]){ 0 }, 40 };
		translate_units(m);
		const struct debug_string *name = &m->d.unit.v[0].name;
		if ((name->form != 0) != kind[i].is_name)
			fail_msg("form %#x: %#x", kind[i].form, name->form);
		assert_int_equal(name->value.n, kind[i].is_name ? 4 : 0);
		assert_int_equal(teardown(&own), 0);
	}
}

/* --- lists --- */

static void tables_of_lists_are_found_among_many(void **state)
{
	enum { TABLES = 40000, HEADER = 12, SIZE = HEADER + 4 + 1 };
	struct made *m = *state;
	struct wr *w = &m->was[DEBUG_RNGLISTS];
	struct debug_unit u = { .section = DEBUG_INFO, .version = 5 };
	addresses_ranges out = { 0 };

	for (int i = 0; i < TABLES; i++) {	/* one list each, which is empty */
		wr_u32(w, SIZE - 4);
		wr_u32(w, 0x00080005);
		wr_u32(w, 1);
		wr_u32(w, 4);
		wr_u8(w, DW_RLE_end_of_list);
	}
	set_sections(m);
	for (uint32_t i = TABLES; i-- > 0; )	/* and back, so that each is the last one */
		assert_int_equal(debug_use_table(&m->d, &m->d.ranges, &u,
						 HEADER + (uint64_t)SIZE * (i ^ 1), 0), 0);
	assert_int_equal(m->d.ranges.table.n, TABLES);
	for (int i = 0; i < 4 * MANY; i++) {
		u.rnglists_base = HEADER + SIZE * ((uint64_t)i * 7919 % TABLES);
		assert_int_equal(debug_read_ranges(&m->d, &u, DW_FORM_rnglistx, 0, &out), 0);
	}
	u.rnglists_base++;
	assert_int_equal(debug_read_ranges(&m->d, &u, DW_FORM_rnglistx, 0, &out), -1);
}

/* The place of a variable is written for each image of its range. */
static void a_list_that_grows_too_long_is_given_up(void **state)
{
	enum { LOCATION = 5000, MOST = 2000 };
	struct made *m = *state;
	struct wr *w = &m->was[DEBUG_LOCLISTS], *out = &m->d.section[DEBUG_LOCLISTS].now;
	struct debug_unit u = { .section = DEBUG_INFO, .version = 5 };
	addresses_ranges images = { 0 };
	uint32_t half = m->map.by_orig[m->map.nblock / 2];
	vaddr from = m->map.orig_base, to = from + m->map.block[half].orig;
	uint8_t location[LOCATION] = { 0 };
	uint64_t now;

	assert_int_equal(addresses_images(&m->d.addresses, from, to, &images, &m->err), 0);
	addresses_merge(&images, 0);
	assert_true(images.n >= 2);
	for (int i = 0; i < 10; i++) {
		wr_u8(w, DW_LLE_start_end);
		wr_u64(w, from);
		wr_u64(w, to);
		wr_uleb(w, LOCATION);
		wr_raw(w, location, LOCATION);
	}
	wr_u8(w, DW_LLE_end_of_list);
	set_sections(m);
	m->d.most_bytes = MOST;
	assert_int_equal(debug_translate_list(&m->d, &u, 0, &now), -1);
	assert_non_null(strstr(m->err.text, "too many lists"));
	assert_in_range(out->n, MOST, LOCATION + 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_of_what_was_left_out_are_put_in_front_at_once),
		TEST(nops_in_front_of_a_jump_are_not_walked_for_each),
		TEST(blocks_in_blocks_belong_to_what_is_around_them),
		TEST(a_slot_for_an_end_and_a_start_is_a_start),
		cmocka_unit_test(a_name_is_a_string_or_none),
		TEST(tables_of_lists_are_found_among_many),
		TEST(a_list_that_grows_too_long_is_given_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("hostile debug information", tests, NULL, NULL);
}
