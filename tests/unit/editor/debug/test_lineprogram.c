/* test_lineprogram.c - line programs are read as the standard says, and written so that they
 * are read the same
 *
 * Programs are made here, opcode by opcode.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "editor/debug/dwarfinfo.h"
#include "editor/debug/lineprogram.h"

enum { LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13, MAX_ROWS = 100 };

struct made {
	struct arena *a;
	struct wr unit, again;
	struct lineprogram p;
};

static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));

	m->a = arena_new();
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	arena_free(m->a);
	wr_free(&m->unit);
	wr_free(&m->again);
	test_free(m);
	return 0;
}

/* The header of DWARF `version`, with tables of files that nobody looks at. */
static void begin_as(struct made *m, uint16_t version, uint8_t range, uint8_t base)
{
	static const uint8_t operands[UINT8_MAX] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct wr *w = &m->unit;

	wr_u32(w, 0);
	wr_u16(w, version);
	if (version >= 5)
		wr_u16(w, 8);		/* sizes of addresses and of segments */
	size_t length = w->n;
	wr_u32(w, 0);
	wr_u8(w, 1);
	if (version >= 4)
		wr_u8(w, 1);
	wr_u8(w, 1);			/* default_is_stmt */
	wr_u8(w, (uint8_t)LINE_BASE);
	wr_u8(w, range);
	wr_u8(w, base);
	wr_raw(w, operands, base - 1u);
	wr_str(w, "tables of files");
	wr_put_u32(w, length, (uint32_t)(w->n - length - 4));
}

static void begin(struct made *m, uint16_t version)
{
	begin_as(m, version, LINE_RANGE, OPCODE_BASE);
}

static void put_address(struct made *m, uint64_t addr)
{
	wr_u8(&m->unit, DW_LNS_extended);
	wr_uleb(&m->unit, 9);
	wr_u8(&m->unit, DW_LNE_set_address);
	wr_u64(&m->unit, addr);
}

static void put_end(struct made *m)
{
	wr_u8(&m->unit, DW_LNS_extended);
	wr_uleb(&m->unit, 1);
	wr_u8(&m->unit, DW_LNE_end_sequence);
}

static void put_number(struct made *m, uint8_t opcode, uint64_t v)
{
	wr_u8(&m->unit, opcode);
	wr_uleb(&m->unit, v);
}

static int run(struct made *m, struct bytes unit)
{
	m->p = (struct lineprogram){ 0 };
	return lineprogram_read_header(unit, &m->p) == 1 ?
		       lineprogram_run(&m->p, m->a, MAX_ROWS) : -2;
}

static void every_opcode(struct made *m)
{
	put_address(m, 0x1000);
	wr_u8(&m->unit, DW_LNS_copy);
	put_number(m, DW_LNS_set_file, 3);
	put_number(m, DW_LNS_set_column, 7);
	wr_u8(&m->unit, DW_LNS_negate_stmt);
	wr_u8(&m->unit, DW_LNS_set_prologue_end);
	wr_u8(&m->unit, OPCODE_BASE + 2 * LINE_RANGE + 6);	/* 2 bytes, 1 line */
	wr_u8(&m->unit, DW_LNS_const_add_pc);			/* (255 - 13) / 14 = 17 */
	wr_u8(&m->unit, DW_LNS_advance_line);
	wr_sleb(&m->unit, 1000);
	wr_u8(&m->unit, DW_LNS_set_basic_block);
	wr_u8(&m->unit, DW_LNS_copy);
	wr_u8(&m->unit, DW_LNS_fixed_advance_pc);
	wr_u16(&m->unit, 0x300);
	wr_u8(&m->unit, DW_LNS_set_epilogue_begin);
	put_number(m, DW_LNS_set_isa, 2);
	wr_u8(&m->unit, DW_LNS_extended);
	wr_uleb(&m->unit, 2);
	wr_u8(&m->unit, DW_LNE_set_discriminator);
	wr_uleb(&m->unit, 9);
	wr_u8(&m->unit, DW_LNS_copy);
	put_number(m, DW_LNS_advance_pc, 5);
	put_end(m);
	put_address(m, 0x800);
	wr_u8(&m->unit, OPCODE_BASE + 5);
	put_number(m, DW_LNS_advance_pc, 1);
	put_end(m);
	wr_put_u32(&m->unit, 0, (uint32_t)(m->unit.n - 4));
}

static void check_rows(const struct made *m)
{
	static const struct lineprogram_row want[] = {
		{ .addr = 0x1000, .file = 1, .line = 1, .is_stmt = true },
		{ .addr = 0x1002, .file = 3, .line = 2, .column = 7, .prologue_end = true },
		{ .addr = 0x1013, .file = 3, .line = 1002, .column = 7, .basic_block = true },
		{ .addr = 0x1313, .file = 3, .line = 1002, .column = 7, .epilogue_begin = true,
		  .isa = 2, .discriminator = 9 },
		{ .addr = 0x1318, .end = true },
		{ .addr = 0x800, .file = 1, .line = 1, .is_stmt = true },
		{ .addr = 0x801, .end = true },
	};

	assert_int_equal(m->p.row.n, sizeof(want) / sizeof(want[0]));
	for (uint32_t i = 0; i < m->p.row.n; i++) {
		const struct lineprogram_row *r = &m->p.row.v[i];

		assert_int_equal(r->addr, want[i].addr);
		assert_int_equal(r->end, want[i].end);
		if (r->end)
			continue;
		assert_int_equal(r->file, want[i].file);
		assert_int_equal(r->line, want[i].line);
		assert_int_equal(r->column, want[i].column);
		assert_int_equal(r->isa, want[i].isa);
		assert_int_equal(r->discriminator, want[i].discriminator);
		assert_int_equal(r->is_stmt, want[i].is_stmt);
		assert_int_equal(r->basic_block, want[i].basic_block);
		assert_int_equal(r->prologue_end, want[i].prologue_end);
		assert_int_equal(r->epilogue_begin, want[i].epilogue_begin);
	}
}

static void every_opcode_is_run_in_every_version(void **state)
{
	struct made *m = *state;

	for (uint16_t version = 2; version <= 5; version++) {
		wr_free(&m->unit);
		begin(m, version);
		every_opcode(m);
		assert_int_equal(run(m, wr_bytes(&m->unit)), 0);
		check_rows(m);
	}
}

static void what_is_written_is_read_the_same(void **state)
{
	struct made *m = *state;

	for (uint16_t version = 2; version <= 5; version++) {
		wr_free(&m->unit);
		wr_free(&m->again);
		begin(m, version);
		every_opcode(m);
		assert_int_equal(run(m, wr_bytes(&m->unit)), 0);
		lineprogram_write(&m->p, &m->p.row, &m->again);
		assert_int_equal(bytes_first(bytes_at(wr_bytes(&m->again), 0, 4)),
				 m->again.n - 4);
		assert_int_equal(run(m, wr_bytes(&m->again)), 0);
		check_rows(m);
		/* the tables of files are there */
		assert_memory_equal(m->again.p + 4, m->unit.p + 4, m->p.header.n - 4);
	}
}

/* Steps of all kinds are written so that they are read the same. */
static void check_steps(struct made *m, uint8_t range, uint8_t base)
{
	lineprogram_rows rows = { 0 };
	uint64_t addr = 0x4000;
	uint32_t line = 5000;

	wr_free(&m->unit);
	wr_free(&m->again);
	begin_as(m, 5, range, base);
	assert_int_equal(lineprogram_read_header(wr_bytes(&m->unit), &m->p), 1);
	for (int i = 0; i < 60; i++) {
		struct lineprogram_row r = { .addr = addr, .line = line, .file = 1,
					     .is_stmt = i % 3 == 0 };

		vec_push(m->a, &rows, r);
		addr += (uint64_t)(i * i % 40 == 1 ? 100000 : i % 23);
		line = line + (uint32_t)(i % 19) - (i % 5 == 0 ? 700 : 9);
	}
	vec_push(m->a, &rows, ((struct lineprogram_row){ .addr = addr, .end = true }));
	lineprogram_write(&m->p, &rows, &m->again);
	assert_int_equal(run(m, wr_bytes(&m->again)), 0);
	assert_int_equal(m->p.row.n, rows.n);
	for (uint32_t i = 0; i + 1 < rows.n; i++) {
		assert_int_equal(m->p.row.v[i].addr, rows.v[i].addr);
		assert_int_equal(m->p.row.v[i].line, rows.v[i].line);
		assert_int_equal(m->p.row.v[i].is_stmt, rows.v[i].is_stmt);
	}
}

static void steps_of_any_size_are_written(void **state)
{
	check_steps(*state, LINE_RANGE, OPCODE_BASE);
}

/* Not each number of lines of the range has a special opcode then. */
static void opcodes_end_at_255(void **state)
{
	static const struct {
		uint8_t range, base;
	} odd[] = { { 14, 250 }, { 255, 10 }, { 255, 255 }, { 1, 255 }, { 14, 244 }, { 14, 242 } };

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		check_steps(*state, odd[i].range, odd[i].base);
}

static void a_program_cut_anywhere_is_malformed(void **state)
{
	struct made *m = *state;

	begin(m, 4);
	size_t header = m->unit.n;
	put_address(m, 0x1000);
	put_number(m, DW_LNS_advance_pc, 300);
	wr_u8(&m->unit, DW_LNS_copy);
	put_end(m);
	for (size_t n = 1; n < m->unit.n; n++) {
		int rc = run(m, bytes_at(wr_bytes(&m->unit), 0, n));

		if (n < header)
			assert_int_equal(rc, -2);
		else if (m->p.row.n > 0)
			assert_int_equal(rc, -1);	/* rows without an end */
	}
	assert_int_equal(run(m, wr_bytes(&m->unit)), 0);
}

static void too_many_rows_are_refused(void **state)
{
	struct made *m = *state;

	begin(m, 4);
	put_address(m, 0x1000);
	for (int i = 0; i <= MAX_ROWS; i++)
		wr_u8(&m->unit, DW_LNS_copy);
	put_end(m);
	assert_int_equal(run(m, wr_bytes(&m->unit)), -1);
}

static void other_versions_are_not_known(void **state)
{
	struct made *m = *state;

	begin(m, 6);
	assert_int_equal(lineprogram_read_header(wr_bytes(&m->unit), &m->p), 0);
	wr_free(&m->unit);
	begin(m, 4);
	m->unit.p[4 + 2 + 4 + 4] = 0;			/* line_range */
	assert_int_equal(lineprogram_read_header(wr_bytes(&m->unit), &m->p), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_opcode_is_run_in_every_version, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_written_is_read_the_same, setup,
						teardown),
		cmocka_unit_test_setup_teardown(steps_of_any_size_are_written, setup, teardown),
		cmocka_unit_test_setup_teardown(opcodes_end_at_255, setup, teardown),
		cmocka_unit_test_setup_teardown(a_program_cut_anywhere_is_malformed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(too_many_rows_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(other_versions_are_not_known, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lineprogram", tests, NULL, NULL);
}
