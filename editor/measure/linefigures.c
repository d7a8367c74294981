/* linefigures.c - counts executions of code that lies across the ends of 64-byte lines
 *
 * BLOCKS    A block that fits into a line lies across one when its first and last byte are
 *           in two.  NOPs at its end, and a jmp behind its conditional branch, which runs on
 *           one of two ways only, do not count as its bytes.  Those that end in an indirect
 *           jump are counted by themselves, too.
 * ALIKE     Each indirect jump counts by the share that others of its function with the same
 *           low bits of the address behind them have in those of all others.
 * PAIRS     A comparison and the branch that it is fused with.
 * LOOPS     Each branch back in the original's order closes a loop: of the blocks from its
 *           target to its source those that run at least every second round.  It is short
 *           when these have up to MAX_LOOP bytes in the original, so the loops are the same
 *           in every layout.  Its lines are counted once a round, and so are as many as its
 *           bytes need.
 *
 * Tested by tests/unit/editor/measure/test_linefigures.c.
 */
#include "editor/measure/linefigures.h"

#include "editor/graph/linefit.h"

enum { LINE = LINEFIT_LINE, MAX_LOOP = 256, MAX_LOOP_BLOCKS = MAX_LOOP };

struct counting {
	const struct prog *prog;
	const struct placement *placement;
	uint32_t n, which;
	struct measure_lines *m;
	/* of the indirect jumps of one function: executions by the offset behind them, and of
	 * all; their squares */
	double ends[LINEFIT_ENDS], jumps, squares;
};

struct span {			/* what a block executes of its image */
	vaddr start, end;
	bool pair_across;
};

static bool is_across(vaddr start, vaddr end)
{
	return end > start && start / LINE != (end - 1) / LINE;
}

static struct span read_span(const struct image *img, const struct placed *p)
{
	struct span s = { p->addr, p->addr, false };
	bool branched = false;
	struct insn insn;
	vaddr target, before = p->addr;

	for (vaddr at = p->addr; at < p->addr + p->size; before = at, at += insn.len) {
		struct bytes code = image_rest(img, at);

		if (!code.p || !insn_decode(code, at, &insn, &target))
			break;
		if (insn.kind == INSN_NOP || (branched && insn.kind == INSN_JMP))
			continue;
		s.end = at + insn.len;
		branched = insn.kind == INSN_JCC || insn.kind == INSN_LOOP;
		if (insn.kind == INSN_JCC && at > before &&
		    insn_fuses(bytes_at(image_rest(img, before), 0, at - before)))
			s.pair_across = is_across(before, s.end);
	}
	return s;
}

static bool dispatches(const struct fn *fn, const struct block *b)
{
	return b->ninsn && fn->insn[b->insn + b->ninsn - 1].kind == INSN_IJMP;
}

static void count_end(struct counting *c, vaddr end, double count)
{
	c->ends[end % LINEFIT_ENDS] += count;
	c->jumps += count;
	c->squares += count * count;
}

/* Of jumps executed a[i] times, each with the share of the others at its offset: the sum of
 * a[i] * (ends - a[i]) / (jumps - a[i]), with the average a[i] in the divisor. */
static void count_alike(struct counting *c)
{
	double same = -c->squares, others = c->jumps > 0 ? c->jumps - c->squares / c->jumps : 0;

	for (uint32_t k = 0; k < LINEFIT_ENDS; k++) {
		same += c->ends[k] * c->ends[k];
		c->ends[k] = 0;
	}
	/* what is left of squares of which none was at another's offset is no figure */
	c->m->alike += others > 1e-9 * c->jumps && same > 0 ? same / others : 0;
	c->jumps = c->squares = 0;
}

static void count_block(struct counting *c, uint32_t f, uint32_t id)
{
	const struct placement *pl = &c->placement[c->which];
	const struct fn *fn = &c->prog->fn[f];
	const struct block *b = &fn->block[id];
	struct span s = read_span(&pl->img, &pl->block[f][id]);

	c->m->pairs += s.pair_across ? b->count : 0;
	if (dispatches(fn, b))
		count_end(c, s.end, b->count);
	if (s.end - s.start > LINE || !is_across(s.start, s.end))
		return;
	c->m->blocks += b->count;
	if (dispatches(fn, b))
		c->m->dispatches += b->count;
}

static bool is_known(const struct counting *c, uint32_t f, uint32_t id)
{
	return placement_all_know(c->placement, c->n, f, id);
}

/* Lines of `n` spans that ascend by start. */
static uint32_t count_lines(const struct span *span, uint32_t n)
{
	uint32_t lines = 0;
	vaddr next = 0;		/* first line not counted yet */

	for (uint32_t i = 0; i < n; i++) {
		vaddr first = span[i].start / LINE, end = (span[i].end - 1) / LINE + 1;

		first = first < next ? next : first;
		lines += end > first ? (uint32_t)(end - first) : 0;
		next = end > next ? end : next;
	}
	return lines;
}

static void insert_span(struct span *span, uint32_t n, struct span s)
{
	for (; n > 0 && span[n - 1].start > s.start; n--)
		span[n] = span[n - 1];
	span[n] = s;
}

static void count_loop(const struct counting *c, uint32_t f, uint32_t from, uint32_t to,
		       double rounds)
{
	const struct placement *pl = &c->placement[c->which];
	const struct fn *fn = &c->prog->fn[f];
	struct span span[MAX_LOOP_BLOCKS];
	uint64_t bytes = 0, before = 0;
	uint32_t n = 0;

	for (uint32_t i = from; i <= to && before <= MAX_LOOP; i++) {
		const struct block *b = &fn->block[i];

		if (2 * b->count < rounds || b->padding)
			continue;
		before += b->size;
		if (!is_known(c, f, i))
			return;
		struct span s = read_span(&pl->img, &pl->block[f][i]);

		if (before > MAX_LOOP || s.end == s.start)
			continue;
		bytes += s.end - s.start;
		insert_span(span, n++, s);
	}
	if (before > MAX_LOOP || n == 0)
		return;
	c->m->loops_need += rounds * (double)((bytes + LINE - 1) / LINE);
	c->m->loops_use += rounds * count_lines(span, n);
}

static void count_function(struct counting *c, uint32_t f)
{
	for (uint32_t id = 0; id < c->prog->fn[f].nblock; id++) {
		const struct block *b = &c->prog->fn[f].block[id];

		if (b->count <= 0 || !is_known(c, f, id))
			continue;
		count_block(c, f, id);
		if (b->taken <= id && b->taken_count > 0)
			count_loop(c, f, b->taken, id, b->taken_count);
	}
	count_alike(c);
}

void linefigures_count(const struct prog *prog, const struct placement *placement, uint32_t n,
		       uint32_t which, struct measure_lines *m)
{
	struct counting c = { prog, placement, n, which, m, .jumps = 0 };

	for (uint32_t f = 0; f < prog->nfn; f++)
		count_function(&c, f);
}
