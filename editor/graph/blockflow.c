/* blockflow.c - inference of counts as a minimum-cost flow, then two repairs
 *
 * A block's samples divided by its instructions estimate how often it ran, badly: samples are
 * few and instructions take unequal time.  What is exact is that whatever enters a block leaves
 * it.  So the counts nearest to the measured ones are sought that obey it: each block is split
 * into `in -> out`, jumps run from out to in at no cost, and changing a block's count costs by
 * unit.  The network is that of a circulation (exits go to the sink, sink to source, source to
 * entry):
 *
 *    measured w:  super source -> out (w), in -> super sink (w): what must flow;
 *    raised:      in -> out, dearer beyond the double, dearest for blocks never sampled;
 *    lowered:     out -> in, up to w, the last part of it much dearer.
 *
 * Costs grow with the root of the block's length, because a long block's count is better known.
 * Constants were tuned on perl, python, gawk, postgres and sqlite against exact counts.
 *
 * The repairs (after Levin, Nowak, Bonfante, Pupyrev: Profile Inference Revisited, POPL 2022):
 * a loop that got its flow as a closed circle is joined to the entry and to an exit by a path
 * of least flow, so that what must run counts as run; and where nothing tells parallel
 * unsampled paths apart, because even their even share would hardly have been sampled, they
 * share evenly.
 */
#include "editor/graph/blockflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/memory.h"
#include "editor/graph/mincostflow.h"

enum {
	COST_RAISE = 6,			/* up to the double */
	COST_RAISE_MORE = 10,
	COST_RAISE_UNSAMPLED = 20,
	COST_RAISE_ABNORMAL = 1000,	/* on top */
	COST_LOWER = 20,
	COST_LOWER_LAST = 160,		/* the last LAST_PART of what was measured */
	COST_ENTRY_RAISE = 40,
	COST_ENTRY_LOWER = 10,
	COST_ENTER = 1,			/* coming in where no jump shows */
	COST_THROWN = 1000,		/* likewise, by an exception */
	COST_UNIT = 4,			/* coarse, so that few path lengths differ */
	MAX_REGION = 256,		/* unsampled blocks balanced together */
	MAX_WORK = 40000000,		/* steps of the flow search for one function */
};
#define LAST_PART 0.15
#define MIN_LENGTH 0.5
#define MAX_LENGTH 30.0
#define MAX_UNITS 1e9			/* of flow in one function: stays far below MCF_INF */
#define UNITS_PER_COUNT 1000.0
#define CLEAR_SAMPLES 0.5		/* so many missing samples are evidence; 3 was worse */

#define NONE UINT32_MAX

struct work {
	struct blockflow *f;
	double scale;			/* units of flow per count */
	int64_t *units;			/* [nnode] measured */
	uint32_t *out_first, *out_jump;	/* jumps by node left ... */
	uint32_t *in_first, *in_jump;	/* ... and by node entered */
	uint32_t *enter;		/* [nnode] network edge source -> node, NONE if none */
	uint32_t *queue, *via;		/* [nnode] scratch */
};

static void index_jumps(struct work *w)
{
	const struct blockflow *f = w->f;

	w->out_first = memory_new((size_t)f->nnode + 1, sizeof(uint32_t));
	w->in_first = memory_new((size_t)f->nnode + 1, sizeof(uint32_t));
	w->out_jump = memory_new(f->njump, sizeof(uint32_t));
	w->in_jump = memory_new(f->njump, sizeof(uint32_t));
	for (uint32_t j = 0; j < f->njump; j++) {
		w->out_first[f->jump[j].from]++;
		if (f->jump[j].to != BLOCKFLOW_EXIT)
			w->in_first[f->jump[j].to]++;
	}
	for (uint32_t v = 0; v < f->nnode; v++) {
		w->out_first[v + 1] += w->out_first[v];
		w->in_first[v + 1] += w->in_first[v];
	}
	w->out_first[f->nnode] = f->njump;
	for (uint32_t j = f->njump; j-- > 0; ) {
		w->out_jump[--w->out_first[f->jump[j].from]] = j;
		if (f->jump[j].to != BLOCKFLOW_EXIT)
			w->in_jump[--w->in_first[f->jump[j].to]] = j;
	}
}

/* Nodes from which neither a normal exit nor a sampled node can be reached. */
static void find_abnormal(struct work *w)
{
	struct blockflow *f = w->f;
	uint32_t n = 0;

	for (uint32_t v = 0; v < f->nnode; v++) {
		bool live = f->node[v].samples > 0;

		for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++) {
			const struct blockflow_jump *j = &f->jump[w->out_jump[i]];

			live |= j->to == BLOCKFLOW_EXIT && !j->abnormal;
		}
		f->node[v].leads_to_abnormal = !live;
		if (live)
			w->queue[n++] = v;
	}
	for (uint32_t head = 0; head < n; head++) {
		uint32_t v = w->queue[head];

		for (uint32_t i = w->in_first[v]; i < w->in_first[v + 1]; i++) {
			uint32_t from = f->jump[w->in_jump[i]].from;

			if (f->node[from].leads_to_abnormal) {
				f->node[from].leads_to_abnormal = false;
				w->queue[n++] = from;
			}
		}
	}
}

static void measure(struct work *w)
{
	struct blockflow *f = w->f;
	double sum = 0;

	for (uint32_t v = 0; v < f->nnode; v++) {
		struct blockflow_node *n = &f->node[v];

		n->count = n->absent ? 0 : n->samples / (n->insns > 1 ? n->insns : 1);
		sum += n->count;
	}
	w->scale = UNITS_PER_COUNT;
	if (sum * w->scale > MAX_UNITS)
		w->scale = MAX_UNITS / sum;
	for (uint32_t v = 0; v < f->nnode; v++) {
		w->units[v] = (int64_t)llround(f->node[v].count * w->scale);
		if (f->node[v].count > 0 && w->units[v] == 0)
			w->units[v] = 1;
	}
}

static int64_t cost_of(const struct blockflow_node *n, int base)
{
	double len = fmin(fmax(n->insns, MIN_LENGTH), MAX_LENGTH);

	return (int64_t)fmax(1, llround(base * sqrt(len) / COST_UNIT));
}

/* in = 2v, out = 2v + 1 */
static void add_node(const struct work *w, struct mcf *m, uint32_t v, uint32_t from,
		     uint32_t to)
{
	const struct blockflow_node *n = &w->f->node[v];
	int64_t units = w->units[v], last = (int64_t)(LAST_PART * (double)units);
	uint32_t in = 2 * v, out = 2 * v + 1;

	if (units == 0) {
		int base = v == 0 ? COST_ENTRY_RAISE : COST_RAISE_UNSAMPLED;

		if (n->leads_to_abnormal)
			base += COST_RAISE_ABNORMAL;
		(void)mcf_add(m, in, out, MCF_INF, cost_of(n, base));
		return;
	}
	(void)mcf_add(m, from, out, units, 0);
	(void)mcf_add(m, in, to, units, 0);
	if (v == 0) {
		(void)mcf_add(m, in, out, MCF_INF, cost_of(n, COST_ENTRY_RAISE));
		(void)mcf_add(m, out, in, units, cost_of(n, COST_ENTRY_LOWER));
		return;
	}
	(void)mcf_add(m, in, out, units, cost_of(n, COST_RAISE));
	(void)mcf_add(m, in, out, MCF_INF, cost_of(n, COST_RAISE_MORE));
	(void)mcf_add(m, out, in, units - last, cost_of(n, COST_LOWER));
	(void)mcf_add(m, out, in, last, cost_of(n, COST_LOWER_LAST));
}

static void read_flow(struct work *w, const struct mcf *m, uint32_t first_jump, bool complete)
{
	struct blockflow *f = w->f;

	f->entry_count = (double)mcf_flow(m, w->enter[0]) / w->scale;
	for (uint32_t j = 0; j < f->njump; j++)
		f->jump[j].count = (double)mcf_flow(m, first_jump + j) / w->scale;
	for (uint32_t v = 0; v < f->nnode; v++) {
		double in = 0, out = 0;

		if (w->enter[v] != NONE)
			in = (double)mcf_flow(m, w->enter[v]) / w->scale;
		for (uint32_t i = w->in_first[v]; i < w->in_first[v + 1]; i++)
			in += f->jump[w->in_jump[i]].count;
		for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++)
			out += f->jump[w->out_jump[i]].count;
		/* A search that was cut off leaves some of the measured counts unexplained. */
		f->node[v].count = complete ? in : fmax(f->node[v].count, fmax(in, out));
	}
}

static void solve(struct work *w)
{
	const struct blockflow *f = w->f;
	uint32_t source = 2 * f->nnode, sink = source + 1, from = source + 2, to = source + 3;
	struct mcf *m = mcf_new(source + 4, 6 * f->nnode + f->njump);
	int64_t total = 0;

	for (uint32_t j = 0; j < f->njump; j++) {
		const struct blockflow_jump *jump = &f->jump[j];

		(void)mcf_add(m, 2 * jump->from + 1,
			      jump->to == BLOCKFLOW_EXIT ? sink : 2 * jump->to, MCF_INF, 0);
	}
	for (uint32_t v = 0; v < f->nnode; v++) {
		w->enter[v] = NONE;
		if (f->node[v].absent && v != 0)
			continue;
		add_node(w, m, v, from, to);
		total += w->units[v];
		if (v == 0 || f->node[v].entered)
			w->enter[v] = mcf_add(m, source, 2 * v, MCF_INF, v == 0 ? 0 :
					      f->node[v].thrown ? COST_THROWN : COST_ENTER);
	}
	(void)mcf_add(m, sink, source, MCF_INF, 0);
	int64_t sent = mcf_solve(m, from, to, MAX_WORK, NULL);
	read_flow(w, m, 0, sent == total);
	mcf_free(m);
}

/* Breadth first from the queue's n nodes over jumps that have a count (or over all, avoiding
 * nodes that lead to abnormal exits only), forward or backward.  via[] gets the jump a node was
 * reached by; nodes of the queue keep theirs. */
static void spread(struct work *w, uint32_t n, bool forward, bool counted)
{
	const struct blockflow *f = w->f;
	const uint32_t *first = forward ? w->out_first : w->in_first;
	const uint32_t *list = forward ? w->out_jump : w->in_jump;

	for (uint32_t head = 0; head < n; head++) {
		uint32_t v = w->queue[head];

		for (uint32_t i = first[v]; i < first[v + 1]; i++) {
			const struct blockflow_jump *j = &f->jump[list[i]];
			uint32_t next = forward ? j->to : j->from;

			if (next == BLOCKFLOW_EXIT || w->via[next] != NONE)
				continue;
			if (counted ? j->count <= 0 : f->node[next].leads_to_abnormal)
				continue;
			w->via[next] = list[i];
			w->queue[n++] = next;
		}
	}
}

#define ROOT (UINT32_MAX - 1)		/* via[]: reached without a jump to add to */

static bool runs(const struct blockflow_node *n)
{
	return n->count > 0 || n->samples > 0;
}

static bool is_root(const struct work *w, uint32_t v, bool forward)
{
	const struct blockflow *f = w->f;

	if (forward)
		return v == 0 || f->node[v].entered;
	for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++) {
		const struct blockflow_jump *j = &f->jump[w->out_jump[i]];

		if (j->to == BLOCKFLOW_EXIT && (j->count > 0 || !j->abnormal))
			return true;
	}
	return false;
}

/* Joins every node that runs to the entry (forward) or to an exit by a path of least flow. */
static void join_islands(struct work *w, bool forward)
{
	struct blockflow *f = w->f;
	double least = 1 / w->scale;
	uint32_t n = 0;

	/* What flow already joins ... */
	for (uint32_t v = 0; v < f->nnode; v++) {
		w->via[v] = is_root(w, v, forward) ? ROOT : NONE;
		if (w->via[v] == ROOT)
			w->queue[n++] = v;
	}
	spread(w, n, forward, true);
	n = 0;
	for (uint32_t v = 0; v < f->nnode; v++) {
		if (w->via[v] != NONE) {
			w->via[v] = ROOT;
			w->queue[n++] = v;
		}
	}
	/* ... and the shortest ways from there to the rest. */
	spread(w, n, forward, false);
	for (uint32_t v = 0; v < f->nnode; v++) {
		if (!runs(&f->node[v]) || w->via[v] == NONE)
			continue;
		for (uint32_t u = v; ; ) {
			uint32_t via = w->via[u];

			f->node[u].count = fmax(f->node[u].count, least);
			if (via == ROOT)
				break;
			f->jump[via].count = fmax(f->jump[via].count, least);
			w->via[u] = ROOT;
			u = forward ? f->jump[via].from : f->jump[via].to;
		}
	}
	if (forward)
		f->entry_count = fmax(f->entry_count, least);
}

struct region {
	uint32_t node[MAX_REGION];	/* unsampled, in topological order in the end */
	uint32_t n;
	uint32_t src, dst;		/* dst == NONE: not seen yet */
};

static bool unsampled(const struct work *w, uint32_t v)
{
	return w->units[v] == 0 && v != 0 && !w->f->node[v].entered;
}

/* Jumps that play no part in sharing the region's flow. */
static bool ignored(const struct work *w, const struct region *r,
		    const struct blockflow_jump *j)
{
	if (j->to == BLOCKFLOW_EXIT)
		return j->from == r->src || j->abnormal;
	if (w->f->node[j->to].leads_to_abnormal)
		return true;
	return !unsampled(w, j->to) && (j->from == r->src || w->f->node[j->to].count <= 0);
}

/* Collects the unsampled nodes behind src.  False when they leave for more than one place, are
 * entered from elsewhere or are too many.  w->via[v] is r's tag for nodes inside. */
static bool find_region(struct work *w, struct region *r, uint32_t *tag)
{
	const struct blockflow *f = w->f;

	for (uint32_t head = UINT32_MAX; head == UINT32_MAX || head < r->n; head++) {
		uint32_t v = head == UINT32_MAX ? r->src : r->node[head];

		for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++) {
			const struct blockflow_jump *j = &f->jump[w->out_jump[i]];

			if (ignored(w, r, j))
				continue;
			if (j->to == BLOCKFLOW_EXIT || !unsampled(w, j->to)) {
				if (r->dst != NONE && r->dst != j->to + 1)
					return false;
				r->dst = j->to + 1;	/* an exit becomes 0 */
			} else if (tag[j->to] != r->src) {
				if (r->n == MAX_REGION)
					return false;
				tag[j->to] = r->src;
				r->node[r->n++] = j->to;
			}
		}
	}
	return r->n > 1;
}

/* True when the region has no cycle and is entered from src only; node[] is then in topological
 * order.  `degree` is scratch for all nodes. */
static bool sort_region(struct work *w, struct region *r, const uint32_t *tag, uint32_t *degree)
{
	const struct blockflow *f = w->f;
	uint32_t order[MAX_REGION], n = 0;

	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t v = r->node[k];

		degree[v] = 0;
		for (uint32_t i = w->in_first[v]; i < w->in_first[v + 1]; i++) {
			const struct blockflow_jump *j = &f->jump[w->in_jump[i]];

			if (j->from == r->src)
				continue;
			if (!unsampled(w, j->from) || tag[j->from] != r->src) {
				if (j->count > 0)
					return false;
				continue;
			}
			degree[v]++;
		}
		if (degree[v] == 0)
			order[n++] = v;
	}
	for (uint32_t head = 0; head < n; head++) {
		uint32_t v = order[head];

		for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++) {
			uint32_t to = f->jump[w->out_jump[i]].to;

			if (to != BLOCKFLOW_EXIT && unsampled(w, to) && tag[to] == r->src &&
			    --degree[to] == 0)
				order[n++] = to;
		}
	}
	if (n != r->n)
		return false;
	memcpy(r->node, order, n * sizeof(order[0]));
	return true;
}

/* Divides `flow` evenly over the jumps out of v that count; false when there are none. */
static bool share_out(const struct work *w, const struct region *r, uint32_t v, double flow,
		      double *count)
{
	uint32_t n = 0;

	for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++)
		n += !ignored(w, r, &w->f->jump[w->out_jump[i]]);
	for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++) {
		uint32_t j = w->out_jump[i];

		if (!ignored(w, r, &w->f->jump[j]))
			count[j] = flow / n;
	}
	return n > 0;
}

/* `count` is scratch for all jumps.  Nothing changes when some node's even share would have
 * shown in samples: then the uneven flow has its reason. */
static void balance_region(struct work *w, struct region *r, double *count)
{
	struct blockflow *f = w->f;
	double flow = 0;

	for (uint32_t i = w->out_first[r->src]; i < w->out_first[r->src + 1]; i++) {
		const struct blockflow_jump *j = &f->jump[w->out_jump[i]];

		flow += ignored(w, r, j) ? 0 : j->count;
	}
	if (flow <= 0 || !share_out(w, r, r->src, flow, count))
		return;
	for (uint32_t k = 0; k < r->n; k++) {
		uint32_t v = r->node[k];

		flow = 0;
		for (uint32_t i = w->in_first[v]; i < w->in_first[v + 1]; i++)
			flow += count[w->in_jump[i]];
		if (flow * f->node[v].insns >= CLEAR_SAMPLES ||
		    !share_out(w, r, v, flow, count))
			goto out;
	}
	for (uint32_t k = 0; k <= r->n; k++) {
		uint32_t v = k < r->n ? r->node[k] : r->src;

		for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++) {
			struct blockflow_jump *j = &f->jump[w->out_jump[i]];

			if (!ignored(w, r, j))
				j->count = count[w->out_jump[i]];
		}
	}
	for (uint32_t k = 0; k < r->n; k++) {
		f->node[r->node[k]].count = 0;
		for (uint32_t i = w->in_first[r->node[k]]; i < w->in_first[r->node[k] + 1]; i++)
			f->node[r->node[k]].count += count[w->in_jump[i]];
	}
out:
	for (uint32_t k = 0; k <= r->n; k++) {
		uint32_t v = k < r->n ? r->node[k] : r->src;

		for (uint32_t i = w->out_first[v]; i < w->out_first[v + 1]; i++)
			count[w->out_jump[i]] = 0;
	}
}

static void balance_unsampled(struct work *w)
{
	const struct blockflow *f = w->f;
	uint32_t *tag = memory_new(f->nnode, sizeof(*tag));
	uint32_t *degree = memory_new(f->nnode, sizeof(*degree));
	double *count = memory_new(f->njump, sizeof(*count));
	struct region *r = memory_new(1, sizeof(*r));

	for (uint32_t v = 0; v < f->nnode; v++)
		tag[v] = NONE;
	for (uint32_t v = 0; v < f->nnode; v++) {
		if (w->units[v] == 0 || f->node[v].count <= 0)
			continue;
		r->n = 0;
		r->src = v;
		r->dst = NONE;
		if (find_region(w, r, tag) && sort_region(w, r, tag, degree))
			balance_region(w, r, count);
	}
	free(tag);
	free(degree);
	free(count);
	free(r);
}

static void find_counts(struct work *w)
{
	const struct blockflow *f = w->f;

	w->units = memory_new(f->nnode, sizeof(*w->units));
	w->enter = memory_new(f->nnode, sizeof(*w->enter));
	w->via = memory_new(f->nnode, sizeof(*w->via));
	measure(w);
	solve(w);
	balance_unsampled(w);
	join_islands(w, true);
	join_islands(w, false);
	free(w->units);
	free(w->enter);
	free(w->via);
}

void blockflow_infer(struct blockflow *f)
{
	struct work w = { .f = f };
	bool sampled = false;

	f->entry_count = 0;
	for (uint32_t v = 0; v < f->nnode; v++) {
		sampled |= f->node[v].samples > 0;
		f->node[v].count = 0;
	}
	for (uint32_t j = 0; j < f->njump; j++)
		f->jump[j].count = 0;
	w.queue = memory_new(f->nnode, sizeof(*w.queue));
	index_jumps(&w);
	find_abnormal(&w);
	if (sampled)
		find_counts(&w);
	free(w.queue);
	free(w.out_first);
	free(w.out_jump);
	free(w.in_first);
	free(w.in_jump);
}
