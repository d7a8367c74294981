/* tablescan.c - reads the words at an address that may be a jump table's
 *
 * Words are read on from the address for as long as they lead where a case of a switch may lie:
 *   OWN      an instruction of the function or its fragments
 *   KIN      an instruction of a piece that jumps tie to the function: a fragment that looks
 *            like a function, because its frame is gone or there never was one
 *   START    of a piece that nothing calls or points to: such a fragment, entered by the table
 *   END      exactly behind one of these (Clang's filler for cases that cannot be)
 * A run ends where another function's table begins, at the latest: where an instruction of that
 * one forms the address, and the first entry leads into it.  Functions and their tables stand
 * in the same order, so that such entries, read as more of this table, would lead to the end of
 * this function.  The run may be longer than the table when another one of the same function
 * stands behind it.  An entry of a new table leads to the image of wherever the original's
 * leads; but who follows them sees ways that there are not, so those behind the next table's
 * start are left out (tablewalk_own_entries()) unless a comparison admits them.
 *
 * How long a table is the run does not tell: arrays of labels have gaps, entries lead to what
 * is no part of the function for all that one knows, and addresses are formed in the middle of
 * tables, or in front of them.  Only the index does (tablewalk.c).  A comparison that admits
 * more entries than the run has tells what the words behind it are: cases in parts of the
 * function that were not recognised as such.
 *
 * Tested by tests/unit/postmorph/tables/test_jumptable.c.
 */
#include <stdlib.h>

#include "lib/blockmap.h"
#include "lib/search.h"
#include "postmorph/ir/text.h"
#include "postmorph/tables/tablescan.h"

enum { MAX_RUN = 1 << 16, LEA = 0x8d };

enum word { NO_CODE, FOREIGN, OWN, KIN, START, END };

bool tablescan_is_filler(const struct text *t, const struct fn *fn, vaddr addr)
{
	uint32_t home = fn->range[0].fde, p = text_piece(t, addr - 1);

	return p != UINT32_MAX && addr == t->piece[p].addr + t->piece[p].size &&
	       (t->prog->fn_of_fde[p] == t->piece[home].fn ||
		text_kin(t, p) == text_kin(t, home));
}

static enum word classify(const struct text *t, const struct fn *fn, vaddr addr)
{
	uint32_t home = fn->range[0].fde;

	if (tablescan_is_filler(t, fn, addr))
		return END;
	if (!text_holds(t, addr) || !(*text_mark(t, addr) & MARK_INSN))
		return NO_CODE;
	uint32_t p = text_piece(t, addr);
	if (p == UINT32_MAX)
		return NO_CODE;
	if (t->prog->fn_of_fde[p] == t->piece[home].fn)
		return OWN;
	if (text_kin(t, p) == text_kin(t, home))
		return KIN;
	return addr == t->piece[p].addr && t->piece[p].skip != SKIP_PLT &&
	       !t->called[t->prog->fn_of_fde[p]] && !(*text_mark(t, addr) & MARK_HELD) ?
	       START : FOREIGN;
}

static vaddr read_word(struct rd *rd, vaddr table, uint32_t kind)
{
	return kind == BLOCKMAP_TABLE_REL32 ? table + (vaddr)(int64_t)rd_s32(rd) : rd_u64(rd);
}

bool tablescan_extend(const struct text *t, struct arena *a, const struct fn *fn, vaddr addr,
		      uint32_t kind, uint32_t nentry, struct tablescan *scan)
{
	uint64_t size = (uint64_t)tablescan_entry_size(kind) * nentry;
	struct bytes b = image_at(&t->prog->img, addr, size);
	struct rd rd = rd_of(b);

	if (nentry > MAX_RUN || !b.p || image_is_writable(&t->prog->img, addr + size - 1))
		return false;
	vaddr *target = arena_array(a, nentry, sizeof(*target));
	for (uint32_t i = 0; i < nentry; i++) {
		target[i] = read_word(&rd, addr, kind);
		if (classify(t, fn, target[i]) == NO_CODE)
			return false;
	}
	scan->target = target;
	scan->nentry = nentry;
	return true;
}

enum { ENTRY = 9 };		/* bytes of endbr64 and the entry jump */

/* The operand of value(,index,8), with the value in the last four bytes; 0 for all others. */
static vaddr absolute_operand(const struct insn *insn, const uint8_t *code)
{
	struct rd r = rd_of((struct bytes){ code, insn->len });

	if (insn->len < 7)
		return 0;
	(void)rd_skip(&r, insn->len - 6u);
	uint8_t modrm = rd_u8(&r), sib = rd_u8(&r);
	return (modrm & 0xc7) == 0x04 && (sib & 0xc7) == 0xc5 ? (vaddr)(int64_t)rd_s32(&r) : 0;
}

struct seeming {		/* what may be a table: entry 0 leads into the function */
	vaddr addr;
	uint32_t kind;
};

static int seeming_cmp(const void *x, const void *y)
{
	const struct seeming *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

static bool is_inside(const struct text *t, const struct fn *fn, vaddr addr)
{
	enum word word = classify(t, fn, addr);

	return word == OWN || word == KIN;
}

/* What the Verifier takes for the first entry, and for one behind it. */
static bool may_be_first(const struct text *t, const struct fn *fn, vaddr addr)
{
	return is_inside(t, fn, addr) || tablescan_is_filler(t, fn, addr);
}

static bool may_be_entry(const struct text *t, const struct fn *fn, vaddr addr)
{
	uint32_t p = text_piece(t, addr);

	return (p != UINT32_MAX && t->piece[p].addr == addr) || may_be_first(t, fn, addr);
}

/* Marks entries of the table, up to where the next one begins, that lead into entry jumps. */
static void guard(const struct text *t, const struct fn *fn, const struct seeming *s,
		  vaddr next)
{
	const struct prog *prog = t->prog;
	uint32_t size = tablescan_entry_size(s->kind);
	struct rd rd = rd_of(image_rest(&prog->img, s->addr));

	for (vaddr at = s->addr; at < next && rd_left(&rd) >= size; at += size) {
		vaddr to = read_word(&rd, s->addr, s->kind);

		if (!may_be_entry(t, fn, to))
			return;
		if (is_inside(t, fn, to) && to - prog->fn[prog_find_fn(prog, to)].entry < ENTRY)
			*text_mark(t, to) |= MARK_TABLE;
	}
}

static bool forms_address(const struct prog *prog, const struct insn *insn, struct seeming *out)
{
	const uint8_t *code = prog_insn_bytes(prog, insn);

	if (insn->kind == INSN_PLAIN && insn->field >= 2 && code[insn->field - 2] == LEA)
		*out = (struct seeming){ insn_target(insn, code, prog_insn_addr(prog, insn)),
					 BLOCKMAP_TABLE_REL32 };
	else if (!insn->field)
		*out = (struct seeming){ absolute_operand(insn, code), BLOCKMAP_TABLE_ABS64 };
	else
		return false;
	return out->addr != 0;
}

void tablescan_guard(const struct text *t, const struct fn *fn)
{
	VEC(struct seeming) seeming = { 0 };
	struct seeming s;

	for (uint32_t i = 0; i < fn->ninsn; i++) {
		if (!forms_address(t->prog, &fn->insn[i], &s))
			continue;
		struct rd rd =
			rd_of(image_at(&t->prog->img, s.addr, tablescan_entry_size(s.kind)));

		if (rd_left(&rd) && may_be_first(t, fn, read_word(&rd, s.addr, s.kind)))
			vec_push(t->pass, &seeming, s);
	}
	if (seeming.n)
		qsort(seeming.v, seeming.n, sizeof(*seeming.v), seeming_cmp);
	for (uint32_t i = 0, k; i < seeming.n; i++) {
		for (k = i + 1; k < seeming.n && seeming.v[k].addr == seeming.v[i].addr; )
			k++;
		if (k == i + 1 || seeming.v[i].kind != seeming.v[i + 1].kind)
			guard(t, fn, &seeming.v[i],
			      k < seeming.n ? seeming.v[k].addr : UINT64_MAX);
	}
}

void tablescan_note(struct text *t, const struct fn *user, vaddr addr)
{
	struct rd rd = rd_of(image_at(&t->prog->img, addr, 4));
	vaddr to = addr + (vaddr)(int64_t)rd_s32(&rd);

	if (rd.bad || addr % 4 != 0 || image_is_writable(&t->prog->img, addr) ||
	    !text_holds(t, to) || !(*text_mark(t, to) & MARK_INSN) ||
	    prog_find_fn(t->prog, to) != (uint32_t)(user - t->prog->fn))
		return;
	vec_push(t->scratch, &t->tables,
		 ((struct table_start){ addr, (uint32_t)(user - t->prog->fn) }));
}

static int table_start_cmp(const void *x, const void *y)
{
	const struct table_start *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->fn > b->fn) - (a->fn < b->fn);
}

void tablescan_sort(struct text *t)
{
	if (t->tables.n)
		qsort(t->tables.v, t->tables.n, sizeof(*t->tables.v), table_start_cmp);
}

/* Where the next table behind addr begins that is another function's. */
static vaddr next_of_others(const struct text *t, const struct fn *fn, vaddr addr)
{
	uint32_t own = t->piece[fn->range[0].fde].fn;
	uint32_t next = search_first(i, 0, t->tables.n, t->tables.v[i].addr <= addr);

	while (next < t->tables.n && t->tables.v[next].fn == own)
		next++;
	return next < t->tables.n ? t->tables.v[next].addr : UINT64_MAX;
}

bool tablescan(const struct text *t, struct arena *a, const struct fn *fn, vaddr addr,
	       uint32_t kind, struct tablescan *out)
{
	const struct image *img = &t->prog->img;
	const struct section *s = image_section_at(img, addr);
	struct bytes b = image_rest(img, addr);
	uint32_t size = tablescan_entry_size(kind);
	VEC(vaddr) targets = { 0 };
	bool own = false;

	if (!s || image_is_writable(img, addr) || addr % size != 0)
		return false;
	if (b.n > s->h.sh_addr + s->h.sh_size - addr)
		b.n = s->h.sh_addr + s->h.sh_size - addr;
	struct rd rd = rd_of(b);
	vaddr next = kind == BLOCKMAP_TABLE_REL32 ? next_of_others(t, fn, addr) : UINT64_MAX;
	while (rd_left(&rd) >= size && targets.n < MAX_RUN) {
		if (addr + size * targets.n >= next)
			break;
		vaddr target = read_word(&rd, addr, kind);
		enum word word = classify(t, fn, target);

		if (word < OWN)
			break;
		own |= word == OWN;
		vec_push(a, &targets, target);
	}
	if (!own)
		return false;
	*out = (struct tablescan){
		.target = targets.v, .nentry = targets.n,
		.begins = is_inside(t, fn, targets.v[0]),
	};
	return true;
}
