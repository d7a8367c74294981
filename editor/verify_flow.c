/* verify_flow.c - nothing but the dispatch sees the address of a new jump table
 *
 * Where an instruction of the original forms the address of a table, its image may form the
 * address of the new one.  From there on a register differs between the two runs.  This data flow
 * over the original's instructions follows such registers through the function and refuses when
 * anything but the way to the table and the jump uses them.
 *
 * VALUES    of a register, original and generation side by side:
 *   SAME      equal in both runs
 *   BASE t    the original has the address of table t, the generation that or the new one's
 *   LOADED t  an entry of that same table, read through register `r`, which still has the base
 *   TARGET t  base plus entry, or the entry of an absolute table: may be jumped to, for the new
 *             entry leads where the old one leads (verify_table.c)
 *   UPPER     may differ but for its lowest `bits`, 8 or 16 (sete %dl); those may be used
 *   DIRTY     may differ; must not be used any more
 * Images and original text of one function may take turns, so one base may be the old and another
 * the new one; within one register they cannot be mixed up.  LOADED ends when register `r` is
 * written, at calls and at indirect jumps: so the base that is added is the one that was read by.
 * When nothing holds that one any more, another instruction may form it anew (see struct line).
 * TARGET is good wherever it gets to: either of its two values leads where the other one leads.
 * Tables that are not claimed have values of the same kinds; they are equal in both runs and
 * tell only where the jump goes.  Flags computed from differing values are followed, too.
 *
 * PUSHES    of a register that differs are what compilers align the stack with.  Where it is on the
 *           stack is followed, and popping it there makes a register DIRTY; once rsp changes in other
 *           ways than by constants, popping anything does.  That nobody reads the slot otherwise is
 *           left aside.
 *
 * EDGES     Direct branches, tables, fall-through.  A jump or fall to another function's entry
 *           ends the flow, as does an indirect jump with the frame of a function's entry (a tail
 *           call).  Any other indirect jump goes anywhere: no register may differ there, and
 *           then instructions that form bases may be reached with all registers SAME.
 * CALLS     that never come back (verify_return.c) end the flow.  Others end in rax, rdx and what
 *           the callee overwrites (verify_clobber.c) being SAME and the flags unused.  That a call
 *           may look at argument registers is left aside: no compiler passes the address of a jump
 *           table.
 * PADS      Every instruction with a landing pad leads there, as a call leads to what is behind it.
 */
#include "editor/verify_effect.h"
#include "editor/verify_parts.h"

enum value_kind { SAME, BASE, LOADED, TARGET, UPPER, DIRTY };
enum { NGPR = 16, RAX = 0, RCX = 1, RDX = 2 };

/* Two instructions of one image that form the address of one new table form the same one, as long
 * as control runs straight on: of both, the images are run, or of both the originals. */
struct line {
	uint32_t image;		/* index in map.block[] + 1, 0: not known, or control has branched */
	uint32_t table;		/* index in map.table[] */
};

struct value {
	uint8_t kind;		/* enum value_kind */
	uint8_t through;	/* LOADED: the register with the base; BASE: 1 + a register that
				 * it is a copy of, 0 if none */
	uint8_t bits;		/* UPPER: how many are the same */
	uint32_t table;		/* index in flow.table[] */
	struct line line;	/* BASE: where it was formed; LOADED: its base was (`through` is
				 * NGPR then: no register holds it) */
};

struct regs {
	struct value r[NGPR];
	uint8_t flags;		/* those that may differ */
	uint64_t pushed;	/* bit i: a register that differs was pushed to 8 * i(%rsp); the
				 * highest: to there or above */
	bool count;		/* rcx is a constant other than 0 */
	bool seen;
};

struct node {			/* one instruction */
	struct effect e;
	struct regs in;
	bool queued;
	bool former;		/* its image forms the address of a new table */
	struct line line;	/* of a former */
};

struct range {
	vaddr addr;
	uint64_t len;
	uint32_t *at;		/* [len] number of the instruction that begins there + 1 */
	struct node *node;
	vaddr *node_addr;
};

struct table {
	vaddr addr;
	uint32_t kind;
	uint32_t nentry;
	bool claimed;
};

struct place {
	uint32_t range, node;
};

struct flow {
	struct verify *v;
	struct arena *a;	/* lifetime of one run */
	uint32_t group;
	VEC(struct range) ranges;
	VEC(uint32_t) fdes;	/* of ranges[] */
	VEC(struct table) tables;
	VEC(struct place) queue;
	bool unknown;		/* an indirect jump that may go anywhere was met */
	bool stays;		/* an image may lead to original code by a table */
};

static bool differs(const struct flow *f, struct value x)
{
	if (x.kind == SAME || x.kind == UPPER || x.kind == DIRTY)
		return x.kind != SAME;
	return f->tables.v[x.table].claimed;
}

static struct value lose(const struct flow *f, struct value x)
{
	return (struct value){ .kind = differs(f, x) ? DIRTY : SAME };
}

static bool same_line(struct line x, struct line y)
{
	return x.image == y.image && x.table == y.table;
}

static bool equal(struct value x, struct value y)
{
	return x.kind == y.kind && x.through == y.through && x.bits == y.bits &&
	       x.table == y.table && same_line(x.line, y.line);
}

/* How many of the lowest bits are the same. */
static uint8_t same_bits(const struct flow *f, struct value x)
{
	return !differs(f, x) ? 64 : x.kind == UPPER ? x.bits : 0;
}

/* What is known of a register that holds one or the other of two unequal values. */
static struct value meet(const struct flow *f, struct value x, struct value y)
{
	uint8_t a = same_bits(f, x), b = same_bits(f, y), least = a < b ? a : b;

	if (least == 64)
		return (struct value){ .kind = SAME };
	return least ? (struct value){ .kind = UPPER, .bits = least } :
		       (struct value){ .kind = DIRTY };
}

/* Joins `from` into `to`; true when `to` has changed. */
static bool join(const struct flow *f, struct regs *to, const struct regs *from)
{
	bool changed = !to->seen;

	if (!to->seen) {
		*to = *from;
		to->seen = true;
		return true;
	}
	for (int i = 0; i < NGPR; i++) {
		struct value x = to->r[i], y = from->r[i];

		if (equal(x, y))
			continue;
		if (x.kind == BASE && y.kind == BASE && x.table == y.table)
			y = (struct value){ .kind = BASE, .table = x.table };
		else
			y = meet(f, x, y);
		changed |= !equal(x, y);
		to->r[i] = y;
	}
	changed |= (to->flags | from->flags) != to->flags;
	to->flags |= from->flags;
	changed |= (from->pushed & ~to->pushed) != 0;
	to->pushed |= from->pushed;
	changed |= to->count && !from->count;
	to->count &= from->count;
	return changed;
}

static uint32_t add_range(struct flow *f, uint32_t fde)
{
	const struct vfde *o = &f->v->ocfi.fde[fde];
	struct bytes code = bytes_at(verify_orig_code(f->v, o->addr), 0, o->len);
	struct range r = { .addr = o->addr, .len = code.n };
	uint32_t n = 0;

	r.at = arena_array(f->a, code.n, sizeof(*r.at));
	for (uint64_t off = 0; off < code.n; off++)
		n += verify_is_start(f->v, o->addr + off);
	r.node = arena_array(f->a, n, sizeof(*r.node));
	r.node_addr = arena_array(f->a, n, sizeof(*r.node_addr));
	n = 0;
	for (uint64_t off = 0; off < code.n; off++) {
		if (!verify_is_start(f->v, o->addr + off) ||
		    !effect_decode(bytes_at(code, off, code.n - off), o->addr + off, &r.node[n].e))
			continue;
		r.node_addr[n] = o->addr + off;
		r.at[off] = ++n;
	}
	vec_push(f->a, &f->ranges, r);
	vec_push(f->a, &f->fdes, fde);
	f->v->range_of[fde] = f->ranges.n;
	return f->ranges.n - 1;
}

/* A table ends where the next one begins, at the latest. */
static uint32_t max_entries(const struct flow *f, vaddr addr, uint32_t kind)
{
	enum { MAX_SCAN = 65536 };
	uint64_t n = (verify_next_table(f->v, addr) - addr) /
		     (kind == BLOCKMAP_TABLE_REL32 ? 4 : 8);

	return n < MAX_SCAN ? (uint32_t)n : MAX_SCAN;
}

/* Table number; claimed ones are there from the beginning, others are found by what they hold. */
static bool find_table(struct flow *f, vaddr addr, uint32_t kind, uint32_t *number)
{
	vaddr to;
	uint32_t n = 0, max = max_entries(f, addr, kind);

	for (uint32_t i = 0; i < f->tables.n; i++)
		if (f->tables.v[i].addr == addr && f->tables.v[i].kind == kind) {
			*number = i;
			return true;
		}
	if (verify_is_start(f->v, addr))	/* code */
		return false;
	while (n < max && verify_table_entry(&f->v->orig, addr, kind, n, &to) &&
	       verify_is_start(f->v, to)) {
		uint32_t fde = vcfi_find(&f->v->ocfi, to);

		if (fde == NO_FDE || verify_group(f->v, fde) != f->group)
			break;
		n++;
	}
	if (n == 0)
		return false;
	struct table t = { .addr = addr, .kind = kind, .nentry = n };
	*number = f->tables.n;
	vec_push(f->a, &f->tables, t);
	return true;
}

static int misuse(struct flow *f, vaddr addr)
{
	return refuse(f->v, "the instruction at 0x%llx uses what comes from the address of a "
		      "replaced jump table for something else", ULL(addr));
}

/* The instruction at `addr` as a flow's next one; false when the flow has left the function. */
static bool locate(struct flow *f, vaddr addr, struct place *out)
{
	uint32_t fde = vcfi_find(&f->v->ocfi, addr);

	if (fde == NO_FDE || (!f->v->range_of[fde] && verify_is_stub(f->v, addr)))
		return false;
	const struct vfde *o = &f->v->ocfi.fde[fde];
	if (addr == o->addr && !f->v->fragment[fde] && verify_group(f->v, fde) != f->group)
		return false;
	out->range = f->v->range_of[fde] ? f->v->range_of[fde] - 1 : add_range(f, fde);
	const struct range *r = &f->ranges.v[out->range];
	if (addr - r->addr >= r->len || r->at[addr - r->addr] == 0)
		return false;
	out->node = r->at[addr - r->addr] - 1;
	return true;
}

static void arrive(struct flow *f, vaddr addr, const struct regs *regs)
{
	struct place p;

	if (!locate(f, addr, &p))
		return;
	struct node *n = &f->ranges.v[p.range].node[p.node];
	if (join(f, &n->in, regs) && !n->queued) {
		n->queued = true;
		vec_push(f->a, &f->queue, p);
	}
}

/* Control branches: who is run from here on, images or originals, is open. */
static void end_lines(const struct flow *f, struct regs *regs)
{
	for (int i = 0; i < NGPR; i++) {
		struct value *x = &regs->r[i];

		if (x->kind == LOADED && x->through == NGPR)
			*x = lose(f, *x);
		x->line = (struct line){ 0 };
	}
}

/* A transfer of control that is no direct branch: LOADED does not survive it. */
static void transfer(const struct flow *f, struct regs *regs)
{
	for (int i = 0; i < NGPR; i++)
		if (regs->r[i].kind == LOADED)
			regs->r[i] = lose(f, regs->r[i]);
	end_lines(f, regs);
}

static int jump_anywhere(struct flow *f, vaddr addr, const struct regs *regs)
{
	struct vcursor at = { .cfi = &f->v->ocfi, .fde = NO_FDE };

	if (vstates_is_entry(f->v->states, vcfi_state(&at, addr)))
		return 0;
	f->unknown = true;
	for (int i = 0; i < NGPR; i++)
		if (differs(f, regs->r[i]))
			return refuse(f->v, "the jump at 0x%llx may go anywhere while a register "
				      "comes from the address of a replaced jump table", ULL(addr));
	return 0;
}

static int jump_by_table(struct flow *f, uint32_t number, const struct regs *regs)
{
	struct table t = f->tables.v[number];
	struct regs out = *regs;
	vaddr to;

	transfer(f, &out);
	for (uint32_t i = 0; i < t.nentry; i++)
		if (verify_table_entry(&f->v->orig, t.addr, t.kind, i, &to))
			arrive(f, to, &out);
	return 0;
}

static int jump(struct flow *f, const struct effect *e, vaddr addr, const struct regs *regs)
{
	uint32_t number;

	if (e->op == FX_JUMP_TABLE && find_table(f, e->value, BLOCKMAP_TABLE_ABS64, &number))
		return jump_by_table(f, number, regs);
	if (e->op == FX_JUMP) {
		struct value x = regs->r[e->a];

		if (x.kind == TARGET)
			return jump_by_table(f, x.table, regs);
		if (differs(f, x))
			return misuse(f, addr);
	}
	return verify_is_slot(f->v, e->slot) ? 0 : jump_anywhere(f, addr, regs);
}

/* The entry was read through just that base, which register b holds. */
static bool belong(struct value entry, struct value base, uint8_t b)
{
	return entry.kind == LOADED && base.kind == BASE && entry.table == base.table &&
	       (entry.through == b || (entry.through == NGPR && same_line(entry.line, base.line)));
}

/* a + b, where x and y are what registers a and b hold; DIRTY when it may not be formed. */
static struct value sum(const struct flow *f, struct value x, uint8_t a, struct value y, uint8_t b)
{
	if (belong(x, y, b) || belong(y, x, a))
		return (struct value){ .kind = TARGET, .table = x.table };
	return meet(f, x, y);
}

/* The register in which the base is still found behind the load: the one that was used, or a copy
 * when the entry overwrites that one; or NGPR, if it can be formed anew. */
static bool base_behind(const struct effect *e, const struct value *r, uint8_t *out)
{
	*out = e->b;
	if (e->a != e->b)
		return true;
	for (uint8_t k = 0; k < NGPR; k++) {
		*out = k;
		if (k != e->b && r[k].kind == BASE &&
		    (r[k].through == e->b + 1 || r[e->b].through == k + 1))
			return true;
	}
	*out = NGPR;
	return r[e->b].line.image != 0;
}

/* The value that the instruction's op puts into register a; -1 when it misuses one. */
static int compute(struct flow *f, const struct node *n, vaddr addr, const struct regs *regs,
		   struct value *out)
{
	const struct effect *e = &n->e;
	const struct value *r = regs->r;
	uint32_t number;
	uint8_t through;

	*out = (struct value){ .kind = SAME };
	switch (e->op) {
	case FX_COPY:
		*out = r[e->b].kind == LOADED ? lose(f, r[e->b]) : r[e->b];
		if (out->kind == BASE)
			out->through = e->a == e->b ? 0 : e->b + 1;
		return 0;
	case FX_COPY_LOW:
		*out = r[e->b].kind == UPPER ? r[e->b] : lose(f, r[e->b]);
		return 0;
	case FX_CHOOSE:
		*out = meet(f, r[e->a], r[e->b]);
		return 0;
	case FX_PUSH:
		return 0;
	case FX_POP:
		out->kind = regs->pushed & 1 ? DIRTY : SAME;
		return 0;
	case FX_BITS: case FX_LOW_BITS:
		*out = meet(f, r[e->a], r[e->b]);
		if (out->kind == UPPER && e->op == FX_LOW_BITS)
			out->kind = SAME;
		return out->kind == DIRTY ? misuse(f, addr) : 0;
	case FX_BASE:
		if (find_table(f, e->value, BLOCKMAP_TABLE_REL32, &number))
			*out = (struct value){ .kind = BASE, .table = number, .line = n->line };
		return 0;
	case FX_TABLE:
		if (find_table(f, e->value, BLOCKMAP_TABLE_ABS64, &number))
			*out = (struct value){ .kind = TARGET, .table = number };
		return 0;
	case FX_LOAD:
		if (r[e->b].kind == BASE && base_behind(e, r, &through))
			*out = (struct value){ .kind = LOADED, .through = through,
					       .table = r[e->b].table };
		else if (differs(f, r[e->b]))
			return misuse(f, addr);
		if (out->kind == LOADED && through == NGPR)
			out->line = r[e->b].line;
		return 0;
	case FX_ADD:
		*out = sum(f, r[e->a], e->a, r[e->b], e->b);
		return out->kind == DIRTY ? misuse(f, addr) : 0;
	case FX_SUM:
		*out = sum(f, r[e->b], e->b, r[e->c], e->c);
		return out->kind == DIRTY ? misuse(f, addr) : 0;
	}
	return 0;
}

/* A register of which a part, its lowest `bits` or (0) another one, was overwritten with what is the
 * same in both runs. */
static struct value overwrite(const struct flow *f, struct value x, uint8_t bits)
{
	uint8_t known = same_bits(f, x);

	if (known == 64)
		return (struct value){ .kind = SAME };
	if (known < bits)
		known = bits;
	return known ? (struct value){ .kind = UPPER, .bits = known } :
		       (struct value){ .kind = DIRTY };
}

/* The instruction reads no bits of a register but those that are the same. */
static bool reads_same(const struct flow *f, const struct effect *e, const struct regs *regs)
{
	for (int i = 0; i < NGPR; i++) {
		uint8_t read = e->reads >> i & 1 ? 64 : e->word_reads >> i & 1 ? 16 :
			       e->low_reads >> i & 1 ? 8 : 0;

		if (read > same_bits(f, regs->r[i]))
			return false;
	}
	return true;
}

/* Registers `written` are about to change: what refers to them no longer does. */
static void forget_copies(const struct flow *f, struct regs *regs, uint16_t written)
{
	for (int i = 0; i < NGPR; i++) {
		struct value *x = &regs->r[i];

		if (x->kind == BASE && x->through && (written >> (x->through - 1) & 1))
			x->through = 0;
		else if (x->kind == LOADED && (written >> x->through & 1))
			*x = lose(f, *x);	/* NGPR is beyond the mask */
	}
}

/* Where pushed registers are after the instruction. */
static uint64_t move_stack(uint64_t pushed, const struct effect *e)
{
	const uint64_t above = (uint64_t)1 << 63;
	int32_t n = e->stack;

	if (!pushed || n == 0)
		return e->moves_stack && pushed ? UINT64_MAX : pushed;
	if (n >= 64)
		return above;
	if (n > 0)
		return pushed << n | (pushed >> (64 - n) ? above : 0);
	uint64_t top = pushed & above ? UINT64_MAX : 0;

	return n <= -64 ? top : pushed >> -n | top << (64 + n);
}

static int apply(struct flow *f, const struct node *n, vaddr addr, struct regs *regs)
{
	const struct effect *e = &n->e;
	struct value result;
	uint16_t written = e->kills | e->clobbers;

	if (!reads_same(f, e, regs) || (e->flags_read & regs->flags))
		return misuse(f, addr);
	if (compute(f, n, addr, regs, &result) < 0)
		return -1;
	forget_copies(f, regs, written);
	regs->pushed = move_stack(regs->pushed, e);
	for (int i = 0; i < NGPR; i++) {
		if (e->kills >> i & 1)
			regs->r[i] = (struct value){ .kind = SAME };
		else if (e->clobbers >> i & 1)
			regs->r[i] = overwrite(f, regs->r[i], e->word_kills >> i & 1 ? 16 :
							e->low_kills >> i & 1 ? 8 : 0);
	}
	regs->flags &= (uint8_t)~e->flags_written;
	if (e->repeats && regs->count)
		regs->flags &= (uint8_t)~e->repeats;
	if (written >> RCX & 1)
		regs->count = e->sets_count;
	if (e->op == FX_PUSH) {
		regs->pushed |= (uint64_t)differs(f, regs->r[e->a]);
	} else if (e->op != FX_NONE && e->op != FX_JUMP && e->op != FX_JUMP_TABLE) {
		regs->r[e->a] = result;
		if ((e->op == FX_ADD || e->op == FX_BITS) && differs(f, result))
			regs->flags |= e->flags_written;
	}
	return 0;
}

/* Behind a call that overwrites registers `written`, or at a landing pad. */
static void return_from_call(const struct flow *f, uint16_t written, struct regs *regs)
{
	transfer(f, regs);
	written |= 1 << RAX | 1 << RDX;
	forget_copies(f, regs, written);
	for (int i = 0; i < NGPR; i++)
		if (written >> i & 1)
			regs->r[i] = (struct value){ .kind = SAME };
	regs->flags = 0;
	regs->count = false;
}

static int land(struct flow *f, uint32_t fde, vaddr addr, struct regs regs)
{
	const struct vlsda *l = vlsda_of(&f->v->ocfi, fde);
	const struct vsite *s = vlsda_site(&f->v->ocfi, fde, addr);

	if (l && !l->understood)
		return refuse(f->v, "the instruction at 0x%llx has an exception table of unknown form "
			      "and is on the way to a replaced jump table", ULL(addr));
	if (s && s->pad) {
		return_from_call(f, VERIFY_CALLER_SAVED, &regs);
		regs.pushed = regs.pushed ? UINT64_MAX : 0;	/* arguments are gone */
		arrive(f, s->pad, &regs);
	}
	return 0;
}

/* An image that forms the address of an original table leads to original code. */
static void note_stay(struct flow *f, const struct node *n)
{
	uint32_t kind = n->e.op == FX_BASE ? BLOCKMAP_TABLE_REL32 : BLOCKMAP_TABLE_ABS64, number;

	if ((n->e.op == FX_BASE || n->e.op == FX_TABLE || n->e.op == FX_JUMP_TABLE) && !n->former &&
	    find_table(f, n->e.value, kind, &number))
		f->stays = true;
}

static int step(struct flow *f, struct place p)
{
	const struct range *r = &f->ranges.v[p.range];
	const struct node *n = &r->node[p.node];
	const struct effect *e = &n->e;
	vaddr addr = r->node_addr[p.node], next = addr + e->len;
	struct regs regs = n->in;

	note_stay(f, n);
	if (apply(f, n, addr, &regs) < 0 || land(f, f->fdes.v[p.range], addr, n->in) < 0)
		return -1;
	switch (e->kind) {
	case INSN_IJMP:
		return jump(f, e, addr, &regs);
	case INSN_RET:
	case INSN_TRAP:
		return 0;
	case INSN_CALL: case INSN_ICALL:
		if (!verify_call_returns(f->v, e))
			return 0;
		return_from_call(f, verify_call_writes(f->v, e), &regs);
		break;
	case INSN_JMP: case INSN_JCC: case INSN_LOOP: case INSN_XBEGIN:
		end_lines(f, &regs);
		arrive(f, e->target, &regs);
		if (e->kind == INSN_JMP)
			return 0;
		break;
	}
	arrive(f, next, &regs);
	return 0;
}

static int run(struct flow *f)
{
	while (f->queue.n) {
		struct place p = f->queue.v[--f->queue.n];

		f->ranges.v[p.range].node[p.node].queued = false;
		if (step(f, p) < 0)
			return -1;
	}
	return 0;
}

/* Nobody has seen this instruction: only a jump from anywhere can lead there. */
static bool was_reached(struct flow *f, vaddr addr)
{
	struct place p;

	return !locate(f, addr, &p) || f->ranges.v[p.range].node[p.node].in.seen;
}

static void set_former(const struct flow *f, struct node *n, const struct vformer *former)
{
	const struct blockmap *map = &f->v->map;
	const struct blockmap_block *b = blockmap_find_orig(map, former->addr);

	n->former = true;
	n->line = (struct line){ b ? (uint32_t)(b - map->block) + 1 : 0, former->table };
}

static int run_all(struct flow *f, const uint32_t *former, uint32_t n, const uint32_t *member,
		   uint32_t nmember)
{
	const struct regs clean = { .seen = true };
	const struct vformer *all = f->v->formers.v;
	struct place p;

	for (uint32_t i = 0; i < n; i++)
		if (locate(f, all[former[i]].addr, &p))
			set_former(f, &f->ranges.v[p.range].node[p.node], &all[former[i]]);

	for (uint32_t i = 0; i < nmember; i++)
		if (!f->v->fragment[member[i]])
			arrive(f, f->v->ocfi.fde[member[i]].addr, &clean);
	if (run(f) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (!was_reached(f, all[former[i]].addr))
			arrive(f, all[former[i]].addr, &clean);
		if (run(f) < 0)
			return -1;
	}
	if (!f->unknown)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		arrive(f, all[former[i]].addr, &clean);
	return run(f);
}

/* Two new tables may stand for one of the original. */
static void claim(struct flow *f, const struct blockmap_table *m)
{
	uint32_t max = max_entries(f, m->orig_addr, m->kind), number;
	struct table t = { m->orig_addr, m->kind, m->nentry < max ? m->nentry : max, true };

	if (!find_table(f, m->orig_addr, m->kind, &number)) {
		vec_push(f->a, &f->tables, t);
		return;
	}
	if (f->tables.v[number].nentry < t.nentry)
		f->tables.v[number].nentry = t.nentry;
	f->tables.v[number].claimed = true;
}

int verify_flow(struct verify *v, const uint32_t *former, uint32_t n, const uint32_t *member,
		uint32_t nmember)
{
	struct flow f = { .v = v, .a = arena_new() };

	f.group = verify_group(v, member[0]);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || v->formers.v[former[i]].table != v->formers.v[former[i - 1]].table)
			claim(&f, &v->map.table[v->formers.v[former[i]].table]);
	int rc = run_all(&f, former, n, member, nmember);
	v->followed[f.group] = true;
	if (f.unknown || f.stays)
		vec_push(v->a, &v->stays, member[0]);
	for (uint32_t i = 0; i < f.fdes.n; i++)
		v->range_of[f.fdes.v[i]] = 0;
	arena_free(f.a);
	return rc;
}
