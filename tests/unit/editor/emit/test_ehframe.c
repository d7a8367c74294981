/* test_ehframe.c - unwind tables written from states say the same when they are read again */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "editor/emit/ehframe.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "binary/dwarf.h"
#include "binary/image.h"

enum { OLD = 0x10000, NEW = 0x900000, HDR = 0x8ff000, CODE = 0x1000, MOVED = 0x800000 };

struct made {
	struct arena *a;
	struct wr old, hdr, frame;
	struct cfi cfi, again;		/* read from the old bytes, from the written ones */
	struct err err;
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
	wr_free(&m->old);
	wr_free(&m->hdr);
	wr_free(&m->frame);
	test_free(m);
	return 0;
}

#define PUT(m, ...) wr_raw(&(m)->old, (const uint8_t[]){ __VA_ARGS__ },	\
			   sizeof((const uint8_t[]){ __VA_ARGS__ }))

static uint64_t begin(struct made *m, uint32_t id)
{
	uint64_t at = m->old.n;

	wr_u32(&m->old, 0);
	wr_u32(&m->old, id);
	return at;
}

static void end(struct made *m, uint64_t at)
{
	while (m->old.n % 4)
		wr_u8(&m->old, DW_CFA_nop);
	wr_put_u32(&m->old, at, (uint32_t)(m->old.n - at - 4));
}

static uint64_t begin_fde(struct made *m, uint64_t cie, vaddr addr, uint32_t len)
{
	uint64_t at = begin(m, (uint32_t)(m->old.n + 4 - cie));

	wr_u32(&m->old, (uint32_t)(addr - (OLD + m->old.n)));
	wr_u32(&m->old, len);
	return at;
}

static int read_section(struct made *m, const struct wr *w, vaddr addr, struct cfi *out)
{
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = addr, .p_filesz = w->n,
			  .p_memsz = 1ull << 41 };
	struct section sh = { .name = ".eh_frame", .h = { .sh_type = SHT_PROGBITS,
			      .sh_flags = SHF_ALLOC, .sh_addr = addr, .sh_size = w->n } };
	struct image img = { .file = wr_bytes(w), .ph = &ph, .nph = 1, .sh = &sh, .nsh = 1,
			     .pie_or_dso = true };

	return cfi_parse(&img, m->a, out, &m->err);
}

/* A CIE with personality and LSDA, one without, FDEs of all kinds of states. */
static void make_original(struct made *m)
{
	uint64_t cie = begin(m, 0);

	PUT(m, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 0, 1, 0, 0, 0x1b, 0x1b,
	    DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	end(m, cie);
	uint64_t fde = begin_fde(m, cie, CODE, 0x40);

	PUT(m, 4, 0x30, 0, 0, 0, DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 16,
	    DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6);
	end(m, fde);
	uint64_t plain = begin(m, 0);

	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16,
	    1);
	end(m, plain);
	fde = begin_fde(m, plain, CODE + 0x100, 0x80);
	PUT(m, 0, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 3, 2,
	    DW_CFA_advance_loc | 1, DW_CFA_same_value, 12, DW_CFA_undefined, 13,
	    DW_CFA_register, 14, 1, DW_CFA_val_offset, 15, 1, DW_CFA_GNU_args_size, 0x90, 1,
	    DW_CFA_advance_loc | 1, DW_CFA_expression, 8, 2, 0x77, 8, DW_CFA_val_expression, 9,
	    1, 0x9c, DW_CFA_offset_extended_sf, 10, 0x7d, DW_CFA_advance_loc | 1,
	    DW_CFA_def_cfa_expression, 2, 0x77, 16, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_sf,
	    6, 1, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 3,
	    DW_CFA_restore | 8, DW_CFA_undefined, 16, DW_CFA_advance_loc | 1,
	    DW_CFA_offset_extended, 67, 4, DW_CFA_expression, 122, 2, 0x77, 8,
	    DW_CFA_val_offset, 23, 1, DW_CFA_advance_loc | 1, DW_CFA_offset_extended_sf, 122,
	    0x7d, DW_CFA_restore | 23, DW_CFA_same_value, 0x91, 1);
	end(m, fde);
	fde = begin_fde(m, plain, CODE + 0x50, 0);	/* covers nothing */
	PUT(m, 0);
	end(m, fde);
	wr_u32(&m->old, 0);
	assert_int_equal(read_section(m, &m->old, OLD, &m->cfi), 0);
	assert_int_equal(m->cfi.nfde, 2);
	assert_int_equal(m->cfi.fde[1].nrow, 9);
}

static int write_spans(struct made *m, const struct ehframe_span *span, uint32_t nspan,
			const struct ehframe_row *row)
{
	struct ehframe_input in = {
		.cfi = &m->cfi, .span = span, .row = row, .nspan = nspan
	};

	if (ehframe_write(&in, HDR, NEW, &m->hdr, &m->frame, &m->err) < 0)
		return -1;
	assert_int_equal(m->hdr.n, ehframe_hdr_size(&in));
	return read_section(m, &m->frame, NEW, &m->again);
}

static void copies_mean_the_same(void **state)
{
	struct made *m = *state;

	make_original(m);
	assert_int_equal(write_spans(m, NULL, 0, NULL), 0);
	assert_int_equal(m->again.nfde, m->cfi.nfde);
	assert_int_equal(m->again.nrow, m->cfi.nrow);
	assert_int_equal(m->again.cie[0].personality, m->cfi.cie[0].personality);
	for (uint32_t i = 0; i < m->cfi.nfde; i++) {
		assert_int_equal(m->again.fde[i].addr, m->cfi.fde[i].addr);
		assert_int_equal(m->again.fde[i].len, m->cfi.fde[i].len);
		assert_int_equal(m->again.fde[i].lsda, m->cfi.fde[i].lsda);
		assert_int_equal(m->again.fde[i].cie, m->cfi.fde[i].cie);
	}
	for (uint32_t i = 0; i < m->cfi.nrow; i++) {
		assert_int_equal(m->again.rows[i].addr, m->cfi.rows[i].addr);
		assert_int_equal(m->again.rows[i].state, m->cfi.rows[i].state);
	}
}

/* Every pair of states in sequence, at distances that take every form of advance. */
static void any_sequence_of_states_is_read_again(void **state)
{
	struct made *m = *state;
	static const uint32_t step[] = { 1, 0x3f, 0x40, 0xff, 0x100, 0xffff, 0x10000 };
	struct ehframe_row row[2 * 9 * 9];
	uint32_t n = 0;
	new_vaddr at = MOVED;

	make_original(m);
	const struct fde *fde = &m->cfi.fde[1];

	for (uint32_t i = 0; i < fde->nrow; i++)
		for (uint32_t k = 0; k < fde->nrow; k++) {
			row[n++] = (struct ehframe_row){ at, m->cfi.rows[fde->row + i].state };
			at += step[n % 7];
			row[n++] = (struct ehframe_row){ at, m->cfi.rows[fde->row + k].state };
			at += step[n % 7];
		}
	struct ehframe_span span = { .cie = fde->cie, .addr = MOVED, .len = at - MOVED,
				       .nrow = n };

	assert_int_equal(write_spans(m, &span, 1, row), 0);
	assert_int_equal(m->again.nfde, 3);
	assert_int_equal(m->again.fde[2].addr, MOVED);
	assert_int_equal(m->again.fde[2].len, at - MOVED);
	assert_int_equal(m->again.fde[2].size % 8, 0);
	/* the copies come first, so states get the same numbers again */
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(cfi_state_at(&m->again, 2, row[i].addr), row[i].state);
}

/* libgcc's DW_CFA_restore takes a rule away instead of going back to the CIE's. */
static void rules_of_the_cie_come_back_by_name(void **state)
{
	struct made *m = *state;
	static const uint8_t want[] = { DW_CFA_register, 16, 2, DW_CFA_advance_loc | 4,
					DW_CFA_offset | 16, 1 };
	struct cfi_state two[2];

	make_original(m);
	two[0] = two[1] = m->cfi.state[m->cfi.cie[1].initial];
	two[0].reg[16] = (struct cfi_rule){ .kind = CFI_REGISTER, .off = 2 };
	m->cfi.cie[1].initial = 1;
	m->cfi.state = two;
	struct ehframe_row row[] = { { MOVED, 0 }, { MOVED + 4, 1 } };
	struct ehframe_span span = { .cie = 1, .addr = MOVED, .len = 8, .nrow = 2 };

	assert_int_equal(write_spans(m, &span, 1, row), 0);
	assert_non_null(memmem(m->frame.p + m->again.fde[2].off, m->again.fde[2].size, want,
			       sizeof(want)));
}

/* Copied as it is, it would mean an address as far away as the copy is. */
static void programs_with_addresses_are_refused(void **state)
{
	struct made *m = *state;
	uint64_t cie = begin(m, 0);

	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16,
	    1);
	end(m, cie);
	uint64_t fde = begin_fde(m, cie, CODE, 0x40);

	PUT(m, 0, DW_CFA_set_loc);
	wr_u32(&m->old, (uint32_t)(CODE + 0x10 - (OLD + m->old.n)));
	PUT(m, DW_CFA_def_cfa_offset, 16);
	end(m, fde);
	wr_u32(&m->old, 0);
	assert_int_equal(read_section(m, &m->old, OLD, &m->cfi), 0);
	assert_int_equal(m->cfi.fde[0].nrow, 2);
	assert_int_equal(write_spans(m, NULL, 0, NULL), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
	assert_non_null(strstr(m->err.text, "addresses"));
}

/* What cannot be run is copied byte by byte; a byte of an operand is no address. */
static void programs_that_nobody_follows_are_copied(void **state)
{
	struct made *m = *state;
	uint64_t cie = begin(m, 0);

	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16,
	    1);
	end(m, cie);
	uint64_t fde = begin_fde(m, cie, CODE, 0x40);

	PUT(m, 0, DW_CFA_restore_state, DW_CFA_def_cfa_offset, 1);
	end(m, fde);
	wr_u32(&m->old, 0);
	assert_int_equal(read_section(m, &m->old, OLD, &m->cfi), 0);
	assert_false(m->cfi.fde[0].understood);
	assert_int_equal(write_spans(m, NULL, 0, NULL), 0);
	assert_int_equal(m->again.fde[0].addr, CODE);
	assert_int_equal(m->again.fde[0].size, m->cfi.fde[0].size);
	assert_memory_equal(m->frame.p + m->again.fde[0].off + m->again.fde[0].insn_off,
			    m->old.p + m->cfi.fde[0].off + m->cfi.fde[0].insn_off,
			    m->cfi.fde[0].size - m->cfi.fde[0].insn_off);
}

static void initial_programs_with_addresses_are_refused(void **state)
{
	struct made *m = *state;
	uint64_t cie = begin(m, 0);

	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_set_loc);
	wr_u32(&m->old, (uint32_t)(CODE - (OLD + m->old.n)));
	end(m, cie);
	uint64_t fde = begin_fde(m, cie, CODE, 0x40);

	PUT(m, 0);
	end(m, fde);
	wr_u32(&m->old, 0);
	assert_int_equal(read_section(m, &m->old, OLD, &m->cfi), 0);
	assert_int_equal(write_spans(m, NULL, 0, NULL), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
}

static void a_piece_leads_to_its_exception_table(void **state)
{
	struct made *m = *state;

	make_original(m);
	struct ehframe_row row = { MOVED, m->cfi.cie[0].initial };
	struct ehframe_span span = { .cie = 0, .addr = MOVED, .len = 0x20, .nrow = 1,
				       .lsda = MOVED + 0x1234 };

	assert_int_equal(write_spans(m, &span, 1, &row), 0);
	assert_int_equal(m->again.fde[2].lsda, MOVED + 0x1234);
}

static void pieces_without_an_exception_table_have_none(void **state)
{
	struct made *m = *state;

	make_original(m);
	struct ehframe_row row = { MOVED, m->cfi.cie[0].initial };
	struct ehframe_span span = { .cie = 0, .addr = MOVED, .len = 0x20, .nrow = 1 };

	assert_int_equal(write_spans(m, &span, 1, &row), 0);
	assert_int_equal(m->again.fde[2].cie, 0);
	assert_int_equal(m->again.fde[2].lsda, 0);
	assert_int_equal(m->again.fde[0].lsda, m->cfi.fde[0].lsda);
}

static void the_search_table_has_every_fde_in_order(void **state)
{
	struct made *m = *state;

	make_original(m);
	struct ehframe_row row[] = { { MOVED + 0x20, m->cfi.cie[1].initial },
				     { MOVED, m->cfi.cie[1].initial } };
	struct ehframe_span span[] = {
		{ .cie = 1, .addr = MOVED + 0x20, .len = 0x10, .row = 0, .nrow = 1 },
		{ .cie = 1, .addr = MOVED, .len = 0x20, .row = 1, .nrow = 1 },
	};

	assert_int_equal(write_spans(m, span, 2, row), 0);
	struct rd r = rd_of(wr_bytes(&m->hdr));

	assert_int_equal(rd_u32(&r), 0x3b031b01);
	assert_int_equal(HDR + 4 + (int64_t)rd_s32(&r), NEW);
	assert_int_equal(rd_u32(&r), 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(HDR + (int64_t)rd_s32(&r), m->again.fde[i].addr);
		assert_int_equal(HDR + (int64_t)rd_s32(&r), NEW + m->again.fde[i].off);
	}
	assert_false(r.bad);
}

static void what_a_cie_cannot_say_is_refused(void **state)
{
	struct made *m = *state;

	make_original(m);
	struct ehframe_row row = { MOVED, 0 };		/* no CFA, no return address */
	struct ehframe_span span = { .cie = 1, .addr = MOVED, .len = 0x20, .nrow = 1 };

	assert_int_equal(write_spans(m, &span, 1, &row), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
	row.state = m->cfi.cie[1].initial;
	row.addr = span.addr = MOVED + ((uint64_t)1 << 40);
	assert_int_equal(write_spans(m, &span, 1, &row), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(copies_mean_the_same),
		T(any_sequence_of_states_is_read_again),
		T(rules_of_the_cie_come_back_by_name),
		T(programs_with_addresses_are_refused),
		T(programs_that_nobody_follows_are_copied),
		T(initial_programs_with_addresses_are_refused),
		T(a_piece_leads_to_its_exception_table),
		T(pieces_without_an_exception_table_have_none),
		T(the_search_table_has_every_fde_in_order),
		T(what_a_cie_cannot_say_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
