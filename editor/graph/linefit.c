/* linefit.c - chooses paddings by dynamic programming over the offset in a line
 *
 * All that the rest of the row needs to know of the items before it is at which offset of a
 * line they end, and there are LINEFIT_LINE of these.  So for each item and each offset that
 * it may end at the least cost is remembered, with the start, the bytes added in front and the
 * end of the item before that lead to it.  Since each byte costs something, padding of a line's
 * size or more never pays, but of just that where there must be some: two rounds over the
 * offsets, which go on from one to the next, give the cheapest padding for every start.
 *
 * Of equal costs the choice is what comes first: no padding, then the lowest start, then the
 * fewest bytes in front.  The same row always gives the same paddings.
 *
 * Tested by tests/unit/editor/graph/test_linefit.c, against all paddings of short rows.
 */
#include "editor/graph/linefit.h"

#include <math.h>

#include "editor/graph/memory.h"

enum { LINE = LINEFIT_LINE, HALF = LINEFIT_HALF, ALIGN = 16 };

struct step {			/* how an item comes to end at an offset */
	uint8_t start, front;
};

/* Of one item: the way to each start, and to each end. */
struct steps {
	uint8_t from[LINE];	/* end of the item before, by start */
	struct step to[LINE];	/* by end */
};

/* Costs of the ends of lines and of halves behind offset `from` and in front of `to`. */
static double cuts(const double *cost, uint32_t from, uint32_t to)
{
	if (to <= from)
		return 0;
	uint32_t lines = (to - 1) / LINE - from / LINE, all = (to - 1) / HALF - from / HALF;

	return lines * cost[LINEFIT_AT_LINE] + (all - lines) * cost[LINEFIT_AT_HALF];
}

/* Costs of an item from `start`, which is in its first line, to `end`. */
static double body(const struct linefit_item *item, uint32_t start, uint32_t end)
{
	uint32_t tail = end - item->tail;
	double cost = cuts(item->inside, start, end) + cuts(item->in_tail, tail, end);

	if (end / HALF != tail / HALF)
		cost += item->tail_end;
	return cost;
}

static double before(const struct linefit_item *item, uint32_t at)
{
	return at == 0	    ? item->before[LINEFIT_AT_LINE]
	       : at == HALF ? item->before[LINEFIT_AT_HALF]
			    : 0;
}

/* The least cost of being at each offset behind one byte of padding or more; origin: where it
 * began.  cost[]: of being there without. */
static void find_padded(const struct linefit_item *item, const double *cost, double *padded,
			uint8_t *origin)
{
	double way = INFINITY;
	uint8_t began = 0;

	for (uint32_t k = 0; k < 2 * LINE; k++) {
		uint32_t at = k % LINE;
		double fresh = cost[at] + item->pad;

		began = fresh <= way ? (uint8_t)at : began;
		way = (fresh < way ? fresh : way) + item->pad_byte;
		at = (at + 1) % LINE;
		way += before(item, at);
		if (k >= LINE && way >= padded[at])
			break;		/* nor do those behind change any more */
		padded[at] = way;
		origin[at] = began;
	}
}

/* The least cost of starting at each offset, when the item before ends at one at cost end[]. */
static void find_starts(const struct linefit_item *item, const double *end, double *start,
			uint8_t *from)
{
	double cost[LINE], padded[LINE];
	uint8_t origin[LINE];

	for (uint32_t i = 0; i < LINE; i++) {
		cost[i] = end[i];
		padded[i] = INFINITY;
	}
	cost[0] += item->before[LINEFIT_AT_LINE];
	cost[HALF] += item->before[LINEFIT_AT_HALF];
	if (!item->joined)
		find_padded(item, cost, padded, origin);
	for (uint32_t i = 0; i < LINE; i++) {
		bool bare = !item->parted && cost[i] <= padded[i];

		start[i] = bare ? cost[i] : padded[i];
		from[i] = bare ? (uint8_t)i : origin[i];
		start[i] += i % ALIGN ? item->unaligned : 0;
		if (i & (item->align - 1))
			start[i] = INFINITY;
	}
}

/* How many bytes further on the end makes a difference to body(): it, the byte in front of it
 * or the tail come to another half of a line. */
static uint32_t until_other(const struct linefit_item *item, uint32_t end)
{
	uint32_t a = HALF - end % HALF, b = HALF - (end - 1) % HALF;
	uint32_t c = HALF - (end - item->tail) % HALF;

	a = a < b ? a : b;
	return a < c ? a : c;
}

/* body() of all starts in one half of the first line, since it depends on the end alone then.
 * [k]: the item ends `k` bytes behind where it would if it began with its half. */
static void find_bodies(const struct linefit_item *item, uint32_t half, double *cost)
{
	uint32_t n = HALF + item->max_front;

	for (uint32_t k = 0; k < n; ) {
		uint32_t end = half + item->size + k, next = k + until_other(item, end);
		double same = body(item, half, end);

		while (k < n && k < next)
			cost[k++] = same;
	}
}

/* The start in [first, last] from which bytes in front lead to `last` at the least cost. */
static uint32_t cheapest_start(const struct linefit_item *item, const double *start,
			       uint32_t first, uint32_t last, uint32_t end)
{
	uint32_t best = first;

	for (uint32_t s = first + 1; s <= last && s < end; s++)
		if (start[s] < start[best] + (s - best) * item->front_byte)
			best = s;
	return best;
}

/* Ends of what starts in one half of the first line. */
static void find_ends_of(const struct linefit_item *item, uint32_t half, const double *start,
			 double *end, struct step *to)
{
	double bodies[HALF + UINT8_MAX];
	uint32_t n = HALF + item->max_front, s = half;

	find_bodies(item, half, bodies);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t last = half + k, at = (last + item->size) % LINE;

		if (last - s > item->max_front)
			s = cheapest_start(item, start, last - item->max_front, last,
					   half + HALF);
		else if (k < HALF && start[last] < start[s] + (last - s) * item->front_byte)
			s = last;
		double cost = start[s] + (last - s) * item->front_byte + bodies[k];

		cost += item->ends ? item->ends[at % LINEFIT_ENDS] : 0;
		if (cost < end[at]) {
			end[at] = cost;
			to[at] = (struct step){ (uint8_t)s, (uint8_t)(last - s) };
		}
	}
}

static void find_ends(const struct linefit_item *item, const double *start, double *end,
		      struct step *to)
{
	for (uint32_t i = 0; i < LINE; i++)
		end[i] = INFINITY;
	find_ends_of(item, 0, start, end, to);
	find_ends_of(item, HALF, start, end, to);
}

double linefit_run(struct linefit_item *item, uint32_t n, uint32_t from)
{
	struct steps *steps = memory_new(n, sizeof(*steps));
	double start[LINE], end[LINE];
	uint32_t best = 0;

	for (uint32_t i = 0; i < LINE; i++)
		end[i] = i == from % LINE ? 0 : INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		find_starts(&item[i], end, start, steps[i].from);
		find_ends(&item[i], start, end, steps[i].to);
	}
	for (uint32_t i = 1; i < LINE; i++)
		if (end[i] < end[best])
			best = i;
	double cost = end[best];

	for (uint32_t i = n; i-- > 0; ) {
		const struct step *s = &steps[i].to[best];

		item[i].start = s->start;
		item[i].front = s->front;
		best = steps[i].from[s->start];
	}
	free(steps);
	return cost;
}
