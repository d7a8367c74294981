/* placement_walk.c - finds the blocks of a layout that another tool made, by walking both
 * programs at once
 *
 * From the entry on, the instructions of a block and those of its image are compared one by
 * one.  NOPs on either side mean nothing.  The end of the block then tells where the images of
 * its successors are:
 *
 *    original          image
 *    jmp A             jmp to A's image; or none, and A's image follows
 *    jcc A, else B     the same or the inverted condition to one image; the other one follows,
 *                      or is the target of a jmp
 *    runs into B       B's image follows, or is the target of a jmp
 *    jump table        the image of the instruction that forms the table's address forms that
 *                      of the image's table, whose entries are the images of the targets; or
 *                      that of the load reads as far from the original's table as the image's
 *                      is
 *
 * When the block behind begins with a jmp itself, a jmp in the image is taken for that one's
 * image: either reading takes the same branches.
 *
 * The entry of a function is where its symbol is: the n-th function symbol of a name in one
 * file is the n-th of that name in the other.  Without symbols it is where the original entry
 * is, or where a jmp there leads.  Labels that data holds are where the same data leads to in
 * the other file.  A block whose instructions do not fit has no known place, nor have blocks to
 * which only it leads: measure.c adds up how much ran there.
 *
 * INVARIANTS
 *   I1  a block is walked once, at the place that was found first;
 *   I2  nothing is believed of the other file: every byte is read through image_rest().
 *
 * Tested by tests/unit/editor/measure/test_measure.c: on generations it finds what the block
 * map says.
 */
#include "editor/measure/placement.h"

#include <stdlib.h>
#include <string.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "binary/dynamic.h"

struct walk {
	const struct prog *prog;
	struct placement *out;
	const struct fn *fn;
	struct placed *at;		/* of fn */
	uint32_t *queue;		/* blocks of fn to be walked */
	uint32_t nqueue;
	/* [fn->ntable] address in the other file, 0: not seen */
	vaddr *table;
	/* first of prog->ref[] that is not of a function in front of fn */
	uint32_t ref;
};

struct step {				/* one instruction of the image */
	struct insn insn;
	vaddr addr, target;
	const uint8_t *code;
};

/* The instruction at `addr`, or the first one behind NOPs. */
static bool next_insn(const struct image *img, vaddr addr, bool over_nops, struct step *out)
{
	for (;; addr += out->insn.len) {
		struct bytes code = image_rest(img, addr);

		if (!code.p || !insn_decode(code, addr, &out->insn, &out->target))
			return false;
		out->addr = addr;
		out->code = code.p;
		if (!over_nops || out->insn.kind != INSN_NOP)
			return true;
	}
}

static void arrive(struct walk *w, uint32_t id, vaddr addr)
{
	if (id == NO_BLOCK || w->at[id].known)
		return;
	w->at[id] = (struct placed){ addr, 0, true };
	w->queue[w->nqueue++] = id;
}

/* What runs first from the start of block `id` on is a jmp. */
static bool begins_with_jmp(const struct fn *fn, uint32_t id)
{
	while (id != NO_BLOCK) {
		const struct block *b = &fn->block[id];

		for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
			if (fn->insn[i].kind != INSN_NOP)
				return fn->insn[i].kind == INSN_JMP;
		id = b->fall;	/* a higher one */
	}
	return false;
}

/* Control runs on from `addr` to block `id`, or out of the function: over a jmp that was put
 * there, or straight, or over NOPs.  Gives the end of what belongs to the block before. */
static vaddr run_on(struct walk *w, uint32_t id, vaddr addr)
{
	struct step s;

	if (!next_insn(&w->out->img, addr, true, &s))
		return addr;
	if (s.insn.kind == INSN_JMP && !begins_with_jmp(w->fn, id)) {
		arrive(w, id, s.target);
		return s.addr + s.insn.len;
	}
	if (id == NO_BLOCK)
		return addr;
	arrive(w, id, s.addr);
	return s.addr;
}

/* `loop +2; jmp +5; jmp TARGET` stands for a loop out of reach: `s` becomes one to TARGET
 * that is as long as all three. */
static void join_long_loop(const struct image *img, struct step *s)
{
	enum { OVER = 2, JMP_LONG = 5 };
	vaddr behind = s->addr + s->insn.len;
	struct step over, jump;

	if (s->insn.kind != INSN_LOOP || s->target != behind + OVER ||
	    !next_insn(img, behind, false, &over) || over.insn.kind != INSN_JMP ||
	    over.target != behind + OVER + JMP_LONG ||
	    !next_insn(img, s->target, false, &jump) || jump.insn.kind != INSN_JMP)
		return;
	s->target = jump.target;
	s->insn.len = (uint8_t)(s->insn.len + OVER + JMP_LONG);
}

static uint8_t condition(const struct insn *insn, const uint8_t *code)
{
	return code[insn->field - 1] & 0xf;
}

/* The end of block `id`; `s` is the first instruction of the image that is not behind it
 * already.  Gives the end of the image, or 0 when it does not fit. */
static vaddr walk_end(struct walk *w, uint32_t id, const struct insn *last, struct step *s)
{
	const struct block *b = &w->fn->block[id];

	join_long_loop(&w->out->img, s);
	vaddr behind = s->addr + s->insn.len;

	switch (last->kind) {
	case INSN_JMP:
		if (s->insn.kind == INSN_JMP) {
			arrive(w, b->taken, s->target);
			return behind;
		}
		arrive(w, b->taken, s->addr);
		return s->addr;
	case INSN_JCC:
		if (s->insn.kind != INSN_JCC)
			return 0;
		uint8_t differ = condition(last, prog_insn_bytes(w->prog, last)) ^
				 condition(&s->insn, s->code);
		if (differ > 1)
			return 0;
		arrive(w, differ ? b->fall : b->taken, s->target);
		return run_on(w, differ ? b->taken : b->fall, behind);
	case INSN_LOOP: case INSN_XBEGIN:
		if (s->insn.kind != last->kind)
			return 0;
		arrive(w, b->taken, s->target);
		return run_on(w, b->fall, behind);
	case INSN_TRAP:
		if (s->insn.kind == INSN_TRAP && b->fall != NO_BLOCK)
			return run_on(w, b->fall, behind);
		/* fall through */
	default:
		return s->insn.kind == last->kind ? behind : 0;
	}
}

static void note_table(struct walk *w, uint32_t insn, const struct step *s)
{
	for (uint32_t t = 0; t < w->fn->ntable; t++) {
		const struct jump_table *table = &w->fn->table[t];
		uint64_t constant[INSN_MAX_CONSTANTS];

		for (uint32_t k = 0; k < table->nuser; k++) {
			if (table->user[k] != insn)
				continue;
			if (s->insn.field)
				w->table[t] = s->target;
			else if (insn_constants(image_rest(&w->out->img, s->addr), constant) >
				 0)
				w->table[t] =
					constant[0] + (table->kind == BLOCKMAP_TABLE_BESIDE32
							       ? table->addr
							       : 0);
		}
	}
}

/* `s` compares the index for the original's load at `load`, to which the jump behind it goes:
 * then it becomes the load. */
static void skip_guard(const struct image *img, vaddr load, struct step *s)
{
	struct step jump, next;

	if (s->insn.kind == INSN_PLAIN &&
	    next_insn(img, s->addr + s->insn.len, false, &jump) &&
	    jump.insn.kind == INSN_JCC && jump.target == load &&
	    next_insn(img, jump.addr + jump.insn.len, false, &next))
		*s = next;
}

/* A call may have become direct, and a NOP may be gone or new. */
static bool is_alike(const struct insn *a, const struct insn *b)
{
	return a->kind == b->kind || (a->kind == INSN_ICALL && b->kind == INSN_CALL);
}

static void walk_block(struct walk *w, uint32_t id)
{
	const struct block *b = &w->fn->block[id];
	vaddr addr = w->at[id].addr, end = 0;
	struct step s;

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		const struct insn *insn = &w->fn->insn[i];
		bool is_end = i + 1 == b->insn + b->ninsn &&
			      (insn_ends_flow(insn) || (insn_is_branch(insn) &&
							insn->kind != INSN_CALL));

		if (insn->kind == INSN_NOP)
			continue;
		if (!next_insn(&w->out->img, addr, true, &s))
			goto unknown;
		if (is_end) {
			end = walk_end(w, id, insn, &s);
			if (!end)
				goto unknown;
			note_table(w, i, &s);
			break;
		}
		skip_guard(&w->out->img, prog_insn_addr(w->prog, insn), &s);
		if (!is_alike(insn, &s.insn))
			goto unknown;
		note_table(w, i, &s);
		addr = s.addr + s.insn.len;
	}
	if (!end)
		end = b->noreturn || (b->fall == NO_BLOCK && !b->fall_out) ? addr :
		      run_on(w, b->fall, addr);
	w->at[id].size = (uint32_t)(end > w->at[id].addr ? end - w->at[id].addr : 0);
	return;
unknown:
	w->at[id].known = false;
}

/* Entries of the tables whose addresses have been seen. */
static void walk_tables(struct walk *w)
{
	for (uint32_t t = 0; t < w->fn->ntable; t++) {
		const struct jump_table *table = &w->fn->table[t];
		bool wide = table->kind == BLOCKMAP_TABLE_ABS64;

		for (uint32_t i = 0; w->table[t] && i < table->nentry; i++) {
			struct bytes b = image_at(
				&w->out->img, w->table[t] + (wide ? 8 : 4) * i, wide ? 8 : 4);
			struct rd r = rd_of(b);
			vaddr base = table->kind == BLOCKMAP_TABLE_BESIDE32 ? table->addr
									    : w->table[t];
			vaddr to = wide ? rd_u64(&r) : base + (uint64_t)rd_s32(&r);

			if (b.p)
				arrive(w, table->succ[i], to);
		}
	}
}

/* Labels that data holds: where the original has the address of one, the other file has that
 * of its image, at the same place. */
static void walk_labels(struct walk *w, uint32_t f)
{
	for (; w->ref < w->prog->nref && w->prog->ref[w->ref].fn <= f; w->ref++) {
		const struct reference *r = &w->prog->ref[w->ref];
		struct bytes b = bytes_at(w->out->img.file, r->at, sizeof(vaddr));
		struct rd rd = rd_of(b);

		if (r->fn == f && r->kind == REFERENCE_ADDEND && r->to != w->fn->entry && b.p)
			arrive(w, fn_find_block(w->fn, r->to), rd_u64(&rd));
	}
}

static void walk_fn(struct walk *w, uint32_t f, vaddr entry)
{
	struct arena *scratch = arena_new();
	uint32_t head = 0, before;

	w->fn = &w->prog->fn[f];
	w->at = w->out->block[f];
	w->queue = arena_array(scratch, w->fn->nblock, sizeof(*w->queue));
	w->table = arena_array(scratch, w->fn->ntable, sizeof(*w->table));
	w->nqueue = 0;
	arrive(w, 0, entry);
	walk_labels(w, f);
	do {
		for (before = w->nqueue; head < w->nqueue; head++)
			walk_block(w, w->queue[head]);
		walk_tables(w);
	} while (w->nqueue > before);
	arena_free(scratch);
}

struct named {			/* one function symbol */
	const char *name;
	uint32_t nth;		/* of that name */
	vaddr value;
};

struct names {
	struct arena *arena;
	VEC(struct named) v;
};

static void add_name(void *ctx, uint32_t index, const struct symbol *s)
{
	struct names *n = ctx;
	struct named named = { s->name, index, s->value };

	if (s->defined && (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && *s->name)
		vec_push(n->arena, &n->v, named);
}

static int name_cmp(const void *x, const void *y)
{
	const struct named *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	return c ? c : a->nth < b->nth ? -1 : a->nth > b->nth;
}

/* Ascending by name; nth counts from 0 for each. */
static struct names read_names(const struct image *img, struct arena *a)
{
	struct names n = { .arena = a };

	symbols_each(img, SHT_SYMTAB, add_name, &n);
	if (n.v.n)
		qsort(n.v.v, n.v.n, sizeof(*n.v.v), name_cmp);
	for (uint32_t i = 0, nth = 0; i < n.v.n; i++) {
		nth = i > 0 && strcmp(n.v.v[i].name, n.v.v[i - 1].name) == 0 ? nth + 1 : 0;
		n.v.v[i].nth = nth;
	}
	return n;
}

/* entry[f] is where the symbol of function f is in the other file; 0 when nothing tells. */
static void find_symbols(const struct prog *prog, const struct image *other, vaddr *entry)
{
	struct arena *scratch = arena_new();
	struct names mine = read_names(&prog->img, scratch), its = read_names(other, scratch);

	for (uint32_t i = 0, k = 0; i < mine.v.n; i++) {
		uint32_t f = prog_find_fn(prog, mine.v.v[i].value);

		while (k < its.v.n && name_cmp(&its.v.v[k], &mine.v.v[i]) < 0)
			k++;
		if (k < its.v.n && name_cmp(&its.v.v[k], &mine.v.v[i]) == 0 && f != NO_FN &&
		    prog->fn[f].entry == mine.v.v[i].value)
			entry[f] = its.v.v[k].value;
	}
	arena_free(scratch);
}

int placement_walk(const struct prog *prog, struct bytes file, struct placement *out,
		   struct err *err)
{
	struct placement of_other = { 0 };
	struct walk w = { .prog = prog, .out = &of_other };

	if (image_parse(file, prog->arena, &of_other.img, err) < 0)
		return -1;
	placement_make(prog, &of_other);
	vaddr *entry = arena_array(prog->arena, prog->nfn, sizeof(*entry));
	find_symbols(prog, &of_other.img, entry);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];
		struct step s;

		if (!of_other.block[f])
			continue;
		of_other.jumped[f] = fn->insn[fn->patch_off > 0].kind != INSN_JMP &&
			next_insn(&of_other.img, fn->entry + fn->patch_off, false, &s) &&
			s.insn.kind == INSN_JMP;
		if (of_other.jumped[f] && (!entry[f] || entry[f] == fn->entry))
			entry[f] = s.target;
		walk_fn(&w, f, entry[f] ? entry[f] : fn->entry);
	}
	placement_find_pointed(prog, &of_other);
	*out = of_other;
	return 0;
}
