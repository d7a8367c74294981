/* lineprogram.c - the machine of line programs (DWARF 2 to 5, section 6.2), and its assembler
 *
 * The header is looked at only as far as the numbers that opcodes depend on; its tables of
 * files are passed by.  Numbers of operations and views are left out: x86 has one operation in
 * an instruction, and views count rows.
 *
 * Tested by tests/unit/editor/debug/test_lineprogram.c.
 */
#include "editor/debug/lineprogram.h"

#include "editor/debug/dwarfinfo.h"

enum { LAST_KNOWN = DW_LNS_set_isa };

int lineprogram_read_header(struct bytes unit, struct lineprogram *out)
{
	struct rd r = rd_of(unit);
	struct lineprogram p = { 0 };

	(void)rd_u32(&r);		/* its length is unit.n */
	uint16_t version = rd_u16(&r);
	if (version < 2 || version > 5)
		return r.bad ? -1 : 0;
	if (version >= 5 && (rd_u8(&r) != 8 || rd_u8(&r) != 0))
		return r.bad ? -1 : 0;	/* sizes of addresses and segments */
	uint64_t header_length = rd_u32(&r), tables = (uint64_t)(r.p - unit.p);
	uint8_t min_length = rd_u8(&r), max_ops = version >= 4 ? rd_u8(&r) : 1;
	p.default_is_stmt = rd_u8(&r) != 0;
	p.line_base = (int8_t)rd_u8(&r);
	p.line_range = rd_u8(&r);
	p.opcode_base = rd_u8(&r);
	if (r.bad || p.line_range == 0 || p.opcode_base <= DW_LNS_fixed_advance_pc)
		return -1;
	if (min_length != 1 || max_ops > 1)
		return 0;
	p.operands = rd_skip(&r, p.opcode_base - 1);
	uint64_t code = tables + header_length;
	if (r.bad || code < (uint64_t)(r.p - unit.p) || code > unit.n)
		return -1;
	p.header = bytes_at(unit, 0, code);
	p.code = bytes_at(unit, code, unit.n - code);
	*out = p;
	return 1;
}

/* --- reading --- */

struct machine {
	struct lineprogram *p;
	struct arena *a;
	struct rd r;
	struct lineprogram_row now;
	uint32_t max;
	bool full;
};

static void reset(struct machine *m)
{
	m->now = (struct lineprogram_row){ .file = 1, .line = 1,
					   .is_stmt = m->p->default_is_stmt };
}

static void add_row(struct machine *m)
{
	if (m->p->row.n >= m->max) {
		m->full = true;
		return;
	}
	vec_push(m->a, &m->p->row, m->now);
	m->now.basic_block = m->now.prologue_end = m->now.epilogue_begin = false;
	m->now.discriminator = 0;
}

static void run_extended(struct machine *m)
{
	uint64_t n = rd_uleb(&m->r);
	const uint8_t *p = rd_skip(&m->r, n);
	struct rd r = rd_of((struct bytes){ p, p ? n : 0 });

	switch (rd_u8(&r)) {
	case DW_LNE_end_sequence:
		m->now.end = true;
		add_row(m);
		reset(m);
		break;
	case DW_LNE_set_address:
		m->now.addr = rd_u64(&r);
		break;
	case DW_LNE_set_discriminator:
		m->now.discriminator = (uint32_t)rd_uleb(&r);
		break;
	default:
		return;			/* its length is known */
	}
	m->r.bad |= r.bad;
}

static uint64_t const_add(const struct lineprogram *p)
{
	return (uint8_t)(255 - p->opcode_base) / p->line_range;
}

static void run_standard(struct machine *m, uint8_t opcode)
{
	struct lineprogram_row *now = &m->now;

	switch (opcode) {
	case DW_LNS_copy: add_row(m); return;
	case DW_LNS_advance_pc: now->addr += rd_uleb(&m->r); return;
	case DW_LNS_advance_line: now->line += (uint32_t)rd_sleb(&m->r); return;
	case DW_LNS_set_file: now->file = (uint32_t)rd_uleb(&m->r); return;
	case DW_LNS_set_column: now->column = (uint32_t)rd_uleb(&m->r); return;
	case DW_LNS_negate_stmt: now->is_stmt = !now->is_stmt; return;
	case DW_LNS_set_basic_block: now->basic_block = true; return;
	case DW_LNS_const_add_pc: now->addr += const_add(m->p); return;
	case DW_LNS_fixed_advance_pc: now->addr += rd_u16(&m->r); return;
	case DW_LNS_set_prologue_end: now->prologue_end = true; return;
	case DW_LNS_set_epilogue_begin: now->epilogue_begin = true; return;
	case DW_LNS_set_isa: now->isa = (uint32_t)rd_uleb(&m->r); return;
	default:
		for (uint8_t i = 0; i < m->p->operands[opcode - 1]; i++)
			(void)rd_uleb(&m->r);	/* not known; the machine ends if bad */
	}
}

int lineprogram_run(struct lineprogram *p, struct arena *a, uint32_t max)
{
	struct machine m = { .p = p, .a = a, .r = rd_of(p->code), .max = max };

	reset(&m);
	while (rd_left(&m.r) > 0 && !m.full) {
		uint8_t opcode = rd_u8(&m.r);

		if (opcode >= p->opcode_base) {
			uint8_t special = (uint8_t)(opcode - p->opcode_base);

			m.now.addr += special / p->line_range;
			m.now.line += (uint32_t)(p->line_base + special % p->line_range);
			add_row(&m);
		} else if (opcode == DW_LNS_extended) {
			run_extended(&m);
		} else {
			run_standard(&m, opcode);
		}
	}
	if (m.r.bad || m.full || (p->row.n > 0 && !p->row.v[p->row.n - 1].end))
		return -1;
	return 0;
}

/* --- writing --- */

struct assembler {
	const struct lineprogram *p;
	struct lineprogram_row now;	/* state of the machine */
	bool begun;			/* it has an address */
	struct wr *out;
};

static void put_extended(struct assembler *as, uint8_t opcode, const struct wr *operand)
{
	wr_u8(as->out, DW_LNS_extended);
	wr_uleb(as->out, 1 + operand->n);
	wr_u8(as->out, opcode);
	wr_raw(as->out, operand->p, operand->n);
}

static void put_number(struct assembler *as, uint8_t opcode, uint32_t was, uint32_t v)
{
	if (was == v)
		return;
	wr_u8(as->out, opcode);
	wr_uleb(as->out, v);
}

static void put_flag(struct assembler *as, uint8_t opcode, bool flag)
{
	if (flag)
		wr_u8(as->out, opcode);
}

static void put_address(struct assembler *as, uint64_t addr)
{
	struct wr operand = { 0 };

	if (as->begun)
		return;
	wr_u64(&operand, addr);
	put_extended(as, DW_LNE_set_address, &operand);
	wr_free(&operand);
	as->now.addr = addr;
	as->now.file = UINT32_MAX;	/* to be said: some readers begin with another than 1 */
	as->begun = true;
}

/* What rows have beside address and line. */
static void put_state(struct assembler *as, const struct lineprogram_row *row)
{
	put_number(as, DW_LNS_set_file, as->now.file, row->file);
	put_number(as, DW_LNS_set_column, as->now.column, row->column);
	put_flag(as, DW_LNS_negate_stmt, as->now.is_stmt != row->is_stmt);
	put_flag(as, DW_LNS_set_basic_block, row->basic_block);
	put_flag(as, DW_LNS_set_prologue_end, row->prologue_end);
	put_flag(as, DW_LNS_set_epilogue_begin, row->epilogue_begin);
	put_number(as, DW_LNS_set_isa, as->now.isa, row->isa);
	if (row->discriminator) {
		struct wr operand = { 0 };

		wr_uleb(&operand, row->discriminator);
		put_extended(as, DW_LNE_set_discriminator, &operand);
		wr_free(&operand);
	}
}

/* There is a special opcode for so many lines, with no step of the address. */
static bool is_special(const struct lineprogram *p, int64_t lines)
{
	return lines >= p->line_base && lines < p->line_base + p->line_range &&
	       p->opcode_base + (lines - p->line_base) <= 255;
}

/* A special opcode does both steps and adds the row, if they are short. */
static void put_row(struct assembler *as, const struct lineprogram_row *row)
{
	const struct lineprogram *p = as->p;
	uint64_t step = row->addr - as->now.addr;
	int64_t lines = (int64_t)row->line - as->now.line;

	if (!is_special(p, lines)) {
		wr_u8(as->out, DW_LNS_advance_line);
		wr_sleb(as->out, lines);
		lines = 0;
	}
	bool fits = is_special(p, lines);
	uint64_t opcode = p->opcode_base + (uint64_t)(lines - p->line_base);

	if (step > 255 || opcode + step * p->line_range > 255) {
		wr_u8(as->out, DW_LNS_advance_pc);
		wr_uleb(as->out, step);
		step = 0;
	}
	opcode += step * p->line_range;
	if (fits && opcode <= 255) {
		wr_u8(as->out, (uint8_t)opcode);
		return;
	}
	if (step) {
		wr_u8(as->out, DW_LNS_advance_pc);
		wr_uleb(as->out, step);
	}
	wr_u8(as->out, DW_LNS_copy);
}

static void put_end(struct assembler *as, const struct lineprogram_row *row)
{
	struct wr none = { 0 };

	if (row->addr != as->now.addr) {
		wr_u8(as->out, DW_LNS_advance_pc);
		wr_uleb(as->out, row->addr - as->now.addr);
	}
	put_extended(as, DW_LNE_end_sequence, &none);
}

void lineprogram_write(const struct lineprogram *p, const lineprogram_rows *rows,
		       struct wr *out)
{
	const struct lineprogram_row fresh = { .file = 1, .line = 1,
					       .is_stmt = p->default_is_stmt };
	struct assembler as = { p, fresh, false, out };
	size_t at = out->n;

	wr_raw(out, p->header.p, p->header.n);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct lineprogram_row *row = &rows->v[i];

		put_address(&as, row->addr);
		if (row->end) {
			put_end(&as, row);
			as.now = fresh;
			as.begun = false;
			continue;
		}
		put_state(&as, row);
		put_row(&as, row);
		as.now = *row;
	}
	wr_put_u32(out, at, (uint32_t)(out->n - at - 4));
}
