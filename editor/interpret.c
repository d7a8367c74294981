/* interpret.c - following the code from one sample
 *
 * INVARIANTS
 *   I1  the work for a sample is bounded by options.steps instructions and INTERPRET_CALLERS frames,
 *       whatever the code and the stack are;
 *   I2  of registers and memory nothing is kept but branch and call instructions with their targets.
 *
 * A call is followed like a jump: its return address is known because it was just pushed.
 */
#include "editor/interpret.h"

#include <stdlib.h>

#include "editor/callers.h"
#include "lib/err.h"

enum { MEMO = 1 << 14, MERGE_AT = 1 << 20 };

struct interpreter {
	const struct image *img;
	struct arena *arena;
	struct interpret_options options;
	struct memview_file file;
	struct cfi cfi;
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
	struct err unread;		/* without unwind tables there are no callers to be seen */
	in->stats.unwinds = cfi_parse(img, a, &in->cfi, &unread) == 0;
	return memview_open(img, a, &in->file, err) < 0 ? NULL : in;
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

/* Follows one sample to its end.  *nbranch: decided; *why: of an unknown value that ended it. */
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
		case STEP_UNKNOWN: case STEP_STOP:
			return stop_of(act);
		}
	}
	return STOP_STEPS;
}

static void note_callers(struct interpreter *in, const struct statesample *sample)
{
	struct caller caller[INTERPRET_CALLERS];
	uint32_t n = callers_find(in->img, &in->cfi, sample, caller, INTERPRET_CALLERS);

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
	note_callers(in, sample);
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
