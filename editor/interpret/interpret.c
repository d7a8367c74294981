/* interpret.c - follows control flow from one sample by interpreting instructions
 *
 * INVARIANTS
 *   I1  the work for a sample is bounded by options.steps instructions, one postdominator each
 *       at most (postdom.h), and INTERPRET_CALLERS frames, whatever the code and the stack are;
 *   I2  of a sample's registers and memory only addresses of branches and calls and their
 *       targets are kept.
 *
 * A call is followed like a jump: its return address is known because it was just pushed.
 *
 * UNKNOWN  Often the known values do not decide where control goes. Then interpretation goes on
 *          at the next place where control must come: after a branch at its postdominator, or
 *          else after the call of the function; after an indirect call or jump behind that
 *          call.  What may have been written in between becomes unknown. For the code between a
 *          branch and its postdominator that is what this code writes. For other functions it
 *          is everything but the stack and the callee-saved registers. (A function may write to
 *          its caller's stack, but that hardly ever decides a branch; to keep the rest of
 *          memory as known as well showed branches that the program never takes.) In a
 *          generation one edge of a branch may lead to the original: then there is no
 *          postdominator.
 *
 * Tested by tests/unit/editor/interpret/test_interpret.c.
 */
#include "editor/interpret/interpret.h"

#include <stdlib.h>

#include "editor/interpret/callers.h"
#include "lib/err.h"
#include "postmorph/machine/postdom.h"

/* MEMO entries hold decoded instructions; equal sightings are merged when there are MERGE_AT.
 * Chosen, not measured. */
enum { MEMO = 1 << 14, MERGE_AT = 1 << 20 };

struct interpreter {
	const struct image *img;
	struct arena *arena;
	struct interpret_options options;
	struct memview_file file;
	struct cfi cfi;
	struct postdoms *postdoms;
	struct memo {
		vaddr pc;
		struct act act;
		bool valid;
	} memo[MEMO];			/* by address: hot code is followed again and again */
	VEC(struct sighting) seen;
	uint32_t merge_at;
	struct interpret_stats stats;
};

struct interpreter *interpreter_new(const struct image *img, struct arena *a,
				    const struct interpret_options *options, struct err *err)
{
	struct interpreter *in = arena_alloc(a, sizeof(*in));

	in->img = img;
	in->arena = a;
	in->options = *options;
	in->merge_at = MERGE_AT;
	/* without unwind tables there are no callers to be seen */
	struct err unread;
	in->stats.unwinds = cfi_parse(img, a, &in->cfi, &unread) == 0;
	in->postdoms = postdom_new(img, a, err);
	return !in->postdoms || memview_open(img, a, &in->file, err) < 0 ? NULL : in;
}

static const struct act *act_at(struct interpreter *in, vaddr pc)
{
	struct memo *m = &in->memo[(pc ^ pc >> 14) % MEMO];

	if (!m->valid || m->pc != pc) {
		act_lower(image_rest(in->img, pc), pc, &m->act);
		m->pc = pc;
		m->valid = true;
	}
	return &m->act;
}

static int by_place(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	if (x->insn != y->insn)
		return x->insn < y->insn ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void merge(struct interpreter *in)
{
	struct sighting *v = in->seen.v;
	uint32_t n = 0;

	if (in->seen.n)
		qsort(v, in->seen.n, sizeof(*v), by_place);
	for (uint32_t i = 0; i < in->seen.n; i++) {
		if (n && by_place(&v[n - 1], &v[i]) == 0)
			v[n - 1].count += v[i].count;
		else
			v[n++] = v[i];
	}
	in->seen.n = n;
}

static void note(struct interpreter *in, enum sighting_kind kind, vaddr insn, vaddr to)
{
	struct sighting s = { insn, to, kind, 1 };

	if (in->seen.n >= in->merge_at) {
		merge(in);
		if (in->seen.n > in->merge_at / 2)
			in->merge_at = 2 * in->seen.n;
	}
	vec_push(in->arena, &in->seen, s);
	switch (kind) {
	case SIGHTING_BRANCH: in->stats.branches++; break;
	case SIGHTING_CALL: in->stats.calls++; break;
	case SIGHTING_CALLER: in->stats.callers++; break;
	case SIGHTING_TAKEN: case SIGHTING_RUN: break;
	}
}

static enum stop stop_of(const struct act *act)
{
	switch (act->kind) {
	case ACT_JCC: case ACT_LOOP: return STOP_BRANCH;
	case ACT_IJMP: case ACT_ICALL: return STOP_JUMP;
	case ACT_RET: return STOP_RETURN;
	default: return STOP_CODE;
	}
}

/* Makes unknown what is stored between a branch and its postdominator, where the addresses are
 * known; otherwise all memory.  False when there is no room to note it. */
static bool lose_stores(struct machine *m, const struct postdom *postdom)
{
	const struct value unknown = { .why = UNKNOWN_CODE };
	bool anywhere = postdom->stores;

	for (uint32_t i = 0; i < postdom->nstore; i++) {
		const struct postdom_store *s = &postdom->store[i];
		const struct value *base = &m->reg[s->base];
		uint64_t at = base->v + (uint64_t)(int64_t)s->disp;

		anywhere |= base->known != VALUE_KNOWN;
		for (unsigned k = 0; k < s->bytes && !anywhere; k += 8)
			if (!memview_write(&m->memory, at + k,
					   s->bytes - k < 8 ? s->bytes - k : 8, unknown))
				return false;
	}
	if (anywhere)
		memview_forget(&m->memory);
	return true;
}

/* Goes on at the postdominator of a branch. */
static bool pass_branch(struct interpreter *in, struct machine *m)
{
	const struct postdom *postdom = postdom_find(in->postdoms, m->pc);
	struct value *rsp = &m->reg[MACHINE_RSP];

	if (!postdom->found || !lose_stores(m, postdom))
		return false;
	if (postdom->calls)
		memview_forget_heap(&m->memory);
	machine_lose(m, postdom->writes, postdom->flags);
	if (rsp->known == VALUE_KNOWN)
		rsp->v += (uint64_t)postdom->rsp;
	m->pc = postdom->at;
	in->stats.joined++;
	return true;
}

/* Goes on after the call of the function that runs. */
static bool leave(struct interpreter *in, struct machine *m)
{
	if (!in->stats.unwinds || !callers_unwind(&in->cfi, m->pc, m))
		return false;
	memview_forget_heap(&m->memory);
	in->stats.left++;
	return true;
}

/* A linkage stub's jump, or one in place of a call and a return: the stack is as at the
 * entry of what is jumped to.  (The unwind rows of stubs are expressions.) */
static bool return_for_slot(struct interpreter *in, struct machine *m)
{
	const struct act ret = { .kind = ACT_RET };
	enum unknown why;

	if (machine_step(m, &ret, &why) != STEP_RET)
		return false;
	machine_lose(m, MACHINE_CALLER_SAVED, true);
	memview_forget_heap(&m->memory);
	in->stats.called++;
	return true;
}

/* Goes on past an instruction after which it is not known where control goes; false when that
 * is not possible. */
static bool pass_by(struct interpreter *in, struct machine *m, const struct act *act)
{
	switch ((enum act_kind)act->kind) {
	case ACT_JCC: case ACT_LOOP:
		return pass_branch(in, m) || leave(in, m);
	case ACT_IJMP:
		return act_is_through_slot(act) ? return_for_slot(in, m) : leave(in, m);
	case ACT_ICALL:
		machine_lose(m, MACHINE_CALLER_SAVED, true);
		memview_forget_heap(&m->memory);
		m->pc += act->len;
		in->stats.called++;
		return true;
	default:
		return false;
	}
}

/* Follows one sample to its end.  *nbranch: decided; *why: of an unknown value that ended
 * it. */
static enum stop follow(struct interpreter *in, struct machine *m, uint32_t *nbranch,
			enum unknown *why)
{
	for (uint32_t step = 0; step < in->options.steps; step++) {
		vaddr pc = m->pc;

		if (!image_is_exec(in->img, pc))
			return STOP_OUTSIDE;
		const struct act *act = act_at(in, pc);

		in->stats.steps++;
		switch (machine_step(m, act, why)) {
		case STEP_ON: case STEP_CALL: case STEP_RET:
			break;
		case STEP_BRANCH:
			note(in, SIGHTING_BRANCH, pc, m->pc);
			if (++*nbranch == in->options.branches)
				return STOP_ENOUGH;
			break;
		case STEP_ICALL:
			note(in, SIGHTING_CALL, pc, m->pc);
			break;
		case STEP_STOP:
			return stop_of(act);
		case STEP_UNKNOWN:
			if (!pass_by(in, m, act))
				return stop_of(act);
		}
	}
	return STOP_STEPS;
}

static void note_callers(struct interpreter *in, const struct machine *m)
{
	struct caller caller[INTERPRET_CALLERS];
	uint32_t n = callers_find(in->img, &in->cfi, m, caller, INTERPRET_CALLERS);

	for (uint32_t i = 0; i < n; i++)
		note(in, SIGHTING_CALLER, caller[i].insn, caller[i].called);
}

void interpreter_follow(struct interpreter *in, const struct statesample *sample)
{
	enum unknown why = UNKNOWN_NOTHING;
	uint32_t nbranch = 0;
	struct machine m;

	in->stats.samples++;
	machine_start(&m, &in->file, sample);
	if (!image_is_exec(in->img, m.pc)) {
		in->stats.outside++;
		return;
	}
	note_callers(in, &m);
	enum stop stop = follow(in, &m, &nbranch, &why);
	in->stats.stop[stop]++;
	if (nbranch)
		in->stats.with_branch++;
	else
		in->stats.first[stop][why]++;
}

const struct sighting *interpreter_sightings(struct interpreter *in, uint32_t *n)
{
	merge(in);
	*n = in->seen.n;
	return in->seen.v;
}

const struct interpret_stats *interpreter_stats(const struct interpreter *in)
{
	return &in->stats;
}
