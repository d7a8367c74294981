/* countgraph.c - makes a function's flow graph for counting, with the cost of counting each
 * edge
 *
 * NODES    Node 0 is the outside.  Every block has a node at its start, one after each call,
 *          and one at its end.
 *
 * COSTS    The cost of a counter is the frequency of its edge times the cost of its
 *          instructions.  The frequency is a static guess: ten times as high in a loop as
 *          around it, very low in fragments and in front of calls that do not return.  With
 *          heat the frequency is that of the profile, and the guess only orders what the
 *          profile has not seen run. A counter is one instruction where flags are dead; it is
 *          more where flags live, or where the edge needs a jump of its own.  Edges whose
 *          counts follow from the recorded targets of a jump cost nothing.
 *
 * PRIVATE  counters record no targets.  A jump through a table that other jumps use, too, leads
 *          outside, and its targets are entered from there: that their counts are known is
 *          enough, since such a jump has no edge that a layout could make shorter.
 *
 * BLIND    Edges that cannot have a counter: edges to and from outside, pieces without a place
 *          for a counter, and the only edge out of a block, whose count is that of the block's
 *          last piece.  Blind edges form no cycle except where a block of nothing but NOPs is
 *          entered from outside.
 *
 * Tested by tests/programs/instrument.sh: counts are those of callgrind in every way to build
 * the program, and the same wherever a profile puts the counters.
 */
#include "editor/instrument/countgraph.h"

#include <math.h>

#include "editor/emit/emit.h"
#include "editor/instrument/flagscan.h"
#include "postmorph/machine/flags.h"

/* Costs are about those of the instructions (edgecounter.c), in units of one inc; `cold` is a
 * frequency, way_share the guessed part of executions that takes one of several ways, MAX_DEPTH
 * the nesting of loops that the guess distinguishes.  Chosen, not measured. */
enum { OUTSIDE = 0, MAX_DEPTH = 4 };
static const double cost_count = 1, cost_usual = 6, cost_avoided = 1e6, cost_branch = 0.7,
		    cold = 0.001, way_share = 0.6;

struct make {
	const struct prog *prog;
	const struct fn *fn;
	const uint16_t *flags;
	const uint8_t *heat;
	const struct flagscan *scan;	/* not NULL: for private counters */
	double cost_saved;
	struct arena *a;
	uint32_t *in;			/* [nblock] node at the start of a block */
	bool *open;			/* [nblock] entered by jumps that lead outside */
	double *often;			/* [nblock] */
	uint32_t nnode;
	VEC(struct spanningtree_edge) flow;
	VEC(struct countedge) edge;
	uint32_t *table_user;
	uint8_t *seen;			/* [nblock] scratch, zero */
};

/* Several jumps use the table. */
static bool is_shared(const struct make *m, uint32_t table)
{
	return m->table_user[table] == NO_BLOCK;
}

static void add(struct make *m, uint32_t from, uint32_t to, bool blind, double cost,
			     struct countedge edge)
{
	struct spanningtree_edge flow = {
		.from = from, .to = to, .blind = blind, .cost = cost
	};

	vec_push(m->a, &m->flow, flow);
	vec_push(m->a, &m->edge, edge);
}

/* Every backward jump makes a loop of the blocks from its target to its source. */
static void guess_often(struct make *m)
{
	const struct fn *fn = m->fn;
	int32_t *step = arena_array(m->a, (size_t)fn->nblock + 1, sizeof(*step)), depth = 0;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		uint32_t to = fn->block[i].taken;

		if (to <= i && fn->block[to].range == fn->block[i].range) {
			step[to]++;
			step[i + 1]--;
		}
	}
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

		depth += step[i];
		m->often[i] = pow(10, depth > MAX_DEPTH ? MAX_DEPTH : depth);
		if (b->range > 0 || b->landing || b->noreturn || last->kind == INSN_TRAP)
			m->often[i] = cold;
	}
}

/* 2^(i/4) */
static const double heat_step[4] = { 1, 1.1892071150027210, 1.4142135623730951,
				     1.6817928305074290 };
enum { HEAT_LEAST = -20 };		/* log2 of the lowest count that is not taken as 0 */
/* With heat the guess is scaled down by this, below any frequency of the profile. */
static const double unseen = 0x1p-40;

uint8_t countgraph_heat(double count)
{
	double h = count > 0 ? 1 + floor(4 * (log2(count) - HEAT_LEAST) + 0.5) : 0;

	return (uint8_t)(count > 0 ? fmin(fmax(h, 1), UINT8_MAX) : 0);
}

static double heat_value(uint8_t heat)
{
	return heat ? ldexp(heat_step[(heat - 1) % 4], (heat - 1) / 4 + HEAT_LEAST) : 0;
}

static void use_heat(struct make *m)
{
	for (uint32_t i = 0; m->heat && i < m->fn->nblock; i++)
		m->often[i] = heat_value(m->heat[COUNTGRAPH_HEAT * i]) + unseen * m->often[i];
}

/* The flags that inc changes are dead before instruction `i`; it leaves CF as it is. */
static bool is_dead(const struct make *m, uint32_t i)
{
	if (m->scan)
		return flagscan_is_dead(m->scan, prog_insn_addr(m->prog, &m->fn->insn[i]));
	return !m->flags || (m->flags[i] & (FLAGS_ALL & ~FLAGS_CF)) == 0;
}

/* Likewise on the way out of the function from block `b`. */
static bool is_dead_outside(const struct make *m, const struct block *b,
			    enum countedge_kind kind)
{
	vaddr to = kind == COUNTEDGE_FALL ? b->fall_out : b->taken_out;

	return m->scan ? to && flagscan_is_dead(m->scan, to) : !m->flags;
}

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_ICALL;
}

/* A counter may stand before instruction `i` of the block: not between a call or int3 and a NOP
 * right behind it, and not in front of endbr64 or the NOP of a probe. */
static bool may_stand_before(const struct make *m, const struct block *b, uint32_t i)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, int3 = 0xcc;

	const struct insn *insn = &m->fn->insn[b->insn + i];
	const uint8_t *code = prog_insn_bytes(m->prog, insn);

	if (i == 0)
		return !b->probe && !(insn->len == 4 && memcmp(code, endbr64, 4) == 0);
	return insn->kind != INSN_NOP ||
	       !(is_call(insn - 1) || *prog_insn_bytes(m->prog, insn - 1) == int3);
}

/* Finds the cheapest place for the counter of the piece that begins with instruction `i` and
 * ends with the next call; false when there is none. */
static bool find_spot(const struct make *m, const struct block *b, uint32_t i, uint32_t *where,
		      bool *is_saved)
{
	uint32_t end = emit_count_kept(m->prog, m->fn, b) + emit_ends_in_branch(m->fn, b);
	bool found = false;

	if (b->padding || emit_is_empty(m->prog, m->fn, b))
		return false;
	for (; i < end; i++) {
		if (may_stand_before(m, b, i)) {
			bool dead = is_dead(m, b->insn + i);

			if (!found || dead)
				*where = i;
			*is_saved = !dead;
			found = true;
			if (dead)
				return true;
		}
		if (is_call(&m->fn->insn[b->insn + i]))
			break;
	}
	return found;
}

/* Adds the piece from instruction `i` on; false when it is blind. */
static bool add_piece(struct make *m, uint32_t id, uint32_t i, uint32_t from, uint32_t to)
{
	struct countedge e = { .kind = COUNTEDGE_PIECE, .block = id, .first = i == 0 };
	bool seen = find_spot(m, &m->fn->block[id], i, &e.where, &e.saved);

	add(m, from, to, !seen, m->often[id] * (e.saved ? m->cost_saved : cost_count), e);
	return seen;
}

static double way_often(const struct make *m, uint32_t from, uint32_t to, bool only,
			enum countedge_kind kind)
{
	double f = m->often[from], t = to == NO_BLOCK ? f : m->often[to], least = unseen * f;

	if (!m->heat || only || kind == COUNTEDGE_TABLE)
		return (f < t ? f : t) * (only ? 1 : way_share);
	double taken = fmin(heat_value(m->heat[COUNTGRAPH_HEAT * from + 1]), f);
	return fmin(fmax(kind == COUNTEDGE_TAKEN ? taken : f - taken, least), t);
}

/* Adds an edge out of block `id`, to block `to`, or out of the function if `to` is NO_BLOCK. */
static void add_way(struct make *m, uint32_t id, uint32_t node, enum countedge_kind kind,
		    uint32_t to, bool blind)
{
	struct countedge e = { .kind = (uint8_t)kind, .block = id, .where = to };
	const struct block *b = to == NO_BLOCK ? NULL : &m->fn->block[to];

	e.saved = b ? !is_dead(m, b->insn) : !is_dead_outside(m, &m->fn->block[id], kind);
	double cost = (e.saved ? m->cost_saved : cost_count) +
		      (kind == COUNTEDGE_FALL ? 0 : cost_branch);
	add(m, node, b ? m->in[to] : OUTSIDE, blind, cost * way_often(m, id, to, blind, kind),
	    e);
}

static void add_table(struct make *m, uint32_t id, uint32_t node)
{
	const struct jump_table *t = &m->fn->table[m->fn->block[id].table];
	bool shared = m->table_user[m->fn->block[id].table] != id, leaves = false;

	for (uint32_t i = 0; i < t->nentry; i++) {
		uint32_t to = t->succ[i];

		if (to == NO_BLOCK || m->fn->block[to].padding) {
			leaves = true;
		} else if (!m->seen[to]) {
			m->seen[to] = 1;
			add_way(m, id, node, COUNTEDGE_TABLE, to, false);
			m->edge.v[m->edge.n - 1].shared = shared;
			if (shared)
				m->flow.v[m->flow.n - 1].cost = 0;
		}
	}
	for (uint32_t i = 0; i < t->nentry; i++)
		if (t->succ[i] != NO_BLOCK)
			m->seen[t->succ[i]] = 0;
	if (leaves)
		add_way(m, id, node, COUNTEDGE_OUT, NO_BLOCK, true);
}

/* Adds the edges out of block `id`; `seen`: its last piece can have a counter. */
static void add_ways(struct make *m, uint32_t id, uint32_t node, bool seen)
{
	const struct block *b = &m->fn->block[id];
	const struct insn *last = &m->fn->insn[b->insn + b->ninsn - 1];
	bool falls = b->fall != NO_BLOCK || b->fall_out;
	bool branches = b->taken != NO_BLOCK || b->taken_out;
	bool no_image = emit_is_empty(m->prog, m->fn, b);
	bool ends = last->kind == INSN_TRAP;	/* unless a handler goes on behind it */

	if (falls)
		add_way(m, id, node, COUNTEDGE_FALL, b->fall,
			no_image || (!branches && seen && !ends));
	if (b->taken != NO_BLOCK || (b->taken_out && falls))
		add_way(m, id, node, COUNTEDGE_TAKEN, b->taken,
			!falls || last->kind == INSN_XBEGIN);
	if (b->table != NO_TABLE && !(m->scan && is_shared(m, b->table)))
		add_table(m, id, node);
	else if ((!falls || ends) && b->taken == NO_BLOCK)
		add_way(m, id, node, COUNTEDGE_OUT, NO_BLOCK, true);
}

static void add_block(struct make *m, uint32_t id)
{
	const struct block *b = &m->fn->block[id];
	uint32_t from = m->in[id], start = 0;

	if (id == 0 || b->landing || b->pinned || m->open[id])
		add(m, OUTSIDE, from, true, 0,
			  (struct countedge){ .kind = COUNTEDGE_IN, .block = id });
	for (uint32_t i = 0; i < b->ninsn; i++) {
		if (!is_call(&m->fn->insn[b->insn + i]))
			continue;
		uint32_t behind = m->nnode++;

		(void)add_piece(m, id, start, from, behind);
		add(m, behind, OUTSIDE, true, 0,
		    (struct countedge){ .kind = COUNTEDGE_CALL, .block = id, .where = i });
		from = behind;
		start = i + 1;
	}
	if (b->noreturn && start == b->ninsn)
		return;
	uint32_t end = m->nnode++;
	bool seen = add_piece(m, id, start, from, end);

	add_ways(m, id, end, seen);
}

/* Fills table_user: the block that jumps through each table. */
static void find_users(struct make *m)
{
	const struct fn *fn = m->fn;
	uint8_t *n = arena_alloc(m->a, fn->ntable);

	for (uint32_t i = 0; i < fn->nblock; i++) {
		uint32_t t = fn->block[i].table;

		if (t == NO_TABLE)
			continue;
		m->table_user[t] = n[t] ? NO_BLOCK : i;
		n[t] = 1;
	}
}

static void find_open(struct make *m)
{
	const struct fn *fn = m->fn;

	for (uint32_t t = 0; t < fn->ntable && m->scan; t++)
		for (uint32_t i = 0; i < fn->table[t].nentry && is_shared(m, t); i++)
			if (fn->table[t].succ[i] != NO_BLOCK)
				m->open[fn->table[t].succ[i]] = true;
}

void countgraph_make(const struct prog *prog, const struct fn *fn,
		     const struct countgraph_by *by, struct arena *a, struct countgraph *out)
{
	struct make m = {
		.prog = prog, .fn = fn, .flags = by->flags, .heat = by->heat, .a = a,
		.scan = by->scan, .cost_saved = by->scan ? cost_avoided : cost_usual,
		.nnode = 1
	};

	m.in = arena_array(a, fn->nblock, sizeof(*m.in));
	m.often = arena_array(a, fn->nblock, sizeof(*m.often));
	m.table_user = arena_array(a, fn->ntable, sizeof(*m.table_user));
	m.seen = arena_alloc(a, fn->nblock);
	m.open = arena_array(a, fn->nblock, sizeof(*m.open));
	for (uint32_t i = 0; i < fn->nblock; i++)
		m.in[i] = m.nnode++;
	guess_often(&m);
	use_heat(&m);
	find_users(&m);
	find_open(&m);
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (!fn->block[i].padding)
			add_block(&m, i);
	*out = (struct countgraph){
		.flow = { .nnode = m.nnode, .nedge = m.flow.n, .edge = m.flow.v },
		.edge = m.edge.v, .table_user = m.table_user };
	(void)spanningtree_choose(&out->flow);
}
