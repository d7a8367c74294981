/* worth.c - selects the functions that gain more by moving than their entry jumps cost
 *
 * Calls from moved code go straight to the image of a moved function.  Everything else that
 * enters it (function pointers, calls through the PLT, calls from code that stays) comes to the
 * original entry and from there over one more jump.  That jump is a taken branch, and one edge
 * of weight 1 that becomes a fall-through saves one in the Ext-TSP score.  But the jump counts
 * for half of that, since it always goes the same way; since its executions, entries less
 * calls, both estimated, are too many rather than too few (below 0 they count as 0); and since
 * a function that stays makes its callees come over their entry jumps:
 *
 *	gain = score of the new order - score of the original order
 *	       + near * (entries - entries over the entry jump)
 *	       + line_share * what ends of lines in its blocks cost
 *	cost = entry_cost * entries over the entry jump
 *
 * The last part of the gain is for standing beside its callers, as much as the Ext-TSP score
 * gives a near jump.  It is not much, but functions of one block gain nothing else; without it
 * a rounding error would decide about many.
 *
 * Where pass lines runs, blocks that fit into a line and lie across one where they are can be
 * moved off its end.  What that saves is in cycles (prog->line_costs), and a taken branch costs
 * about one (bench/lines.c, `chain`); but some stay across one, and they count like the entry
 * jump for half of that.
 *
 * A function with gain < cost stays where it is; then its own direct calls no longer count for
 * its callees, so the rest is looked at again until nothing changes.  The set only shrinks.
 *
 * Before that the tail goes: most functions of a program run next to never, and yet each that
 * moves makes the file longer.  Functions with the fewest executed instructions for each byte
 * that they would add stay, as long as all that stay execute less than tail_share of the
 * program's instructions; and as long as the file would be longer than the original by more
 * than growth_share.  But moved_share and a few pages may always be added, however small the
 * file is and however much unwind data there is to copy.
 *
 * Functions of which nothing was seen, only their callers (infer_callees.c), are many more than
 * the functions that run.  But in a large program many that run are among them, and each that
 * stays is a page of its own.  In the same way those of them stay that together are expected to
 * execute guessed_share of the instructions of all of them: in a compiler half of their blocks
 * are expected to execute a hundredth.
 *
 * tail_share: of sqlite's functions those that execute the last ten-thousandth hold two thirds
 * of the bytes.  growth_share keeps files below 1.35 times the original, which the estimate of
 * bytes meets within 0.6 %.  guessed_share: of cc1's 3,586 functions 374 stay, and it is as
 * fast within 1 %.  The others are chosen.
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/layout_worth*.txt,
 * layout_growth.txt, layout_budget.txt).
 */
#include "editor/passes/worth.h"

#include <math.h>
#include <stdlib.h>

#include "editor/graph/linefit.h"
#include "editor/passes/layoutscore.h"
#include "editor/passes/redirect.h"
#include "lib/cpu.h"

static const double near = 0.1;		/* of a fall-through */
static const double tail_share = 0.0001;
static const double guessed_share = 0.05;
static const double growth_share = 0.325, moved_share = 0.1;
/* About what each function, each byte of it, and the file adds otherwise: unwind data, map,
 * headers. */
static const double fn_bytes = 64, byte_bytes = 0.15, file_bytes = 8192;
static const double moved_bytes = 16384;

enum { SEARCH_ENTRY = 8 };	/* bytes of .eh_frame_hdr for each FDE */

static const double entry_cost = 0.5, line_share = 0.5;

struct arrivals {		/* direct calls of one function, executions */
	double moved, stayed;	/* from moved and from other functions */
};

static void count_arrivals(const struct prog *prog, struct arrivals *arrivals)
{
	for (uint32_t i = 0; i < prog->nfn; i++)
		arrivals[i] = (struct arrivals){ 0 };
	for (uint32_t i = 0; i < prog->ncall; i++) {
		const struct call_site *c = &prog->call[i];
		const struct fn *caller = &prog->fn[c->caller];
		double n = caller->block[c->block].count;

		if (caller->moved)
			arrivals[c->callee].moved += n;
		else
			arrivals[c->callee].stayed += n;
	}
}

/* Executions of the entry jump.  Entries and calls are estimates of their own, so a
 * difference alone proves nothing: a function whose address nobody holds is entered by its
 * callers only, and so is, at its original entry, one whose pointers all lead to its image. */
static double entry_jumps(const struct fn *fn, const struct arrivals *a)
{
	double rest = fn->entry_count - a->moved;

	if ((fn->redirected || !fn->block[0].pinned) && rest > a->stayed)
		rest = a->stayed;
	return rest > 0 ? rest : 0;
}

struct candidate {
	uint32_t fn;
	double work;		/* instructions executed */
	double bytes;		/* that its move adds to the file */
};

static struct candidate weigh(const struct prog *prog, uint32_t f)
{
	struct candidate c = { .fn = f, .work = fn_work(&prog->fn[f]), .bytes = fn_bytes };

	for (uint32_t i = 0; i < prog->fn[f].nblock; i++) {
		const struct block *b = &prog->fn[f].block[i];

		c.bytes += b->stays || b->padding ? 0 : (1 + byte_bytes) * b->size;
	}
	return c;
}

static int by_density(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	double ab = a->work * b->bytes, ba = b->work * a->bytes;

	return ab != ba ? (ab < ba ? -1 : 1) : a->fn < b->fn ? -1 : a->fn > b->fn;
}

/* What functions may add to the file. */
static double bytes_allowed(const struct prog *prog)
{
	double file = (double)prog->img.file.n, least = moved_share * file;
	double rest = growth_share * file - file_bytes - (double)prog->cfi.bytes.n -
		      SEARCH_ENTRY * (double)prog->cfi.nfde;

	least = least > moved_bytes ? least : moved_bytes;
	return rest > least ? rest : least;
}

/* Takes those out of prog->order that do not move any more. */
static void keep_moved(struct prog *prog)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->norder; i++)
		if (prog->fn[prog->order[i]].moved)
			prog->order[n++] = prog->order[i];
	prog->norder = n;
}

/* Of those of which nothing was seen, or of all: as long as those dropped do less than
 * `share` of the work, or as all add more than `allowed` bytes. */
static void drop_least(struct prog *prog, struct arena *a, bool guessed, double share,
		       double allowed)
{
	struct candidate *c = arena_array(a, prog->norder, sizeof(*c));
	double all = 0, dropped = 0, added = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->norder; i++) {
		if (guessed && fn_is_seen(&prog->fn[prog->order[i]]))
			continue;
		c[n] = weigh(prog, prog->order[i]);
		all += c[n].work;
		added += c[n++].bytes;
	}
	if (n)
		qsort(c, n, sizeof(*c), by_density);
	for (uint32_t i = 0; (guessed || all > 0) && i < n; i++) {
		if (dropped + c[i].work > share * all && added <= allowed)
			break;
		dropped += c[i].work;
		added -= c[i].bytes;
		prog->fn[c[i].fn].moved = false;
	}
	keep_moved(prog);
}

void worth_drop(struct prog *prog)
{
	struct arena *scratch = arena_new();

	drop_least(prog, scratch, true, guessed_share, INFINITY);
	drop_least(prog, scratch, false, tail_share, bytes_allowed(prog));
	arena_free(scratch);
}

/* What the ends of lines cost in a function's blocks where they are. */
static double lines_gain(const struct prog *prog, const struct fn *fn)
{
	double executions = 0;

	for (uint32_t i = 0; prog->line_costs && i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		if (b->count > 0 && b->size <= LINEFIT_LINE && !b->cold && !b->warm &&
		    b->addr / LINEFIT_LINE != (b->addr + b->size - 1) / LINEFIT_LINE)
			executions += b->count;
	}
	return executions > 0 ? executions * prog->line_costs->line : 0;
}

void worth_select(struct prog *prog, bool redirect)
{
	struct arena *scratch = arena_new();
	struct arrivals *arrivals = arena_array(scratch, prog->nfn, sizeof(*arrivals));
	double *gain = arena_array(scratch, prog->nfn, sizeof(*gain));
	uint32_t before;

	for (uint32_t i = 0; i < prog->norder; i++) {
		const struct fn *fn = &prog->fn[prog->order[i]];

		gain[prog->order[i]] = layoutscore_gain(fn) +
				       line_share * lines_gain(prog, fn);
	}
	do {
		before = prog->norder;
		prog->norder = 0;
		count_arrivals(prog, arrivals);
		if (redirect)
			redirect_select(prog);
		for (uint32_t i = 0; i < before; i++) {
			uint32_t f = prog->order[i];
			struct fn *fn = &prog->fn[f];

			double jumps = entry_jumps(fn, &arrivals[f]);
			fn->moved = gain[f] + near * (fn->entry_count - jumps) >=
				    entry_cost * jumps;
			if (fn->moved)
				prog->order[prog->norder++] = f;
		}
	} while (prog->norder < before);
	arena_free(scratch);
}
