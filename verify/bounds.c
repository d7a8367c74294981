/* bounds.c - the number of entries of a jump table that a load of one can reach
 *
 * QUESTION   Is the register that picks the entry below the number of entries, whichever way
 *            control came?
 *
 * WALK       Backwards from the load, along every way that dataflow.c has found.  At each step
 *            the number in question is somewhere (`at`), and an instruction may say where it
 *            was before: a copy, an extension, a load, a store.  A conditional jump on the way
 *            says something once the comparison in front of it is met; that is a fact about
 *            some other place, and is taken back in the same way.  When a fact is about the
 *            place where the number is, the number is bounded.  A mask, a shift, or the width
 *            of what was extended bound it as well.
 *            A way ends with that, or where the number comes from something else, or where
 *            control enters the images from elsewhere: then nothing is known.  Every way from
 *            an entry to the load passes one of these ends, for a walk in circles alone begins
 *            nowhere.
 *
 * BEYOND     A comparison that admits more than the new table has entries is no end; another
 *            one may stand in front of it.  If there is none, the new table is too short.  What
 *            only masks, shifts and widths admit is unknown instead: compilers leave out
 *            entries that the program promises not to use.
 *
 * What is not followed: numbers behind other arithmetic, in memory across calls and stores that
 * may overlap it, and across a change of the registers of its address.  At a landing pad
 * nothing is known.  Where the walk of dataflow.c does not go on, behind a call that does not
 * come back, bounds do not count: who gets there all the same would have had the original read
 * behind its table.
 *
 * Tested by tests/unit/verify/test_bounds.c.
 */
#include <stdlib.h>
#include <string.h>

#include "verify/bounds.h"
#include "verify/indexop.h"
#include "verify/lookup.h"

enum {
	MAX_FACTS = 8,		/* chosen; gcc's print_rtx() has more than 4 */
	HEADS = 1024,
	/* steps of one question; chosen, not measured */
	MAX_STEPS = 1 << 14,
	MAX_INDEX = 1 << 16,	/* what is compared with more is no index */
};

struct fact {			/* the lowest `bits` of what is at that place are <= most */
	struct vplace at;
	uint64_t most, bits;
};

struct query {			/* no hidden padding: compared as bytes */
	struct vplace at;
	uint64_t bits;		/* the number is made of that many lowest bits, unsigned */
	/* a bound is one only up to here: the number was sign-extended */
	uint64_t largest;
	/* what comparisons admit that were met, if that is too much; 0: none were */
	uint64_t admitted;
	/* the number is what is at the place, shifted down so far; or the place has 4 times the
	 * number, which is yet to be seen */
	uint32_t shift, scaled;
	/* enum vlimit: of the comparison whose flags a jump looked at */
	uint64_t pending;
	struct vplace nearest;	/* what is compared last before the load; OTHER: not met */
	uint64_t nfact;
	struct fact fact[MAX_FACTS];
};

struct visit {
	uint32_t node, next;	/* next: index + 1 of another one with the same hash */
	struct query q;
};

/* Most indexes are compared themselves.  What else is known makes more states, and in large
 * functions more than there are steps: so it is asked first without. */
enum notes {
	NOTE_NUMBER,		/* comparisons of the number */
	NOTE_NEAREST,		/* and of what is compared last before the load */
	NOTE_ALL, NOTES
};

struct search {
	struct vgraph *g;
	struct vbound result;
	uint32_t nentry;
	enum notes notes;
	VEC(struct visit) visits;	/* all; [done ..) are yet to be looked at */
	uint32_t done;
	uint32_t head[HEADS];
};

enum outcome { GOES_ON, LOST, BOUNDED };

static int edge_cmp(const void *x, const void *y)
{
	const struct vedge *a = x, *b = y;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->conditional - b->conditional;
}

void vgraph_close(struct vgraph *g)
{
	uint32_t at = 0;

	if (g->edges.n)
		qsort(g->edges.v, g->edges.n, sizeof(*g->edges.v), edge_cmp);
	g->first = arena_array(g->a, (uint64_t)g->n + 1, sizeof(*g->first));
	for (uint32_t i = 0; i <= g->n; i++) {
		while (at < g->edges.n && g->edges.v[at].to < i)
			at++;
		g->first[i] = at;
	}
	g->budget = 64 * (uint64_t)g->n + 8 * MAX_STEPS;
}

/* At the end of a way. */
static void end_way(struct search *s, const struct query *q)
{
	struct vbound *r = &s->result;

	if (!q->admitted)
		r->kind = BOUND_UNKNOWN;
	else if (r->kind == BOUND_PROVEN)
		r->kind = BOUND_BEYOND;
	if (q->admitted > r->most)
		r->most = q->admitted;
}

static void visit(struct search *s, uint32_t node, const struct query *q)
{
	uint64_t word[sizeof(*q) / sizeof(uint64_t)], hash = node;

	memcpy(word, q, sizeof(word));
	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15;
	uint32_t *head = &s->head[hash >> 40 & (HEADS - 1)];
	for (uint32_t i = *head; i; i = s->visits.v[i - 1].next)
		if (s->visits.v[i - 1].node == node &&
		    memcmp(&s->visits.v[i - 1].q, q, sizeof(*q)) == 0)
			return;
	struct visit one = { .node = node, .next = *head, .q = *q };
	vec_push(s->g->a, &s->visits, one);
	*head = s->visits.n;
}

static void drop_fact(struct query *q, uint64_t i)
{
	memmove(&q->fact[i], &q->fact[i + 1], (q->nfact - i - 1) * sizeof(q->fact[0]));
	memset(&q->fact[--q->nfact], 0, sizeof(q->fact[0]));
}

/* The fact that is worth least: about another place than the number's, in memory if any is. */
static uint64_t least_fact(const struct query *q)
{
	uint64_t least = 0;

	for (uint64_t i = q->nfact; i-- > 0; )
		if (!vplace_same(&q->fact[i].at, &q->at) &&
		    (q->fact[i].at.kind == PLACE_MEMORY ||
		     q->fact[least].at.kind != PLACE_MEMORY ||
		     vplace_same(&q->fact[least].at, &q->at)))
			least = i;
	return least;
}

static bool is_noted(struct query *q, const struct fact *f, enum notes notes)
{
	if (notes == NOTE_ALL || vplace_same(&f->at, &q->at))
		return true;
	if (notes == NOTE_NEAREST && q->nearest.kind == PLACE_OTHER)
		q->nearest = f->at;
	return notes == NOTE_NEAREST && vplace_same(&f->at, &q->nearest);
}

static void add_fact(struct query *q, const struct iop *op, enum notes notes)
{
	struct fact f = { op->from, op->value, op->from_bits };

	if (op->from.kind == PLACE_OTHER || f.most >= MAX_INDEX ||
	    (q->pending == LIMIT_BELOW && f.most == 0))
		return;
	if (q->pending == LIMIT_BELOW)
		f.most--;
	if (!is_noted(q, &f, notes))
		return;
	for (uint64_t i = 0; i < q->nfact; i++) {
		struct fact *known = &q->fact[i];

		if (!vplace_same(&known->at, &f.at) || known->bits != f.bits)
			continue;
		if (f.most < known->most)
			known->most = f.most;
		return;
	}
	if (q->nfact == MAX_FACTS)
		drop_fact(q, least_fact(q));
	q->fact[q->nfact++] = f;
}

static uint64_t all_of(uint64_t bits)
{
	return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* What is known bounds the number. */
static bool is_bounded(struct query *q, uint32_t nentry)
{
	if (q->scaled)
		return false;
	if (all_of(q->bits) >> q->shift < nentry && all_of(q->bits) <= q->largest)
		return true;
	for (uint64_t i = 0; i < q->nfact; i++) {
		const struct fact *f = &q->fact[i];

		if (!vplace_same(&f->at, &q->at) || f->bits < q->bits || f->most > q->largest)
			continue;
		uint64_t most = f->most >> q->shift;

		if (most < nentry)
			return true;
		if (f->most != UINT8_MAX && f->most != UINT16_MAX &&
		    (!q->admitted || most < q->admitted))
			q->admitted = most;
	}
	return false;
}

/* What bounds the number but for bits above is all that is needed of what is known. */
static void keep_best(struct query *q, uint32_t nentry)
{
	for (uint64_t i = 0; i < q->nfact; i++) {
		const struct fact f = q->fact[i];

		if (q->scaled || !vplace_same(&f.at, &q->at) ||
		    f.most >> q->shift >= nentry || f.most > q->largest)
			continue;
		memset(q->fact, 0, sizeof(q->fact));
		q->fact[0] = f;
		q->nfact = 1;
		return;
	}
}

static uint32_t stronger(uint32_t x, uint32_t y)
{
	return x > y ? x : y;		/* in the order of enum vlimit */
}

/* The query holds in front of the instruction: on to all that lead there. */
static void go_back(struct search *s, uint32_t node, const struct query *q)
{
	const struct vgraph *g = s->g;

	if (g->open[node])
		end_way(s, q);
	for (uint32_t i = g->first[node]; i < g->first[node + 1]; i++) {
		const struct vedge *e = &g->edges.v[i];
		struct query before = *q;

		keep_best(&before, s->nentry);
		if (e->conditional)
			before.pending = stronger(q->pending, iop_limit(e->condition));
		visit(s, e->from, &before);
	}
}

static bool addresses_change(const struct vplace *memory, uint16_t writes)
{
	return (memory->base < PLACE_NONE && (writes >> memory->base & 1)) ||
	       (memory->index < PLACE_NONE && (writes >> memory->index & 1));
}

/* Does the instruction write what is at the place? */
static bool is_written(const struct vplace *at, uint64_t bits, const struct iop *op)
{
	uint16_t writes = op->writes | (op->kind == IOP_CALL ? VERIFY_CALLER_SAVED : 0);

	if (at->kind == PLACE_REG)
		return writes >> at->base & 1;
	return op->kind == IOP_CALL || addresses_change(at, writes) ||
	       (op->stores &&
		!vplace_apart(at, (uint32_t)(bits + 7) / 8, &op->to, op->to_bits / 8u));
}

/* Exactly this place is written as `op` says, and no more than its address depends on. */
static bool is_target(const struct vplace *at, const struct iop *op)
{
	return op->kind != IOP_CALL && vplace_same(at, &op->to) &&
	       (at->kind == PLACE_REG || !addresses_change(at, op->writes));
}

/* The lowest *bits of the place that a move writes are those of where it came from; false
 * when they are not.  *sign: they were extended by their sign. */
static bool move_back(const struct iop *op, struct vplace *at, uint64_t *bits, bool *sign)
{
	bool partial = op->to_bits < 32 || at->kind == PLACE_MEMORY;

	*sign = false;
	if (op->from.kind == PLACE_OTHER || (partial && *bits > op->to_bits))
		return false;
	*at = op->from;
	if (*bits > op->from_bits) {
		*bits = op->from_bits;
		*sign = op->is_signed;
	}
	return true;
}

/* Of so many lowest bits behind a shift are made so many in front of it. */
static uint64_t bits_shifted(const struct iop *op, uint64_t bits)
{
	return bits + op->value < op->to_bits ? bits + op->value : op->to_bits;
}

static void fact_back(struct query *q, uint64_t *i, const struct iop *op)
{
	struct fact *f = &q->fact[*i];
	bool sign;

	if (op->kind == IOP_SHIFT && is_target(&f->at, op) && f->bits <= op->to_bits &&
	    f->most <= UINT64_MAX >> op->value) {
		f->most = f->most << op->value | all_of(op->value);
		f->bits = bits_shifted(op, f->bits);
		++*i;
		return;
	}
	if (is_written(&f->at, f->bits, op) &&
	    (op->kind != IOP_MOVE || !is_target(&f->at, op) ||
	     !move_back(op, &f->at, &f->bits, &sign) ||
	     (sign && f->most > all_of(f->bits - 1))))
		drop_fact(q, *i);
	else
		++*i;
}

/* The number is a constant, or at most that. */
static enum outcome is_at_most(const struct query *q, const struct iop *op, uint32_t nentry)
{
	bool whole = op->to_bits >= 32 && op->to.kind == PLACE_REG;

	if (q->scaled || (!whole && q->bits > op->to_bits))
		return LOST;
	return op->value >> q->shift < nentry && op->value <= q->largest ? BOUNDED : LOST;
}

/* The register is what it was, or, with `moved`, what `from` is; so is what is known of it. */
static struct query chosen(const struct query *q, const struct iop *op, bool moved)
{
	struct query out = *q;

	if (moved)
		out.at = op->from;
	for (uint64_t i = 0; i < out.nfact; ) {
		struct fact *f = &out.fact[i];

		if (vplace_same(&f->at, &op->to)) {
			f->at = moved ? op->from : f->at;
			f->bits = f->bits < op->to_bits ? f->bits : op->to_bits;
		} else if (is_written(&f->at, f->bits, op)) {
			drop_fact(&out, i);
			continue;
		}
		i++;
	}
	return out;
}

static enum outcome choice_back(struct search *s, struct query *q, const struct iop *op,
				uint32_t node)
{
	struct query other = chosen(q, op, true);

	if (op->from.kind == PLACE_OTHER || q->scaled)
		return LOST;
	if (!is_bounded(&other, s->nentry))
		go_back(s, node, &other);
	*q = chosen(q, op, false);
	return is_bounded(q, s->nentry) ? BOUNDED : GOES_ON;
}

static enum outcome number_back(struct query *q, const struct iop *op, uint32_t nentry)
{
	bool sign;

	if (!is_written(&q->at, q->bits, op))
		return GOES_ON;
	if (!is_target(&q->at, op))
		return LOST;
	switch (op->kind) {
	case IOP_CONST: case IOP_MASK:
		return is_at_most(q, op, nentry);
	case IOP_SHIFT:
		if (q->scaled || q->largest != UINT64_MAX ||
		    (op->to_bits < 32 && q->bits > op->to_bits))
			return LOST;
		q->bits = bits_shifted(op, q->bits);
		q->shift += (uint32_t)op->value;
		return q->shift < 64 ? GOES_ON : LOST;
	case IOP_SCALE:
		if (!q->scaled)
			return LOST;
		q->scaled = 0;
		q->at = op->from;
		return GOES_ON;
	case IOP_MOVE:
		if ((q->scaled && (op->from_bits < 64 || op->to_bits < 64)) ||
		    !move_back(op, &q->at, &q->bits, &sign))
			return LOST;
		if (sign && all_of(q->bits - 1) < q->largest)
			q->largest = all_of(q->bits - 1);
		return GOES_ON;
	default:
		return LOST;
	}
}

/* From behind the instruction to in front of it. */
static enum outcome step_back(struct search *s, struct query *q, uint32_t node)
{
	vaddr addr = s->g->addr[node];
	uint32_t pending = q->pending;
	struct iop op;

	if (!iop_decode(verify_orig_code(s->g->v, addr), addr, &op))
		return LOST;
	if (op.writes_flags || op.kind == IOP_CALL)
		q->pending = LIMIT_NONE;
	/* behind what writes 32 bits the whole register is that number */
	if (q->at.kind == PLACE_REG && (op.clears >> q->at.base & 1) && q->bits > 32)
		q->bits = 32;
	/* and what a mask leaves, or a constant has, are the lowest bits of that */
	if ((op.kind == IOP_MASK || op.kind == IOP_CONST) && vplace_same(&q->at, &op.to) &&
	    op.to.kind == PLACE_REG && op.to_bits >= 32)
		for (uint64_t bits = 8; bits < q->bits; bits *= 2)
			if (op.value <= all_of(bits))
				q->bits = bits;
	if (is_bounded(q, s->nentry))
		return BOUNDED;
	if (op.kind == IOP_CHOOSE && is_target(&q->at, &op))
		return choice_back(s, q, &op, node);
	for (uint64_t i = 0; i < q->nfact; )
		fact_back(q, &i, &op);
	enum outcome outcome = number_back(q, &op, s->nentry);
	if (outcome != GOES_ON)
		return outcome;
	if (op.kind == IOP_COMPARE && pending != LIMIT_NONE) {
		struct query at = *q;

		at.pending = pending;
		add_fact(&at, &op, s->notes);
		at.pending = q->pending;
		*q = at;
	}
	return is_bounded(q, s->nentry) ? BOUNDED : GOES_ON;
}

static void search(struct search *s)
{
	while (s->done < s->visits.n) {
		struct visit at = s->visits.v[s->done++];

		if (s->done > MAX_STEPS || s->g->budget == 0) {
			s->result = (struct vbound){ .kind = BOUND_UNKNOWN };
			return;
		}
		s->g->budget--;
		switch (step_back(s, &at.q, at.node)) {
		case GOES_ON:
			go_back(s, at.node, &at.q);
			break;
		case LOST:
			end_way(s, &at.q);
			break;
		case BOUNDED:
			break;
		}
	}
}

struct vbound vbound_of(struct vgraph *g, uint32_t load, uint8_t base, uint32_t nentry)
{
	static struct search s;
	struct vindex index;
	struct query q = { .bits = 64, .largest = UINT64_MAX };

	if (!iop_index(verify_orig_code(g->v, g->addr[load]), base, &index))
		return (struct vbound){ .kind = BOUND_UNKNOWN };
	q.at = index.index;
	q.scaled = index.scaled;
	for (unsigned notes = 0; notes < NOTES; notes++) {
		memset(&s, 0, sizeof(s));
		s.g = g;
		s.nentry = nentry;
		s.notes = (enum notes)notes;
		go_back(&s, load, &q);
		search(&s);
		if (s.result.kind == BOUND_PROVEN)
			break;
	}
	return s.result;
}
