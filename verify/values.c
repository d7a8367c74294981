/* values.c - what registers hold that differs between the two runs
 *
 * The lattice of flow.c: values.h describes its elements.  Here are what one instruction
 * does to the values of all registers, and what is known where two ways join.
 *
 * Tested by tests/unit/verify/test_values.c, test_casetables.c and test_accepted.c.
 */
#include "verify/values.h"

enum { RCX = 1, RDX = 2, R11 = 11 };
enum { A_BASE, AN_ENTRY, A_SUM };	/* struct value.step */

static struct value lose(const struct vtables *vt, struct value x)
{
	return (struct value){ .kind = vvalue_differs(vt, x) ? DIRTY : SAME };
}

/* An entry, before and after it is sign-extended. */
static bool is_entry(struct value x)
{
	return x.kind == LOADED || x.kind == WORD;
}

bool vvalue_is_sum(struct value x)
{
	return x.kind == KEPT && x.step == A_SUM;
}

static bool same_line(struct line x, struct line y)
{
	return x.image == y.image && x.table == y.table;
}

static bool equal(struct value x, struct value y)
{
	return x.kind == y.kind && x.through == y.through && x.bits == y.bits &&
	       x.step == y.step && x.loose == y.loose && x.fresh == y.fresh &&
	       x.table == y.table && same_line(x.line, y.line);
}

/* How many of the lowest bits are the same. */
static uint8_t same_bits(const struct vtables *vt, struct value x)
{
	return !vvalue_differs(vt, x) ? 64 : x.kind == UPPER ? x.bits : 0;
}

static struct value kept(uint8_t step)
{
	return (struct value){ .kind = KEPT, .step = step };
}

/* What is known of a register that holds one or the other of two unequal values. */
static struct value meet(const struct vtables *vt, struct value x, struct value y)
{
	uint8_t a = same_bits(vt, x), b = same_bits(vt, y), least = a < b ? a : b;

	if (least == 64 && (x.kind == KEPT || y.kind == KEPT))
		return kept(x.step > y.step ? x.step : y.step);
	if (least == 64)
		return (struct value){ .kind = SAME };
	return least ? (struct value){ .kind = UPPER, .bits = least } :
		       (struct value){ .kind = DIRTY };
}

bool vregs_join(const struct vtables *vt, struct regs *to, const struct regs *from)
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
		bool fresh = x.fresh | y.fresh;
		x.fresh = y.fresh = fresh;
		if (equal(x, y))
			;
		else if (x.kind == BASE && y.kind == BASE && x.table == y.table)
			y = (struct value){ .kind = BASE,
					    .table = x.table, .fresh = fresh,
					    .loose = x.loose | y.loose };
		else
			y = meet(vt, x, y);
		changed |= !equal(to->r[i], y);
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

void vregs_branch(const struct vtables *vt, struct regs *regs)
{
	for (int i = 0; i < NGPR; i++) {
		struct value *x = &regs->r[i];

		if (is_entry(*x) && x->through == NGPR && !vshift_is(vt, *x))
			*x = lose(vt, *x);
		x->line = (struct line){ 0 };
	}
}

void vregs_transfer(const struct vtables *vt, struct regs *regs)
{
	for (int i = 0; i < NGPR; i++)
		if (is_entry(regs->r[i]))
			regs->r[i] = lose(vt, regs->r[i]);
	vregs_branch(vt, regs);
}

/* The entry was read through just that base, which register b holds. */
static bool belong(const struct vtables *vt, struct value entry, struct value base, uint8_t b)
{
	if (entry.kind == LOADED && vshift_is(vt, entry))
		return vshift_is_base(vt, base, vt->all.v[entry.table].addr);
	return entry.kind == LOADED && base.kind == BASE && entry.table == base.table &&
	       (entry.through == b ||
		(entry.through == NGPR && same_line(entry.line, base.line)));
}

/* a + b, where x and y are what registers a and b hold; DIRTY when it may not be formed. */
static struct value sum(const struct vtables *vt, struct value x, uint8_t a, struct value y,
			uint8_t b)
{
	if (belong(vt, x, y, b))
		return (struct value){ .kind = TARGET, .table = x.table, .fresh = x.fresh };
	if (belong(vt, y, x, a))
		return (struct value){ .kind = TARGET, .table = y.table, .fresh = y.fresh };
	if (x.kind == KEPT && y.kind == KEPT && x.step != y.step)
		return kept(A_SUM);
	return meet(vt, x, y);
}

/* Registers `written`, register b with a base among them, are about to change: where else
 * that base is then, in a copy or, if it can be formed anew, nowhere (NGPR).  False: it is
 * lost. */
static bool base_elsewhere(const struct value *r, uint8_t b, uint16_t written, uint8_t *out)
{
	for (uint8_t k = 0; k < NGPR; k++) {
		*out = k;
		if (!(written >> k & 1) && r[k].kind == BASE &&
		    (r[k].through == b + 1 || r[b].through == k + 1))
			return true;
	}
	*out = NGPR;
	return r[b].line.image != 0;
}

/* Register a gets an entry by way of b, if that has a base. */
static int load(struct vtables *vt, enum value_kind kind, uint8_t b, uint8_t a, vaddr addr,
		const struct value *r, struct value *out)
{
	uint8_t through = b;

	if (vt->shift)
		return vshift_load(vt, kind, r[b], addr, out);
	if (r[b].kind == BASE && (a != b || base_elsewhere(r, b, 1 << b, &through))) {
		*out = (struct value){ .kind = (uint8_t)kind, .through = through,
				       .table = r[b].table, .fresh = true };
		if (through == NGPR)
			out->line = r[b].line;
	} else if (vvalue_differs(vt, r[b])) {
		return vtables_misuse(vt, addr);
	} else if (r[b].kind == KEPT) {
		*out = kept(AN_ENTRY);
	}
	return 0;
}

/* The same of 32 bits at b + c, which is an entry when the one is a base and the other its
 * offset. */
static int load_sum(struct vtables *vt, const struct effect *e, vaddr addr,
		    const struct value *r, struct value *out)
{
	uint8_t base = r[e->c].kind == BASE ? e->c : e->b, other = base == e->b ? e->c : e->b;

	if (r[base].kind == BASE && r[other].kind == SCALED)
		return load(vt, WORD, base, e->a, addr, r, out);
	if (vt->shift)
		return vtables_misuse(vt, addr);
	if (vvalue_differs(vt, r[e->b]) || vvalue_differs(vt, r[e->c]))
		return vtables_misuse(vt, addr);
	if (r[e->b].kind == KEPT || r[e->c].kind == KEPT)
		*out = kept(AN_ENTRY);
	return 0;
}

/* The register that an entry refers to must not be the one it is extended into. */
static int extend(struct vtables *vt, const struct effect *e, vaddr addr, const struct value *r,
		  struct value *out)
{
	if (r[e->b].kind == WORD) {
		*out = r[e->b];
		out->kind = LOADED;
		if (out->through == e->a)
			*out = lose(vt, *out);
		return 0;
	}
	if (r[e->b].kind == KEPT)
		*out = r[e->b];
	return vvalue_differs(vt, r[e->b]) ? vtables_misuse(vt, addr) : 0;
}

/* Of a value of that width that many of the lowest bits are the same. */
static struct value of_bits(uint32_t same, unsigned width)
{
	if (same >= width)
		return (struct value){ .kind = SAME };
	if (same < 8)
		return (struct value){ .kind = DIRTY };
	return (struct value){ .kind = UPPER, .bits = same < 16 ? 8 : 16 };
}

static struct value copy(const struct vtables *vt, const struct effect *e, struct value x)
{
	if (is_entry(x))
		x = lose(vt, x);
	if (x.kind == BASE)
		x.through = e->a == e->b ? 0 : e->b + 1;
	return x;
}

/* Calculated bit by bit; a mask may leave only bits that are the same in both runs. */
static struct value combine(struct vtables *vt, const struct effect *e, const struct value *r)
{
	struct value x = meet(vt, r[e->a], r[e->b]);

	if (x.kind == UPPER && e->op == FX_LOW_BITS && e->value >> x.bits == 0)
		x = (struct value){ .kind = SAME };
	return x;
}

/* The value that the instruction's op puts into register a; -1 when it misuses one. */
static int compute(struct vtables *vt, const struct effect *e, struct line line, vaddr addr,
		   const struct regs *regs, struct value *out)
{
	const struct value *r = regs->r;
	uint32_t number;

	*out = (struct value){ .kind = SAME };
	switch (e->op) {
	case FX_COPY:
		*out = copy(vt, e, r[e->b]);
		return 0;
	case FX_COPY_LOW:
		*out = r[e->b].kind == UPPER ? r[e->b] : lose(vt, r[e->b]);
		return 0;
	case FX_CHOOSE:
		*out = meet(vt, r[e->a], r[e->b]);
		return 0;
	case FX_PUSH:
		return 0;
	case FX_SPILL:
		number = same_bits(vt, r[e->a]);
		return number == 64 ? 0 : vspill_note(vt, e, number, addr);
	case FX_RELOAD:
		*out = of_bits(vspill_same_bits(vt, e), 8u * e->span);
		return 0;
	case FX_POP:
		out->kind = regs->pushed & 1 ? DIRTY : SAME;
		return 0;
	case FX_BITS: case FX_LOW_BITS:
		*out = combine(vt, e, r);
		break;
	case FX_MIX:
		*out = meet(vt, r[e->b], r[e->c]);
		break;
	case FX_BASE:
		if (vtables_find(vt, e->value, BLOCKMAP_TABLE_REL32, &number))
			*out = (struct value){ .kind = BASE, .table = number, .fresh = true,
					       .line = line };
		return 0;
	case FX_TABLE:
		if (vtables_find(vt, e->value, BLOCKMAP_TABLE_ABS64, &number))
			*out = (struct value){ .kind = TARGET, .table = number, .fresh = true };
		return 0;
	case FX_LOAD:
		return load(vt, LOADED, e->b, e->a, addr, r, out);
	case FX_WORD:
		return load(vt, WORD, e->b, e->a, addr, r, out);
	case FX_WORD_SUM:
		return load_sum(vt, e, addr, r, out);
	case FX_EXTEND:
		return extend(vt, e, addr, r, out);
	case FX_SCALE:
		out->kind = SCALED;
		return 0;
	case FX_ADD:
		*out = sum(vt, r[e->a], e->a, r[e->b], e->b);
		break;
	case FX_SUM:
		*out = sum(vt, r[e->b], e->b, r[e->c], e->c);
		break;
	}
	return out->kind == DIRTY ? vtables_misuse(vt, addr) : 0;
}

/* A register of which a part, its lowest `bits` or (0) another one, was overwritten with
 * what is the same in both runs. */
static struct value overwrite(const struct vtables *vt, struct value x, uint8_t bits)
{
	uint8_t known = same_bits(vt, x);

	if (known == 64)
		return (struct value){ .kind = SAME };
	if (known < bits)
		known = bits;
	return known ? (struct value){ .kind = UPPER, .bits = known } :
		       (struct value){ .kind = DIRTY };
}

/* The instruction reads no bits of a register but those that are the same. */
static bool reads_same(const struct vtables *vt, const struct effect *e,
		       const struct regs *regs)
{
	for (int i = 0; i < NGPR; i++) {
		uint8_t read = e->reads >> i & 1 ? 64 : e->word_reads >> i & 1 ? 16 :
			       e->low_reads >> i & 1 ? 8 : 0;

		if (read > same_bits(vt, regs->r[i]))
			return false;
	}
	return true;
}

/* An entry was read through register x->through, which is about to change with others. */
static void leave_base(const struct vtables *vt, const struct value *r, uint16_t written,
		       struct value *x)
{
	uint8_t b = x->through;

	if (!base_elsewhere(r, b, written, &x->through))
		*x = lose(vt, *x);
	else if (x->through == NGPR)
		x->line = r[b].line;
}

/* Registers `written` are about to change: what refers to them no longer does. */
static void forget_copies(const struct vtables *vt, struct regs *regs, uint16_t written)
{
	for (int i = 0; i < NGPR; i++)	/* NGPR is beyond the mask */
		if (is_entry(regs->r[i]) && (written >> regs->r[i].through & 1))
			leave_base(vt, regs->r, written, &regs->r[i]);
	for (int i = 0; i < NGPR; i++) {
		struct value *x = &regs->r[i];

		if (x->kind == BASE && x->through && (written >> (x->through - 1) & 1))
			x->through = 0;
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

/* One of these registers has a base, an entry or a target that no jump has used. */
static bool has_fresh(const struct vtables *vt, const struct regs *regs, uint16_t mask)
{
	for (int i = 0; i < NGPR; i++)
		if ((mask >> i & 1) && regs->r[i].fresh && vvalue_differs(vt, regs->r[i]))
			return true;
	return false;
}

int vregs_apply(struct vtables *vt, const struct effect *e, struct line line, vaddr addr,
		struct regs *regs)
{
	/* rdx rsi rdi r8 r9 r10 */
	enum { TO_KERNEL = 1 << RDX | 3 << 6 | 7 << 8 };
	struct value result;
	uint16_t written = e->kills | e->clobbers;
	bool told = e->kernel && regs->flags;	/* it has the flags in r11 */

	if ((e->kernel && has_fresh(vt, regs, TO_KERNEL)) || !reads_same(vt, e, regs) ||
	    (e->flags_read & regs->flags) ||
	    (e->op != FX_RELOAD && 8u * e->span > vspill_same_bits(vt, e) && e->frame_read))
		return vtables_misuse(vt, addr);
	if (vt->shift && e->op != FX_LOAD && e->op != FX_WORD && e->op != FX_WORD_SUM)
		return vtables_misuse(vt, addr);
	if (compute(vt, e, line, addr, regs, &result) < 0)
		return -1;
	forget_copies(vt, regs, written);
	regs->pushed = move_stack(regs->pushed, e);
	for (int i = 0; i < NGPR; i++) {
		if (e->kills >> i & 1)
			regs->r[i] = (struct value){ .kind = SAME };
		else if (e->clobbers >> i & 1)
			regs->r[i] = overwrite(vt, regs->r[i], e->word_kills >> i & 1 ? 16 :
							e->low_kills >> i & 1 ? 8 : 0);
	}
	regs->flags &= (uint8_t)~e->flags_written;
	if (e->repeats && regs->count)
		regs->flags &= (uint8_t)~e->repeats;
	if (written >> RCX & 1)
		regs->count = e->sets_count;
	if (e->op == FX_PUSH) {
		regs->pushed |= (uint64_t)vvalue_differs(vt, regs->r[e->a]);
	} else if (e->op != FX_NONE && e->op != FX_SPILL && e->op != FX_JUMP &&
		   e->op != FX_JUMP_TABLE) {
		regs->r[e->a] = result;
		if ((e->op == FX_ADD || e->op == FX_BITS || e->op == FX_LOW_BITS) &&
		    vvalue_differs(vt, result))
			regs->flags |= e->flags_written;
	}
	if (told)
		regs->r[R11] = (struct value){ .kind = DIRTY };
	return 0;
}

int vregs_pass(struct vtables *vt, const struct regs *regs, vaddr addr)
{
	/* rcx rdx rsi rdi r8 r9 */
	enum { ARGUMENTS = 1 << RCX | 1 << RDX | 3 << 6 | 3 << 8 };

	return has_fresh(vt, regs, ARGUMENTS) ? vtables_misuse(vt, addr) : 0;
}

/* What may be in a register that a call seems to overwrite. */
static struct value behind_call(const struct vtables *vt, struct value x)
{
	bool differs = vvalue_differs(vt, x);

	if (x.kind == KEPT)
		return x;
	if (differs && (x.kind == BASE || is_entry(x)))
		return kept(x.kind == BASE ? A_BASE : AN_ENTRY);
	return (struct value){ .kind = SAME };
}

void vregs_return(const struct vtables *vt, uint16_t written, struct regs *regs)
{
	struct value behind[NGPR];

	for (int i = 0; i < NGPR; i++)
		behind[i] = behind_call(vt, regs->r[i]);
	vregs_transfer(vt, regs);
	forget_copies(vt, regs, written);
	for (int i = 0; i < NGPR; i++)
		if (written >> i & 1)
			regs->r[i] = behind[i];
		else if (VERIFY_CALLER_SAVED >> i & 1)
			regs->r[i].loose = regs->r[i].kind == BASE;
	regs->flags = 0;
	regs->count = false;
}
