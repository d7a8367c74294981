/* test_cfi.c - call frame information read from bytes made here */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/wr.h"
#include "postmorph/unwind/cfi.h"
#include "binary/dwarf.h"
#include "binary/image.h"

enum { BASE = 0x400000, CODE = 0x1000, RSP = 7, RBP = 6, RBX = 3, R12 = 12 };

struct made {			/* an image that is nothing but an .eh_frame */
	struct arena *a;
	struct wr w;
	Elf64_Phdr ph[2];
	struct section sh;
	struct image img;
	struct cfi cfi;
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
	wr_free(&m->w);
	test_free(m);
	return 0;
}

static uint64_t begin(struct made *m, uint32_t id)
{
	uint64_t at = m->w.n;

	wr_u32(&m->w, 0);
	wr_u32(&m->w, id);
	return at;
}

static void end(struct made *m, uint64_t at)
{
	while (m->w.n % 8)
		wr_u8(&m->w, DW_CFA_nop);
	wr_put_u32(&m->w, at, (uint32_t)(m->w.n - at - 4));
}

static void put(struct made *m, const void *p, size_t n)
{
	wr_raw(&m->w, p, n);
}
#define PUT(m, ...) \
	put(m, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* "zR", pcrel sdata4, CFA = rsp + 8, return address at CFA - 8. */
static void put_cie(struct made *m)
{
	uint64_t at = begin(m, 0);

	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | 16,
	    1);
	end(m, at);
}

static uint64_t begin_fde(struct made *m, uint64_t cie, vaddr addr, uint32_t len)
{
	uint64_t at = begin(m, (uint32_t)(m->w.n + 4 - cie));

	wr_u32(&m->w, (uint32_t)(addr - (BASE + m->w.n)));
	wr_u32(&m->w, len);
	wr_u8(&m->w, 0);
	return at;
}

#define FDE(m, addr, len, ...) do {				\
	uint64_t at_ = begin_fde(m, 0, addr, len);		\
	PUT(m, __VA_ARGS__);					\
	end(m, at_);						\
} while (0)

static int parse(struct made *m)
{
	m->img.file = wr_bytes(&m->w);
	m->ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = BASE,
				 .p_filesz = m->w.n, .p_memsz = m->w.n };
	m->sh = (struct section){ .name = ".eh_frame", .h = {
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = BASE,
		.sh_size = m->w.n } };
	m->img.ph = m->ph;
	m->img.nph = 1;
	m->img.sh = &m->sh;
	m->img.nsh = 1;
	m->img.pie_or_dso = true;
	return cfi_parse(&m->img, m->a, &m->cfi, &m->err);
}

static const struct cfi_state *at(const struct made *m, vaddr addr)
{
	uint32_t fde = cfi_find(&m->cfi, addr);

	assert_int_not_equal(fde, UINT32_MAX);
	return &m->cfi.state[cfi_state_at(&m->cfi, fde, addr)];
}

static void rows_follow_the_instructions(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
	    DW_CFA_offset | RBP, 2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, RBP,
	    DW_CFA_advance_loc1, 0x10, DW_CFA_remember_state, DW_CFA_restore | RBP,
	    DW_CFA_def_cfa, RSP, 8, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	assert_int_equal(parse(m), 0);
	assert_int_equal(m->cfi.nfde, 1);
	assert_int_equal(m->cfi.fde[0].nrow, 5);
	assert_int_equal(at(m, CODE)->cfa_off, 8);
	assert_int_equal(at(m, CODE)->reg[CFI_RA].off, -8);
	assert_int_equal(at(m, CODE + 1)->cfa_off, 16);
	assert_int_equal(at(m, CODE + 1)->reg[RBP].kind, CFI_OFFSET);
	assert_int_equal(at(m, CODE + 1)->reg[RBP].off, -16);
	assert_int_equal(at(m, CODE + 3)->cfa_reg, RSP);
	assert_int_equal(at(m, CODE + 4)->cfa_reg, RBP);
	assert_int_equal(at(m, CODE + 0x14)->cfa_reg, RSP);
	assert_int_equal(at(m, CODE + 0x14)->reg[RBP].kind, CFI_UNSPEC);
	assert_int_equal(at(m, CODE + 0x15)->cfa_reg, RBP);
	assert_int_equal(at(m, CODE + 0x3f)->reg[RBP].kind, CFI_OFFSET);
	assert_int_equal(cfi_find(&m->cfi, CODE - 1), UINT32_MAX);
	assert_int_equal(cfi_find(&m->cfi, CODE + 0x40), UINT32_MAX);
}

static void remembered_states_nest_and_leave_the_argument_size(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x10, DW_CFA_remember_state, DW_CFA_def_cfa_offset, 16,
	    DW_CFA_remember_state, DW_CFA_def_cfa_offset, 24, DW_CFA_GNU_args_size, 32,
	    DW_CFA_advance_loc | 1, DW_CFA_restore_state, DW_CFA_advance_loc | 1,
	    DW_CFA_restore_state);
	assert_int_equal(parse(m), 0);
	assert_int_equal(at(m, CODE)->cfa_off, 24);
	assert_int_equal(at(m, CODE + 1)->cfa_off, 16);
	assert_int_equal(at(m, CODE + 2)->cfa_off, 8);
	assert_int_equal(at(m, CODE + 2)->args_size, 32);
}

static void equal_states_are_one_state(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x10, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
	    DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8);
	FDE(m, CODE + 0x10, 0x10, DW_CFA_advance_loc | 5, DW_CFA_def_cfa_sf, RSP, 0x7e);
	assert_int_equal(parse(m), 0);
	assert_ptr_equal(at(m, CODE), at(m, CODE + 2));
	assert_ptr_equal(at(m, CODE), at(m, CODE + 0x10));
	assert_ptr_equal(at(m, CODE + 1), at(m, CODE + 0x15));	/* -2 * -8 = 16 */
	assert_ptr_not_equal(at(m, CODE), at(m, CODE + 1));
}

static void rows_that_change_nothing_are_merged(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x10, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8,
	    DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 0,
	    DW_CFA_def_cfa_offset, 8);
	assert_int_equal(parse(m), 0);
	assert_int_equal(m->cfi.fde[0].nrow, 1);
}

static void every_rule_is_read(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x10, DW_CFA_undefined, 0, DW_CFA_same_value, 1, DW_CFA_register, 2, R12,
	    DW_CFA_val_offset, RBX, 1, DW_CFA_expression, 4, 2, 0x77, 0x08,
	    DW_CFA_val_expression, 5, 1, 0x9c, DW_CFA_offset_extended_sf, 8, 0x7f,
	    DW_CFA_GNU_negative_offset_extended, 9, 3, DW_CFA_GNU_args_size, 0x20,
	    DW_CFA_def_cfa_expression, 2, 0x77, 0x10);
	assert_int_equal(parse(m), 0);
	const struct cfi_state *s = at(m, CODE);

	assert_int_equal(s->reg[0].kind, CFI_UNDEFINED);
	assert_int_equal(s->reg[1].kind, CFI_SAME);
	assert_int_equal(s->reg[2].kind, CFI_REGISTER);
	assert_int_equal(s->reg[2].off, R12);
	assert_int_equal(s->reg[RBX].kind, CFI_VAL_OFFSET);
	assert_int_equal(s->reg[RBX].off, -8);
	assert_int_equal(s->reg[4].kind, CFI_EXPR);
	assert_int_equal(s->reg[4].expr.n, 2);
	assert_int_equal(s->reg[5].kind, CFI_VAL_EXPR);
	assert_int_equal(s->reg[5].expr.p[0], 0x9c);
	assert_int_equal(s->reg[8].off, 8);
	assert_int_equal(s->reg[9].off, 24);
	assert_int_equal(s->args_size, 0x20);
	assert_true(s->cfa_is_expr);
	assert_int_equal(s->cfa_expr.n, 2);
}

static void an_fde_we_cannot_follow_has_no_rows(void **state)
{
	struct made *m = *state;

	put_cie(m);
	/* no register has that number */
	FDE(m, CODE, 0x10, DW_CFA_offset_extended, 0xa0, 1, 2);
	FDE(m, CODE + 0x10, 0x10, 0x3f);			/* no such opcode */
	FDE(m, CODE + 0x20, 0x10, DW_CFA_restore_state);	/* nothing remembered */
	FDE(m, CODE + 0x30, 0x10, DW_CFA_advance_loc | 0x11);	/* out of its range */
	FDE(m, CODE + 0x40, 0x10, DW_CFA_expression, 4, 0x70);	/* cut off */
	FDE(m, CODE + 0x50, 0x10, DW_CFA_def_cfa, 40, 8);
	FDE(m, CODE + 0x60, 0x10, DW_CFA_nop);
	assert_int_equal(parse(m), 0);
	assert_int_equal(m->cfi.nfde, 7);
	for (int i = 0; i < 6; i++) {
		assert_false(m->cfi.fde[i].understood);
		assert_int_equal(m->cfi.fde[i].nrow, 0);
		assert_int_equal(cfi_state_at(&m->cfi, i, m->cfi.fde[i].addr), 0);
	}
	assert_true(m->cfi.fde[6].understood);
}

/* Vector and mask registers, set and restored, in any order. */
static void any_register_may_have_a_rule(void **state)
{
	enum { XMM6 = 23, ZMM16 = 67, K4 = 122, R31 = 145 };
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x40, DW_CFA_expression, K4, 2, 0x76, 0x78, DW_CFA_offset | XMM6, 2,
	    DW_CFA_advance_loc | 1, DW_CFA_remember_state, DW_CFA_offset_extended, ZMM16, 1,
	    DW_CFA_same_value, 0x80 | (R31 & 0x7f), R31 >> 7, DW_CFA_advance_loc | 1,
	    DW_CFA_restore_extended, K4, DW_CFA_advance_loc | 1, DW_CFA_restore_state,
	    DW_CFA_advance_loc | 1, DW_CFA_restore | XMM6, DW_CFA_restore_extended, K4);
	FDE(m, CODE + 0x40, 0x10, DW_CFA_offset | XMM6, 2, DW_CFA_expression, K4, 2, 0x76,
	    0x78);
	assert_int_equal(parse(m), 0);
	assert_true(m->cfi.fde[0].understood);
	assert_int_equal(m->cfi.fde[0].nrow, 5);
	assert_int_equal(cfi_rule_of(at(m, CODE), K4)->kind, CFI_EXPR);
	assert_int_equal(cfi_rule_of(at(m, CODE), K4)->expr.p[1], 0x78);
	assert_int_equal(cfi_rule_of(at(m, CODE), XMM6)->off, -16);
	assert_int_equal(cfi_rule_of(at(m, CODE), ZMM16)->kind, CFI_UNSPEC);
	assert_int_equal(cfi_rule_of(at(m, CODE + 1), ZMM16)->off, -8);
	assert_int_equal(cfi_rule_of(at(m, CODE + 1), R31)->kind, CFI_SAME);
	assert_int_equal(at(m, CODE + 1)->nother, 4);
	for (uint32_t i = 1; i < 4; i++)
		assert_true(at(m, CODE + 1)->other[i - 1].reg < at(m, CODE + 1)->other[i].reg);
	assert_int_equal(cfi_rule_of(at(m, CODE + 2), K4)->kind, CFI_UNSPEC);
	assert_int_equal(cfi_rule_of(at(m, CODE + 2), R31)->kind, CFI_SAME);
	assert_ptr_equal(at(m, CODE + 3), at(m, CODE));
	assert_ptr_equal(at(m, CODE + 0x40), at(m, CODE));
	assert_int_equal(at(m, CODE + 4)->nother, 0);
	assert_ptr_equal(at(m, CODE + 4), &m->cfi.state[m->cfi.cie[0].initial]);
}

static void too_many_rules_are_not_followed(void **state)
{
	struct made *m = *state;

	put_cie(m);
	for (uint32_t n = 64; n <= 65; n++) {
		uint64_t fde = begin_fde(m, 0, CODE + n * 0x10, 0x10);

		for (uint32_t i = 0; i < n; i++)
			PUT(m, DW_CFA_undefined, (uint8_t)(17 + i));
		end(m, fde);
	}
	assert_int_equal(parse(m), 0);
	assert_true(m->cfi.fde[0].understood);
	assert_int_equal(at(m, CODE + 64 * 0x10)->nother, 64);
	assert_false(m->cfi.fde[1].understood);
}

/* By opcodes and operands, also where nobody can follow what they do. */
static void operands_are_no_addresses(void **state)
{
	struct made *m = *state;
	static const struct { bool want; uint8_t n, p[12];
	} c[] = {
		{ false,
		  7,
		  { DW_CFA_restore_state, DW_CFA_advance_loc1, 1, DW_CFA_advance_loc2, 1, 1,
		    DW_CFA_nop } },
		{ false,
		  12,
		  { DW_CFA_restore_state, DW_CFA_advance_loc4, 1, 1, 1, 1, DW_CFA_offset | 3, 1,
		    DW_CFA_val_expression, 1, 1, 1 } },
		{ false,
		  8,
		  { DW_CFA_restore_state, DW_CFA_def_cfa, 1, 1, DW_CFA_register, 1, 1,
		    DW_CFA_remember_state } },
		{ false, 3, { 0x3f, 2, 2 } },
		{ true, 3, { 0x3f, 1, 2 } },
		{ true, 6, { DW_CFA_restore_state, DW_CFA_set_loc, 0, 0, 0, 0 } },
		{ true,
		  8,
		  { DW_CFA_restore_state, DW_CFA_def_cfa_offset, 1, DW_CFA_set_loc, 0, 0, 0,
		    0 } },
		{ true,
		  5,
		  { DW_CFA_restore_state, DW_CFA_expression, 4, 0x70, 1 } },	/* cut off */
		{ true,
		  10,
		  { DW_CFA_expression, 3, 6, DW_OP_GNU_encoded_addr, 0x1b, 4, 0, 0, 0,
		    DW_CFA_nop } },
		{ true, 8, { DW_CFA_def_cfa_expression, 6, DW_OP_GNU_encoded_addr, 0x1b, 4 } },
		{ false, 3, { 0x3f, DW_OP_GNU_encoded_addr - 1, 2 } },
		{ true, 3, { 0x3f, DW_OP_GNU_encoded_addr, 2 } },
	};

	put_cie(m);
	for (uint32_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		uint64_t fde = begin_fde(m, 0, CODE + i * 0x10, 0x10);

		put(m, c[i].p, c[i].n);
		end(m, fde);
	}
	assert_int_equal(parse(m), 0);
	for (uint32_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		assert_false(m->cfi.fde[i].understood);
		assert_int_equal(m->cfi.fde[i].has_address, c[i].want);
	}
}

static void overlapping_fdes_are_malformed(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE + 0x30, 0x10, DW_CFA_nop);
	FDE(m, CODE, 0x20, DW_CFA_nop);
	FDE(m, CODE + 0x1f, 0x10, DW_CFA_nop);
	assert_int_equal(parse(m), -1);
	assert_int_equal(m->err.kind, ERR_INPUT);
}

static void fdes_that_cover_nothing_are_dropped(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE + 0x30, 0x10, DW_CFA_nop);
	FDE(m, CODE, 0x20, DW_CFA_nop);
	FDE(m, CODE + 0x18, 0, DW_CFA_nop);
	assert_int_equal(parse(m), 0);
	assert_int_equal(m->cfi.nfde, 2);
	assert_int_equal(m->cfi.fde[0].addr, CODE);
	assert_true(m->cfi.fde[0].understood && m->cfi.fde[1].understood);
}

static void personality_and_lsda_are_found(void **state)
{
	struct made *m = *state;
	uint64_t rec = begin(m, 0);

	PUT(m, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b);
	uint64_t where = m->w.n;

	wr_u32(&m->w, 0x100);
	PUT(m, 0x1b, 0x1b, DW_CFA_def_cfa, RSP, 8);
	end(m, rec);
	uint64_t fde = begin(m, (uint32_t)(m->w.n + 4));

	wr_u32(&m->w, (uint32_t)(CODE - (BASE + m->w.n)));
	wr_u32(&m->w, 0x10);
	wr_u8(&m->w, 4);
	uint64_t lsda = m->w.n;

	wr_u32(&m->w, 0x40);
	end(m, fde);
	assert_int_equal(parse(m), 0);
	assert_int_equal(m->cfi.cie[0].personality, BASE + where + 0x100);
	assert_int_equal(m->cfi.cie[0].personality_off, where);
	assert_int_equal(m->cfi.fde[0].lsda, BASE + lsda + 0x40);
	assert_int_equal(m->cfi.fde[0].lsda_off, lsda - fde);
	assert_int_equal(m->cfi.fde[0].pc_off, 8);
}

static void signal_frames_are_marked(void **state)
{
	struct made *m = *state;
	uint64_t rec = begin(m, 0);

	PUT(m, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, DW_CFA_nop);
	end(m, rec);
	FDE(m, CODE, 1, DW_CFA_nop);
	assert_int_equal(parse(m), 0);
	assert_true(m->cfi.cie[0].signal_frame);
}

static void the_terminator_ends_it(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 1, DW_CFA_nop);
	uint64_t used = m->w.n;

	wr_u32(&m->w, 0);
	PUT(m, 0xff, 0xff, 0xff, 0xff);
	assert_int_equal(parse(m), 0);
	assert_int_equal(m->cfi.bytes.n, used);
}

static void what_cannot_be_copied_is_refused(void **state)
{
	struct made *m = *state;
	uint64_t rec = begin(m, 0);

	PUT(m, 1, 'z', 'Q', 0, 1, 0x78, 16, 1, 0);
	end(m, rec);
	assert_int_equal(parse(m), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
	m->w.n = 0;
	rec = begin(m, 0);
	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_datarel | DW_EH_PE_sdata4);
	end(m, rec);
	assert_int_equal(parse(m), -1);
	assert_int_equal(m->err.kind, ERR_REFUSED);
	m->w.n = 0;
	rec = begin(m, 0);
	/* would need relocations */
	PUT(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_absptr);
	end(m, rec);
	assert_int_equal(parse(m), -1);
}

static void every_cut_of_it_is_an_error_or_shorter(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16);
	FDE(m, CODE + 0x40, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16);
	size_t whole = m->w.n;

	for (size_t n = 0; n < whole; n++) {
		m->w.n = n;
		if (parse(m) == 0)
			assert_true(m->cfi.nfde < 2);
		else
			assert_int_equal(m->err.kind, ERR_INPUT);
	}
}

/* Any byte may be any value: no crash, no row out of its FDE, no order broken. */
static void any_flipped_byte_keeps_the_invariants(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x40, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
	    DW_CFA_remember_state, DW_CFA_advance_loc2, 8, 0, DW_CFA_restore_state);
	FDE(m, CODE + 0x40, 0x40, DW_CFA_expression, 3, 2, 0x77, 8, DW_CFA_advance_loc4, 1, 0,
	    0, 0, DW_CFA_def_cfa_offset, 24);
	for (size_t i = 0; i < m->w.n; i++) {
		uint8_t old = m->w.p[i];

		for (unsigned v = 0; v < 256; v++) {
			m->w.p[i] = (uint8_t)v;
			if (parse(m) < 0)
				continue;
			for (uint32_t f = 0; f < m->cfi.nfde; f++) {
				const struct fde *fde = &m->cfi.fde[f];

				assert_true(f == 0 || fde[-1].addr <= fde->addr);
				assert_true(fde->understood == (fde->nrow > 0));
				for (uint32_t r = fde->row; r < fde->row + fde->nrow; r++)
					assert_true(m->cfi.rows[r].addr - fde->addr <
							    fde->len &&
						    m->cfi.rows[r].state < m->cfi.nstate);
			}
		}
		m->w.p[i] = old;
	}
}

static void found_through_the_search_table_header(void **state)
{
	struct made *m = *state;

	put_cie(m);
	FDE(m, CODE, 0x10, DW_CFA_nop);
	wr_u32(&m->w, 0);
	uint64_t hdr = m->w.n;

	PUT(m, 1, 0x1b, 0x03, 0x3b);
	wr_u32(&m->w, (uint32_t)-(hdr + 4));
	wr_u32(&m->w, 0);
	assert_int_equal(parse(m), 0);
	m->img.nsh = 0;
	m->img.nph = 2;
	m->ph[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
				 .p_vaddr = BASE + hdr, .p_offset = hdr, .p_filesz = 12,
				 .p_memsz = 12 };
	m->cfi = (struct cfi){ 0 };
	assert_int_equal(cfi_parse(&m->img, m->a, &m->cfi, &m->err), 0);
	assert_int_equal(m->cfi.eh_frame, BASE);
	assert_int_equal(m->cfi.nfde, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(rows_follow_the_instructions),
		T(remembered_states_nest_and_leave_the_argument_size),
		T(equal_states_are_one_state),
		T(rows_that_change_nothing_are_merged),
		T(every_rule_is_read),
		T(an_fde_we_cannot_follow_has_no_rows),
		T(any_register_may_have_a_rule),
		T(too_many_rules_are_not_followed),
		T(operands_are_no_addresses),
		T(overlapping_fdes_are_malformed),
		T(fdes_that_cover_nothing_are_dropped),
		T(personality_and_lsda_are_found),
		T(signal_frames_are_marked),
		T(the_terminator_ends_it),
		T(what_cannot_be_copied_is_refused),
		T(every_cut_of_it_is_an_error_or_shorter),
		T(any_flipped_byte_keeps_the_invariants),
		T(found_through_the_search_table_header),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
