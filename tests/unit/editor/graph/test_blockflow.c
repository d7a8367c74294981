/* test_blockflow.c - inferred flow of every small flow graph against every flow of small whole
 * numbers
 *
 * What a flow costs is reckoned here again, from the definition in blockflow.c's head: nothing
 * of the network that it solves is used.  No flow of whole numbers may cost less than the
 * inferred one, which must be a flow itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "editor/graph/blockflow.h"
#include "tests/unit/flowgraphs.h"

enum { MOST = 2, MAX_JUMPS = 2 * FLOWGRAPH_MAX };
static const double insns = 4;
/* What the repairs behind the search may cost: joined islands get a thousandth of an
 * execution. */
static const double tolerance = 0.5, rounding = 0.02;

struct flow {				/* of one graph with its samples */
	struct blockflow f;
	struct blockflow_node node[FLOWGRAPH_MAX];
	struct blockflow_jump jump[MAX_JUMPS];
	double measured[FLOWGRAPH_MAX];
};

struct tried {
	uint32_t cases, flows;
};

/* From what is sampled, or leaves, something can be gained by going there. */
static bool leads_to_abnormal(const struct flow *w, uint32_t v)
{
	uint32_t reached = 1u << v, before = 0;

	while (reached != before) {
		before = reached;
		for (uint32_t j = 0; j < w->f.njump; j++)
			if (reached >> w->jump[j].from & 1 && w->jump[j].to != BLOCKFLOW_EXIT)
				reached |= 1u << w->jump[j].to;
	}
	for (uint32_t j = 0; j < w->f.njump; j++)
		if (reached >> w->jump[j].from & 1 && w->jump[j].to == BLOCKFLOW_EXIT)
			return false;
	for (uint32_t u = 0; u < w->f.nnode; u++)
		if (reached >> u & 1 && w->measured[u] > 0)
			return false;
	return true;
}

/* Quarters, times the root of the length, as a whole number. */
static double unit_cost(double base)
{
	return round(base * sqrt(insns) / 4);
}

/* Of a block that ran `count` times. */
static double cost_of(const struct flow *w, uint32_t v, double count)
{
	double m = w->measured[v], more = fmax(count - m, 0), less = fmax(m - count, 0);

	if (m <= 0)
		return count *
		       unit_cost((v == 0 ? 40 : 20) + (leads_to_abnormal(w, v) ? 1000 : 0));
	if (v == 0)
		return more * unit_cost(40) + less * unit_cost(10);
	double last = floor(0.15 * m * 1000) / 1000;
	return fmin(more, m) * unit_cost(6) + fmax(more - m, 0) * unit_cost(10) +
	       fmin(less, m - last) * unit_cost(20) +
	       fmax(less - (m - last), 0) * unit_cost(160);
}

static void make(const struct flowgraph *g, uint32_t code, struct flow *w)
{
	*w = (struct flow){ .f = { .nnode = g->n } };
	for (uint32_t v = 0; v < g->n; v++, code /= MOST + 1) {
		w->measured[v] = code % (MOST + 1);
		w->node[v] = (struct blockflow_node){ .samples = w->measured[v] * insns,
						      .insns = insns };
		for (int k = 0; k < 2; k++)
			if (g->way[v][k] != FLOWGRAPH_NONE)
				w->jump[w->f.njump++] =
					(struct blockflow_jump){ v, g->way[v][k], false, 0 };
		if (g->way[v][0] == FLOWGRAPH_NONE)
			w->jump[w->f.njump++] =
				(struct blockflow_jump){ v, BLOCKFLOW_EXIT, false, 0 };
	}
	w->f.node = w->node;
	w->f.jump = w->jump;
}

/* Jumps j.. get each number of executions from 0 to MOST; in[] and out[] are their sums by
 * node. */
static void try_flows(const struct flow *w, uint32_t j, double *in, double *out, double *least,
		      struct tried *tried)
{
	double cost = 0;

	if (j == w->f.njump) {
		for (uint32_t v = 0; v < w->f.nnode; v++) {
			if (v > 0 && in[v] != out[v])
				return;
			if (v == 0 && in[v] > out[v])	/* it is entered from outside as well */
				return;
			cost += cost_of(w, v, out[v]);
		}
		*least = fmin(*least, cost);
		tried->flows++;
		return;
	}
	const struct blockflow_jump *jump = &w->jump[j];
	for (int n = 0; n <= MOST; n++) {
		out[jump->from] += n;
		if (jump->to != BLOCKFLOW_EXIT)
			in[jump->to] += n;
		try_flows(w, j + 1, in, out, least, tried);
		out[jump->from] -= n;
		if (jump->to != BLOCKFLOW_EXIT)
			in[jump->to] -= n;
	}
}

static void assert_is_flow(const struct flow *w)
{
	double in[FLOWGRAPH_MAX] = { w->f.entry_count }, out[FLOWGRAPH_MAX] = { 0 };

	for (uint32_t j = 0; j < w->f.njump; j++) {
		assert_true(w->jump[j].count >= 0);
		out[w->jump[j].from] += w->jump[j].count;
		if (w->jump[j].to != BLOCKFLOW_EXIT)
			in[w->jump[j].to] += w->jump[j].count;
	}
	for (uint32_t v = 0; v < w->f.nnode; v++) {
		assert_true(fabs(in[v] - w->node[v].count) < rounding);
		assert_true(fabs(out[v] - w->node[v].count) < rounding);
	}
}

/* With every choice of 0 to MOST measured executions for each block. */
static void try_graph(const struct flowgraph *g, void *ctx)
{
	struct tried *tried = ctx;
	uint32_t codes = 1;

	for (uint32_t v = 0; v < g->n; v++)
		codes *= MOST + 1;
	for (uint32_t code = 1; code < codes; code++) {
		double in[FLOWGRAPH_MAX] = { 0 }, out[FLOWGRAPH_MAX] = { 0 }, least = INFINITY,
		       cost = 0;
		struct flow w;

		make(g, code, &w);
		try_flows(&w, 0, in, out, &least, tried);
		blockflow_infer(&w.f);
		assert_is_flow(&w);
		for (uint32_t v = 0; v < g->n; v++)
			cost += cost_of(&w, v, w.node[v].count);
		if (cost > least + tolerance) {
			print_message("# %u blocks, samples %u: %.3f, and %.3f can be had\n",
				      g->n, code, cost, least);
			fail();
		}
		tried->cases++;
	}
}

static void no_flow_of_whole_numbers_costs_less(void **state)
{
	static const uint32_t graphs[] = { 0, 2, 8, 70, 802 };
	struct tried tried = { 0 };

	(void)state;
	for (uint32_t n = 1; n <= 4; n++)
		assert_int_equal(flowgraphs_each(n, try_graph, &tried), graphs[n]);
	print_message("# %u cases, %u flows\n", tried.cases, tried.flows);
	assert_int_equal(tried.cases, 2 * 2 + 8 * 8 + 70 * 26 + 802 * 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_flow_of_whole_numbers_costs_less),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
