/* flow.c - follows what differs between the two runs through one function
 *
 * Where an instruction of the original forms the address of a table, its image may form the
 * address of the new one.  From there on a register differs between the two runs.  This data
 * flow over the original's instructions follows such registers through a function, and refuses
 * it if anything but the way to the table and the jump uses them.  dataflow.c says which runs
 * there are.
 *
 * VALUES    What a register may hold is in values.h.
 *
 * PUSHES    Compilers push a register that differs to align the stack.  Popping it from where
 *           it is makes a register DIRTY; once rsp changes in other ways than by constants,
 *           every pop does.  That nobody reads the slot otherwise is assumption A8 (verify.c).
 * SPILLS    of a register that is UPPER are in spill.c.  All other memory may be seen by
 *           anybody, and must not differ.
 *
 * EDGES     The flow follows direct branches, tables and fall-through.  A jump or fall to
 *           another function's entry ends it, as does an indirect jump with the frame of a
 *           function's entry (a tail call), or through a slot that holds a function's address.
 *           Any other one goes on in original code, of which nobody knows where: no register
 *           may differ there, nor what is spilled or pushed.  What nothing else leads to is
 *           followed from where it begins.
 * CALLS     that never come back (returns.c) end the flow.  So does one that ends a range if
 *           another function's code follows.  After other calls what the callee seems to
 *           overwrite (callwrites.c) is SAME, or KEPT, and the flags unused.
 * ARGUMENTS that differ are refused at calls, as long as no jump by a table has come since the
 *           base was formed.  What one has left behind there is no argument, nor is what a tail
 *           call or a return leaves behind an argument or a result (assumption A8).
 * GUARDS    In front of a load whose image compares the index (guards.c) control may go
 *           anywhere.
 * SHIFTED   Loads by the address of an original table (shift.c) need to know that address, so
 *           for them all ways into the images are followed.
 * PADS      Every instruction with a landing pad leads there, as a call leads to what follows.
 *
 * Tested by tests/unit/verify/test_dataflow.c, test_casetables.c, test_accepted.c and
 * test_shift.c.
 */
#include "verify/flow.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

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
		vaddr addr = o->addr + off;
		struct node *node = &r.node[n];

		if (!verify_is_start(f->v, addr) ||
		    !effect_decode(bytes_at(code, off, code.n - off), addr, &node->e))
			continue;
		if (effect_is_null_store(&node->e, bytes_at(code, off, code.n - off)))
			node->e.reads = node->e.low_reads = node->e.word_reads = 0;
		r.node_addr[n] = addr;
		const struct vshifted *s = vshift_at(&f->v->uses, addr);
		node->shift = s ? s->shift : 0;
		node->guard = s ? s->guard : 0;
		r.at[off] = ++n;
	}
	r.n = n;
	r.first = f->ranges.n ? f->ranges.v[f->ranges.n - 1].first +
				f->ranges.v[f->ranges.n - 1].n : 0;
	vec_push(f->a, &f->ranges, r);
	vec_push(f->a, &f->fdes, fde);
	f->v->flow.range_of[fde] = f->ranges.n;
	return f->ranges.n - 1;
}

/* The instruction at `addr` as a flow's next one; false when the flow has left the function. */
static bool locate(struct flow *f, vaddr addr, struct place *out)
{
	uint32_t fde = vcfi_find(&f->v->ocfi, addr);

	if (fde == NO_FDE || (!f->v->flow.range_of[fde] && verify_is_stub(f->v, addr)))
		return false;
	const struct vfde *o = &f->v->ocfi.fde[fde];
	if (addr == o->addr && !f->v->ocfi.fragment[fde] &&
	    verify_group(f->v, fde) != f->tables.group)
		return false;
	uint32_t known = f->v->flow.range_of[fde];
	out->range = known ? known - 1 : add_range(f, fde);
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
	if (f->dead && n->in.seen && !n->dead)
		return;
	n->dead |= f->dead;
	n->open |= f->outside;
	if (f->collecting) {
		f->edge.to = f->ranges.v[p.range].first + p.node;
		if (!f->outside)
			vec_push(f->a, &f->graph.edges, f->edge);
		return;
	}
	if (vregs_join(&f->tables, &n->in, regs) && !n->queued) {
		n->queued = true;
		vec_push(f->a, &f->queue, p);
	}
}

/* By the jump at addr, or in front of the load there. */
static int go_anywhere(struct flow *f, vaddr addr, const struct regs *regs)
{
	bool differs = f->tables.spills.n > 0 || regs->pushed;

	f->unknown = true;
	for (int i = 0; i < NGPR; i++)
		differs |= vvalue_differs(&f->tables, regs->r[i]);
	if (differs)
		return refuse(
			f->v,
			"control at 0x%llx may go anywhere while a register or the frame "
			"has something from the address of a replaced jump table",
			ULL(addr));
	return 0;
}

static int jump_anywhere(struct flow *f, vaddr addr, const struct regs *regs)
{
	struct vcursor at = { .cfi = &f->v->ocfi, .fde = NO_FDE };

	if (vstates_is_entry(f->v->states, vcfi_state(&at, addr)))
		return 0;
	return go_anywhere(f, addr, regs);
}

/* In front of the node's load, whose image compares the index.  What the load overwrites is
 * overwritten in the original as well. */
static int leave_at_load(struct flow *f, const struct node *n, vaddr addr)
{
	struct regs regs = n->in;

	if (!n->guard)
		return 0;
	if (n->e.kills >> n->e.a & 1)
		regs.r[n->e.a] = (struct value){ .kind = SAME };
	return go_anywhere(f, addr, &regs);
}

static int jump_by_table(struct flow *f, uint32_t number, const struct regs *regs)
{
	struct vtable t = f->tables.all.v[number];
	struct regs out = *regs;
	vaddr to;

	vregs_transfer(&f->tables, &out);
	for (int i = 0; i < NGPR; i++)
		out.r[i].fresh = false;
	for (uint32_t i = 0; i < t.nentry; i++)
		if (verify_table_entry(&f->v->orig, t.addr, t.kind, i, &to))
			arrive(f, to, &out);
	return 0;
}

static int jump(struct flow *f, const struct effect *e, vaddr addr, const struct regs *regs)
{
	uint32_t number;

	if (e->op == FX_JUMP_TABLE &&
	    vtables_find(&f->tables, e->value, BLOCKMAP_TABLE_ABS64, &number))
		return jump_by_table(f, number, regs);
	if (e->op == FX_JUMP) {
		struct value x = regs->r[e->a];

		if (x.kind == TARGET)
			return jump_by_table(f, x.table, regs);
		if (vvalue_differs(&f->tables, x) || vvalue_is_sum(x))
			return vtables_misuse(&f->tables, addr);
	}
	if (verify_is_chosen(&f->v->calls, e->slot))
		return vregs_pass(&f->tables, regs, addr);
	return verify_is_slot(&f->v->calls, e->slot) ? 0 : jump_anywhere(f, addr, regs);
}

static bool is_old_base(const struct flow *f, struct value x)
{
	return x.kind == BASE && !f->tables.all.v[x.table].claimed;
}

static int land(struct flow *f, uint32_t fde, vaddr addr, struct regs regs)
{
	const struct vlsda *l = vlsda_of(&f->v->ocfi, fde);
	const struct vsite *s = vlsda_site(&f->v->ocfi, fde, addr);

	if (l && !l->understood)
		return refuse(
			f->v,
			"the instruction at 0x%llx has an exception table of unknown form "
			"and is on the way to a replaced jump table",
			ULL(addr));
	if (s && s->pad) {
		vregs_return(&f->tables, VERIFY_CALLER_SAVED, &regs);
		regs.pushed = regs.pushed ? UINT64_MAX : 0;	/* arguments are gone */
		f->outside = true;
		arrive(f, s->pad, &regs);
		f->outside = false;
	}
	return 0;
}

/* An image that goes by an original table leads to original code: one that reads its entry,
 * or that forms its address where others form a new one's. */
static void note_stay(struct flow *f, const struct node *n)
{
	const struct effect *e = &n->e;
	uint32_t number;

	if (n->former || n->shift)
		return;
	if (e->op == FX_BASE &&
	    vtables_find(&f->tables, e->value, BLOCKMAP_TABLE_REL32, &number))
		f->stays |= f->tables.all.v[number].claimed;
	else if (e->op == FX_TABLE || e->op == FX_JUMP_TABLE)
		f->stays |= vtables_find(&f->tables, e->value, BLOCKMAP_TABLE_ABS64, &number);
	else if (e->op == FX_LOAD || e->op == FX_WORD || e->op == FX_WORD_SUM)
		f->stays |= is_old_base(f, n->in.r[e->b]) ||
			    (e->op == FX_WORD_SUM && is_old_base(f, n->in.r[e->c]));
}

/* Behind the end of the range there is code of the same function. */
static bool goes_on_behind(const struct flow *f, struct place p, vaddr next)
{
	const struct range *r = &f->ranges.v[p.range];
	uint32_t fde = vcfi_find(&f->v->ocfi, next);

	return next - r->addr < r->len ||
	       (fde != NO_FDE &&
		verify_group(f->v, fde) == verify_group(f->v, f->fdes.v[p.range]));
}

static void find_frame(struct flow *f, const struct effect *e, vaddr addr)
{
	struct vcursor at = { .cfi = &f->v->ocfi, .fde = NO_FDE };

	f->tables.depth = 0;
	if (e->frame && (f->tables.spills.n || e->op == FX_SPILL))
		f->tables.depth = vstates_depth(f->v->states, vcfi_state(&at, addr));
}

/* The way that is taken is the one that has it; the other one has the inverse. */
static void set_condition(struct flow *f, const struct effect *e, vaddr addr)
{
	struct insn insn;
	struct bytes code = verify_orig_code(f->v, addr);
	vaddr target;

	f->edge.conditional = f->collecting && e->kind == INSN_JCC &&
			      insn_decode(code, addr, &insn, &target);
	f->edge.condition = f->edge.conditional ? code.p[insn.field - 1] & 15 : 0;
}

static int step(struct flow *f, struct place p)
{
	const struct range *r = &f->ranges.v[p.range];
	const struct node *n = &r->node[p.node];
	const struct effect *e = &n->e;
	vaddr addr = r->node_addr[p.node], next = addr + e->len;
	struct regs regs = n->in;

	f->dead = n->dead;
	note_stay(f, n);
	find_frame(f, e, addr);
	f->tables.shift = n->shift;
	struct line line = n->former ? n->line : (struct line){ .image = LINE_ORIGINAL };

	if (leave_at_load(f, n, addr) < 0 ||
	    vregs_apply(&f->tables, e, line, addr, &regs) < 0 ||
	    land(f, f->fdes.v[p.range], addr, n->in) < 0)
		return -1;
	switch (e->kind) {
	case INSN_IJMP:
		return jump(f, e, addr, &regs);
	case INSN_RET:
		return 0;
	case INSN_TRAP:
		if (!verify_goes_on(f->v, f->fdes.v[p.range], next))
			return 0;
		break;
	case INSN_CALL: case INSN_ICALL:
		if (vregs_pass(&f->tables, &regs, addr) < 0)
			return -1;
		if (!verify_call_returns(f->v, e) || !goes_on_behind(f, p, next))
			return 0;
		vregs_return(&f->tables, verify_call_writes(f->v, e), &regs);
		break;
	case INSN_JMP: case INSN_JCC: case INSN_LOOP: case INSN_XBEGIN:
		vregs_branch(&f->tables, &regs);
		f->outside = e->kind == INSN_XBEGIN;	/* registers are not these */
		set_condition(f, e, addr);
		arrive(f, e->target, &regs);
		f->outside = false;
		f->edge.condition ^= 1;
		if (e->kind == INSN_JMP)
			return 0;
		break;
	}
	arrive(f, next, &regs);
	return 0;
}

/* All that was reached, for what they load from the frame may be something else now. */
static void queue_all(struct flow *f)
{
	for (uint32_t r = 0; r < f->ranges.n; r++) {
		const struct range *range = &f->ranges.v[r];

		for (uint64_t off = 0; off < range->len; off++) {
			struct place p = { r, range->at[off] - 1 };

			if (range->at[off] && range->node[p.node].in.seen) {
				range->node[p.node].queued = true;
				vec_push(f->a, &f->queue, p);
			}
		}
	}
}

static int run(struct flow *f)
{
	do {
		f->tables.spilled = false;
		while (f->queue.n) {
			struct place p = f->queue.v[--f->queue.n];

			f->ranges.v[p.range].node[p.node].queued = false;
			if (step(f, p) < 0)
				return -1;
		}
		if (f->tables.spilled)
			queue_all(f);
	} while (f->queue.n);
	return 0;
}

static bool was_reached(struct flow *f, vaddr addr)
{
	struct place p;

	return !locate(f, addr, &p) || f->ranges.v[p.range].node[p.node].in.seen;
}

static bool all_reached(struct flow *f, const uint32_t *former, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!was_reached(f, f->v->uses.formers.v[former[i]].addr))
			return false;
	return true;
}

static bool falls(const struct flow *f, const struct range *r, uint32_t i)
{
	return verify_falls(f->v, r->node_addr[i], &r->node[i].e);
}

static void note_cases(struct flow *f, const struct vtable *t, bool *target, uint32_t n)
{
	struct place p;
	vaddr to;

	for (uint32_t i = 0; i < t->nentry; i++)
		if (verify_table_entry(&f->v->orig, t->addr, t->kind, i, &to) &&
		    locate(f, to, &p) && f->ranges.v[p.range].first + p.node < n)
			target[f->ranges.v[p.range].first + p.node] = true;
}

/* By number of the instruction, of *n: a branch of the function leads there, or a table. */
static bool *find_targets(struct flow *f, uint32_t *n)
{
	const struct range *last = &f->ranges.v[f->ranges.n - 1];
	const uint32_t known = f->ranges.n;
	bool *target;

	*n = last->first + last->n;
	target = arena_array(f->a, *n, sizeof(*target));
	for (uint32_t r = 0; r < known; r++)
		for (uint32_t i = 0; i < f->ranges.v[r].n; i++) {
			const struct effect *e = &f->ranges.v[r].node[i].e;
			struct place p;
			if ((e->kind == INSN_JMP || e->kind == INSN_JCC ||
			     e->kind == INSN_LOOP || e->kind == INSN_XBEGIN) &&
			    locate(f, e->target, &p) && p.range < known)
				target[f->ranges.v[p.range].first + p.node] = true;
		}
	for (uint32_t i = 0; i < f->tables.all.n; i++)
		note_cases(f, &f->tables.all.v[i], target, *n);
	return target;
}

static int enter_dead(struct flow *f, vaddr addr)
{
	const struct regs clean = { .seen = true };

	f->outside = f->dead = true;
	arrive(f, addr, &clean);
	f->outside = false;
	return run(f);
}

static bool is_padding(const struct flow *f, const struct range *r, uint32_t i)
{
	return verify_is_padding(r->node[i].e.kind, verify_orig_code(f->v, r->node_addr[i]).p);
}

/* Follows the function from all instructions that nothing has reached, none but padding falls
 * into, and no branch or table leads to, as far as `target` is about the first n. */
static int enter_beginnings(struct flow *f, const bool *target, uint32_t n)
{
	for (uint32_t r = 0; r < f->ranges.n; r++) {
		bool onto = false;

		for (uint32_t i = 0; i < f->ranges.v[r].n; i++) {
			const struct range *range = &f->ranges.v[r];
			bool begins = !range->node[i].in.seen && !onto &&
				      !(range->first + i < n && target[range->first + i]);
			bool padding = begins && is_padding(f, range, i);

			if (begins && !padding && enter_dead(f, range->node_addr[i]) < 0)
				return -1;
			range = &f->ranges.v[r];	/* there may be more now */
			onto = falls(f, range, i) && !padding;
		}
	}
	return 0;
}

/* What only jumps of which nothing is known can lead to is dead in the images, for such a jump
 * goes on in original code.  All the same it is followed, from where it seems to begin: what
 * nothing leads to, and then what only itself does.  To what is not dead it leads nowhere. */
static int follow_rest(struct flow *f, const uint32_t *former, uint32_t n)
{
	for (int k = 0; k < 2 && f->ranges.n && !all_reached(f, former, n); k++) {
		uint32_t ntarget = 0;
		const bool *target = k ? NULL : find_targets(f, &ntarget);

		if (enter_beginnings(f, target, ntarget) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		vaddr addr = f->v->uses.formers.v[former[i]].addr;

		if (!was_reached(f, addr) && enter_dead(f, addr) < 0)
			return -1;
	}
	return 0;
}

static void set_former(const struct flow *f, struct node *n, const struct vformer *former)
{
	const struct blockmap *map = &f->v->map;
	const struct blockmap_block *b = blockmap_find_orig(map, former->addr);

	n->former = true;
	n->line.table = former->table;
	n->line.image = b ? f->v->flow.stretch[b - map->block] + 1 : 0;
}

/* What leads into the images of an FDE's code but branches, tables and exceptions. */
static void enter(struct flow *f, const struct vfde *fde, bool fragment)
{
	const struct regs clean = { .seen = true };
	const struct verify *v = f->v;

	f->outside = true;
	if (!fragment || verify_has_entry(v, fde->addr))
		arrive(f, fde->addr, &clean);
	for (uint32_t i = vshift_first_inner(&v->uses, fde->addr);
	     i < v->uses.inner.n && v->uses.inner.v[i] - fde->addr < fde->len; i++)
		arrive(f, v->uses.inner.v[i], &clean);
	f->outside = false;
}

int vflow_all(struct flow *f, const uint32_t *former, uint32_t n, const uint32_t *member,
	      uint32_t nmember)
{
	const struct vformer *all = f->v->uses.formers.v;
	struct place p;

	for (uint32_t i = 0; i < n; i++)
		if (locate(f, all[former[i]].addr, &p))
			set_former(f, &f->ranges.v[p.range].node[p.node], &all[former[i]]);

	for (uint32_t i = 0; i < nmember; i++)
		enter(f, &f->v->ocfi.fde[member[i]], f->v->ocfi.fragment[member[i]]);
	if (run(f) < 0)
		return -1;
	return follow_rest(f, former, n);
}

int vflow_ways(struct flow *f)
{
	struct vgraph *g = &f->graph;
	const struct range *last = &f->ranges.v[f->ranges.n - 1];
	vaddr *addr = arena_array(f->a, last->first + last->n, sizeof(*addr));

	*g = (struct vgraph){ .v = f->v, .a = f->a, .addr = addr, .n = last->first + last->n };
	g->open = arena_array(f->a, g->n, sizeof(*g->open));
	f->collecting = true;
	for (uint32_t r = 0; r < f->ranges.n; r++)
		for (uint32_t i = 0; i < f->ranges.v[r].n; i++) {
			const struct range *range = &f->ranges.v[r];

			addr[range->first + i] = range->node_addr[i];
			f->edge = (struct vedge){ .from = range->first + i };
			if (range->node[i].in.seen && step(f, (struct place){ r, i }) < 0)
				return -1;
		}
	for (uint32_t r = 0; r < f->ranges.n; r++)
		for (uint32_t i = 0; i < f->ranges.v[r].n; i++)
			g->open[f->ranges.v[r].first + i] = f->ranges.v[r].node[i].open;
	vgraph_close(g);
	f->collecting = false;
	return 0;
}

int vflow_again(struct flow *f)
{
	queue_all(f);
	return run(f);
}
