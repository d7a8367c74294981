/* emit_code.c - the bytes of new text and of new jump tables
 *
 * Instructions are copied.  The one field of an instruction that is relative to its own address
 * is computed anew, so that it means the same address or the image of that: of a moved function
 * that is called, of a block that is branched to, of a replaced jump table.  Some calls and
 * loads become longer (emit_longer.c).  Branches at the end of a block have the length that
 * relaxation gave them.
 *
 * INVARIANTS
 *   I1  what is written for a place has exactly the size that relaxation reckoned with
 *       (asserted: a difference is our bug);
 *   I2  gaps between places are int3; where control runs over one, it belongs to the place
 *       before it and is filled with NOPs.
 *
 * Tested by tests/unit/editor/emit/test_emit.c: a program with every kind of block end computes
 * the same in many orders.
 */
#include <assert.h>

#include "editor/emit/emit.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "postmorph/tables/tableload.h"

enum { INT3 = 0xcc, JMP8 = 0xeb, JMP32 = 0xe9, JCC8 = 0x70, JCC32 = 0x80, TWO_BYTE = 0x0f,
       GROUP5 = 0xff, CALL_SLOT = 0x15, JMP_SLOT = 0x25 };

struct encoder {
	const struct emit_plan *plan;
	const struct emit_place *place;
	const struct fn *fn;
	const struct block *block;
	uint8_t *out;			/* next byte of new text */
	new_vaddr at;			/* its address */
	struct err *err;
};

static int cannot(const struct encoder *e, vaddr addr, const char *what)
{
	return err_set(e->err, ERR_REFUSED, "%s: instruction at 0x%llx: %s",
		       emit_fn_text(e->plan->prog, e->fn), (unsigned long long)addr, what);
}

static void put(struct encoder *e, const void *p, size_t n)
{
	memcpy(e->out, p, n);
	e->out += n;
	e->at += n;
}

static void put_byte(struct encoder *e, uint8_t v)
{
	put(e, &v, 1);
}

/* A signed 32-bit displacement to `target` from the end of the field. */
static int put_rel32(struct encoder *e, new_vaddr target, vaddr orig)
{
	int64_t d = (int64_t)(target - (e->at + 4));
	int32_t v = (int32_t)d;

	if (d != v)
		return cannot(e, orig, "target is out of reach of 32 bits");
	put(e, &v, sizeof(v));
	return 0;
}

static new_vaddr dest_addr(const struct emit_plan *plan, const struct emit_dest *dest)
{
	return dest->place == NO_PLACE ? dest->addr : emit_place_addr(plan, dest->place);
}

/* Where the image of a call to `target` goes: to the image of the entry if that function is
 * moved. */
static new_vaddr call_target(const struct emit_plan *plan, vaddr target)
{
	uint32_t callee = emit_moved_entry(plan->prog, target);

	return callee == NO_FN ? target : emit_place_addr(plan, plan->place_of[callee][0]);
}

/* Rewrites the 4 bytes of `code` that hold the absolute address `from`, which must be
 * exactly one place, to `to`. */
static int replace_absolute(const struct encoder *e, uint8_t *code, const struct insn *insn,
			    vaddr orig, vaddr from, new_vaddr to)
{
	uint32_t old = (uint32_t)from, new = (uint32_t)to, found = 0, at = 0;

	for (uint32_t i = 1; i + 4 <= insn->len; i++) {
		if (memcmp(code + i, &old, 4) == 0) {
			found++;
			at = i;
		}
	}
	if (found != 1 || from > INT32_MAX)
		return cannot(e, orig, "does not hold its jump table's address");
	if (to > INT32_MAX)
		return cannot(e, orig, "new jump table is out of reach of 32 bits");
	memcpy(code + at, &new, 4);
	return 0;
}

/* call or jmp through the slot. */
static int put_slot(struct encoder *e, uint8_t modrm, vaddr slot, vaddr orig)
{
	put_byte(e, GROUP5);
	put_byte(e, modrm);
	return put_rel32(e, slot, orig);
}

/* With an index that the new table has no entry for, the original's load is the next. */
static int put_guard(struct encoder *e, struct bytes code, uint32_t n, vaddr orig)
{
	enum { REL32 = 4 };
	uint32_t size = tableload_guard_size(code, n) - REL32;
	uint8_t buf[TABLELOAD_GUARD_MAX];

	tableload_guard_write(code, n, buf);
	put(e, buf, size);
	return put_rel32(e, orig, orig);
}

/* The load of a table's entry, from the new table. */
static int put_load(struct encoder *e, const struct emit_table *table, struct bytes code,
		    vaddr orig)
{
	int64_t d =
		(int64_t)(e->plan->tables_addr + table->off - e->fn->table[table->table].addr);
	uint8_t buf[TABLELOAD_MAX];
	uint32_t guard = e->fn->table[table->table].guard;

	if (guard && put_guard(e, code, guard, orig) < 0)
		return -1;
	int32_t v = (int32_t)d;
	if (d != v)
		return cannot(e, orig, "new jump table is out of reach of 32 bits");
	tableload_write(code, v, buf);
	put(e, buf, tableload_size(code));
	return 0;
}

static int copy_insn(struct encoder *e, uint32_t index)
{
	const struct emit_plan *plan = e->plan;
	const struct insn *insn = &e->fn->insn[index];
	const uint32_t *table_of = plan->table_of[e->place->fn];
	vaddr orig = prog_insn_addr(plan->prog, insn);
	const uint8_t *code = prog_insn_bytes(plan->prog, insn);
	const struct emit_table *table = NULL;
	const struct jump_table *old = NULL;
	uint8_t buf[15];

	if (table_of && table_of[index] != NO_TABLE) {
		table = &plan->table[table_of[index]];
		old = &e->fn->table[table->table];
	}
	memcpy(buf, code, insn->len);
	if (insn->kind == INSN_CALL && emit_slot_of(plan->prog, e->block, insn))
		return put_slot(e, CALL_SLOT, emit_slot_of(plan->prog, e->block, insn), orig);
	if (emit_load_of(plan, e->place->fn, index))
		return put_load(e, table, (struct bytes){ code, insn->len }, orig);
	if (insn->field == 0) {
		if (table && replace_absolute(e, buf, insn, orig, old->addr,
					      plan->tables_addr + table->off) < 0)
			return -1;
		put(e, buf, insn->len);
		return 0;
	}
	if (insn->field_size != 4 || insn->field + 4u > insn->len ||
	    (insn_is_branch(insn) && insn->kind != INSN_CALL))
		return cannot(e, orig, "has a short branch inside a block");

	new_vaddr target = insn_target(insn, code, orig);
	int64_t d;
	int32_t v;

	if (insn->kind == INSN_CALL)
		target = call_target(plan, target);
	else if (insn_is_lea(insn, code) && emit_redirected(plan, target))
		target = emit_redirected(plan, target);
	else if (table)
		target = target - old->addr + plan->tables_addr + table->off;
	d = (int64_t)(target - (e->at + insn->len));
	v = (int32_t)d;
	if (d != v)
		return cannot(e, orig, "target is out of reach of 32 bits");
	memcpy(buf + insn->field, &v, 4);
	put(e, buf, insn->len);
	return 0;
}

/* A relative jump of either length. */
static int put_jmp(struct encoder *e, const struct relax_item *item, new_vaddr target,
		   vaddr orig)
{
	if (item->is_long) {
		put_byte(e, JMP32);
		return put_rel32(e, target, orig);
	}
	put_byte(e, JMP8);
	put_byte(e, (uint8_t)(target - (e->at + 1)));
	return 0;
}

static int put_jcc(struct encoder *e, const struct relax_item *item, uint8_t condition,
		   new_vaddr target, vaddr orig)
{
	if (item->is_long) {
		put_byte(e, TWO_BYTE);
		put_byte(e, JCC32 | condition);
		return put_rel32(e, target, orig);
	}
	put_byte(e, JCC8 | condition);
	put_byte(e, (uint8_t)(target - (e->at + 1)));
	return 0;
}

/* loop TARGET, or: loop +2; jmp +5; jmp rel32 TARGET. */
static int put_loop(struct encoder *e, const struct relax_item *item, uint8_t opcode,
		    new_vaddr target, vaddr orig)
{
	static const uint8_t stub[] = { 2, JMP8, 5, JMP32 };

	put_byte(e, opcode);
	if (!item->is_long) {
		put_byte(e, (uint8_t)(target - (e->at + 1)));
		return 0;
	}
	put(e, stub, sizeof(stub));
	return put_rel32(e, target, orig);
}

/* The re-encoded branch at the end of a block, prefixes included. */
static int put_branch(struct encoder *e, const struct relax_item *item)
{
	const struct insn *insn = &e->fn->insn[e->block->insn + e->block->ninsn - 1];
	const uint8_t *code = prog_insn_bytes(e->plan->prog, insn);
	vaddr orig = prog_insn_addr(e->plan->prog, insn);
	new_vaddr target = dest_addr(e->plan, &e->place->branch);
	uint32_t nopcode = insn->kind == INSN_XBEGIN ||
			   (insn->kind == INSN_JCC && insn->field_size == 4) ? 2 : 1;

	if (insn->field < nopcode)
		return cannot(e, orig, "branch without a displacement");
	put(e, code, insn->field - nopcode);
	if (e->place->slot)
		return put_slot(e, JMP_SLOT, e->place->slot, orig);
	switch (insn->kind) {
	case INSN_JMP:
		return put_jmp(e, item, target, orig);
	case INSN_JCC:
		return put_jcc(e, item, (code[insn->field - 1] & 0x0f) ^ e->place->inverted,
			       target, orig);
	case INSN_LOOP:
		return put_loop(e, item, code[insn->field - 1], target, orig);
	default:
		put(e, code + insn->field - 2, 2);
		return put_rel32(e, target, orig);
	}
}

/* As few NOPs as possible, in the multi-byte forms that Intel's and AMD's manuals recommend. */
static void put_nops(struct encoder *e, uint64_t n)
{
	static const uint8_t nop[][9] = {
		{ 0x90 },
		{ 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0x00 },
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	};

	while (n) {
		uint64_t k = n < sizeof(nop[0]) ? n : sizeof(nop[0]);

		put(e, nop[k - 1], k);
		n -= k;
	}
}

static void put_counter(struct encoder *e, const struct edgecounter *c, const struct insn *insn)
{
	if (!c)
		return;
	uint32_t n =
		edgecounter_write(e->plan->counters, c, e->plan->prog, insn, e->at, e->out);

	e->out += n;
	e->at += n;
}

static const struct edgecounter *find_counter(const struct encoder *e, enum edgecounter_at at,
					      uint32_t where)
{
	return emit_counters_find(e->plan, e->place, at, where);
}

static void put_before(struct encoder *e, uint32_t insn)
{
	put_counter(e, find_counter(e, EDGECOUNTER_BEFORE, insn), NULL);
	put_counter(e, find_counter(e, EDGECOUNTER_TARGET, insn),
		    &e->fn->insn[e->block->insn + insn]);
}

/* A branch whose taken edge is counted: jCC over; counter; jmp TARGET; over:
 * or, where the condition has no opposite: loop +2; jmp over; ... */
static int put_counted_branch(struct encoder *e, const struct relax_item *item,
			      const struct edgecounter *taken)
{
	const struct insn *insn = &e->fn->insn[e->block->insn + e->block->ninsn - 1];
	const uint8_t *code = prog_insn_bytes(e->plan->prog, insn);
	vaddr orig = prog_insn_addr(e->plan->prog, insn);
	uint32_t nopcode = insn->kind == INSN_JCC && insn->field_size == 4 ? 2 : 1;
	uint32_t over = emit_counters_taken(e->plan, e->place) +
			(item->is_long ? item->long_size : item->short_size);

	put(e, code, insn->field - nopcode);
	if (insn->kind == INSN_JCC) {
		put_byte(e, JCC8 | ((code[insn->field - 1] & 0x0f) ^ 1));
	} else {
		put_byte(e, code[insn->field - 1]);
		put_byte(e, 2);
		put_byte(e, JMP8);
	}
	put_byte(e, (uint8_t)over);
	put_counter(e, taken, NULL);
	return put_jmp(e, item, dest_addr(e->plan, &e->place->branch), orig);
}

static int put_entries(struct encoder *e, const struct relax_item *item)
{
	uint32_t n;
	const struct edgecounter *c =
		edgecounter_entries(e->plan->counters, e->place->fn, e->place->block, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = e->plan->place_of[e->place->fn][c[i].where];

		put_counter(e, &c[i], NULL);
		if (put_jmp(e, &item[i], emit_place_addr(e->plan, to), e->block->addr) < 0)
			return -1;
	}
	return 0;
}

static int encode_place(const struct emit_plan *plan, uint32_t index, uint8_t *text,
			struct err *err)
{
	const struct emit_place *p = &plan->place[index];
	const struct relax_item *item = &plan->item[p->item];
	struct encoder e = {
		.plan = plan, .place = p, .fn = &plan->prog->fn[p->fn],
		.out = text + item->addr, .at = plan->text_addr + item->addr, .err = err,
	};

	e.block = &e.fn->block[p->block];
	const struct edgecounter *taken = find_counter(&e, EDGECOUNTER_TAKEN, 0);

	for (uint32_t i = 0; i < p->nkept; i++) {
		put_before(&e, i);
		for (uint32_t k = emit_front_size(plan, p, i); k > 0; k--)
			put(&e, (uint8_t[]){ INSN_FRONT }, 1);
		if (copy_insn(&e, e.block->insn + i) < 0)
			return -1;
	}
	if (emit_ends_in_branch(e.fn, e.block))
		put_before(&e, e.block->ninsn - 1);
	if (p->branched && (taken ? put_counted_branch(&e, item++, taken) :
				    put_branch(&e, item++)) < 0)
		return -1;
	put_counter(&e, find_counter(&e, EDGECOUNTER_FALL, 0), NULL);
	if (put_entries(&e, &plan->item[p->item + p->nitem - p->nentry]) < 0)
		return -1;
	if (p->jumps && put_jmp(&e, item, dest_addr(plan, &p->jump), e.block->addr) < 0)
		return -1;
	put_nops(&e, emit_place_fill(plan, index));
	assert(e.at == emit_place_addr(plan, index) + emit_place_size(plan, index));
	return 0;
}

int emit_code_write(const struct emit_plan *plan, struct wr *text, struct err *err)
{
	if (plan->text_size == 0)
		return err_set(err, ERR_REFUSED, "no code to emit");
	uint8_t *bytes = wr_reserve(text, plan->text_size);

	memset(bytes, INT3, plan->text_size);
	for (uint32_t i = 0; i < plan->nplace; i++)
		if (encode_place(plan, i, bytes, err) < 0)
			return -1;
	return 0;
}

/* Entries past the proven bound of a table can be part of another table and lead to padding
 * between functions, which has no image: they keep the original address, as targets do that are
 * no block. */
static bool is_image(const struct fn *fn, uint32_t succ)
{
	return succ != NO_BLOCK && !(succ < fn->nblock && fn->block[succ].padding);
}

static int put_table_entry(const struct emit_plan *plan, const struct emit_table *et,
			   uint32_t i, uint8_t *out, struct err *err)
{
	const struct fn *fn = &plan->prog->fn[et->fn];
	const struct jump_table *t = &fn->table[et->table];
	new_vaddr base =
		t->kind == BLOCKMAP_TABLE_BESIDE32 ? t->addr : plan->tables_addr + et->off;
	new_vaddr target = t->target[i];

	if (is_image(fn, t->succ[i])) {
		struct emit_dest dest;

		if (emit_find_block(plan, et->fn, t->succ[i], &dest) < 0)
			return err_set(err, ERR_REFUSED, "%s: entry %u of jump table at 0x%llx "
				       "leads to no block", emit_fn_text(plan->prog, fn), i,
				       (unsigned long long)t->addr);
		new_vaddr counted = emit_counters_entry(plan, et->fn, et->table, t->succ[i]);

		target = counted ? counted : dest_addr(plan, &dest);
	}
	if (t->kind == BLOCKMAP_TABLE_ABS64) {
		memcpy(out + 8 * (size_t)i, &target, 8);
		return 0;
	}
	int64_t d = (int64_t)(target - base);
	int32_t v = (int32_t)d;

	if (d != v)
		return err_set(err, ERR_REFUSED,
			       "%s: entry %u of jump table at 0x%llx is out of "
			       "reach of 32 bits",
			       emit_fn_text(plan->prog, fn), i, (unsigned long long)t->addr);
	memcpy(out + 4 * (size_t)i, &v, 4);
	return 0;
}

int emit_tables_write(const struct emit_plan *plan, struct wr *tables, struct err *err)
{
	if (plan->tables_size == 0)
		return 0;
	uint8_t *bytes = wr_reserve(tables, plan->tables_size);

	for (uint32_t i = 0; i < plan->ntable; i++) {
		const struct emit_table *et = &plan->table[i];

		for (uint32_t k = 0; k < plan->prog->fn[et->fn].table[et->table].nentry; k++)
			if (put_table_entry(plan, et, k, bytes + et->off, err) < 0)
				return -1;
	}
	return 0;
}
