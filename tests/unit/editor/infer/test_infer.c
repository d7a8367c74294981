/* test_infer.c - inference on random flow graphs that were really walked through
 *
 * A random graph of blocks is walked by chance from entry to exit many times; the exact counts
 * of blocks and edges are then known.  Samples are drawn from them as a clock would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/blockflow.h"

struct graph {
	struct blockflow f;
	double *exact_node, *exact_jump;
	double *taken;			/* [nnode] probability of a node's second jump */
	double entries;
};

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static double draw(uint64_t *state)
{
	return (double)(splitmix(state) >> 11) / 9007199254740992.0;
}

/* Node v goes on to v + 1 or, if it branches, to a node not far away; the last one leaves. */
static struct graph make_graph(uint32_t n, uint64_t seed)
{
	struct graph g = { 0 };
	uint64_t s = seed;

	g.f.nnode = n;
	g.f.node = calloc(n, sizeof(*g.f.node));
	g.f.jump = calloc(2 * n, sizeof(*g.f.jump));
	g.taken = calloc(n, sizeof(*g.taken));
	g.exact_node = calloc(n, sizeof(*g.exact_node));
	g.exact_jump = calloc(2 * n, sizeof(*g.exact_jump));
	for (uint32_t v = 0; v < n; v++) {
		g.f.node[v].insns = 1 + (double)(splitmix(&s) % 9);
		if (v + 1 == n) {
			g.f.jump[g.f.njump++] =
				(struct blockflow_jump){ v, BLOCKFLOW_EXIT, false, 0 };
			continue;
		}
		g.f.jump[g.f.njump++] = (struct blockflow_jump){ v, v + 1, false, 0 };
		if (splitmix(&s) % 3 == 0)
			continue;
		uint32_t span = 1 + (uint32_t)(splitmix(&s) % 8);
		bool back = splitmix(&s) % 5 == 0 && v > span;
		uint32_t to = back ? v - span : v + 1 + span < n ? v + 1 + span : n - 1;
		double p = draw(&s);
		g.taken[v] = back ? 0.3 + 0.5 * p : p < 0.4 ? 0.02 : p > 0.6 ? 0.98 : p;
		g.f.jump[g.f.njump++] = (struct blockflow_jump){ v, to, false, 0 };
	}
	return g;
}

static void walk(struct graph *g, uint32_t entries, uint64_t seed)
{
	uint32_t *first = calloc(g->f.nnode + 1, sizeof(*first));
	uint64_t s = seed;

	for (uint32_t j = 0; j < g->f.njump; j++)
		first[g->f.jump[j].from + 1] = j + 1;
	for (uint32_t i = 0; i < entries; i++) {
		uint32_t v = 0;

		for (uint32_t steps = 0; v != BLOCKFLOW_EXIT; steps++) {
			bool second = first[v + 1] - first[v] == 2 && draw(&s) < g->taken[v];
			uint32_t j = first[v] + (second && steps < 100000);

			g->exact_node[v]++;
			g->exact_jump[j]++;
			v = g->f.jump[j].to;
		}
	}
	g->entries = entries;
	free(first);
}

static void sample(struct graph *g, uint32_t n, uint64_t seed)
{
	double *sum = calloc(g->f.nnode + 1, sizeof(*sum));
	uint64_t s = seed;

	for (uint32_t v = 0; v < g->f.nnode; v++) {
		sum[v + 1] = sum[v] + g->exact_node[v] * g->f.node[v].insns;
		g->f.node[v].samples = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		double at = draw(&s) * sum[g->f.nnode];
		uint32_t v = 0;

		while (v + 1 < g->f.nnode && sum[v + 1] <= at)
			v++;
		g->f.node[v].samples++;
	}
	free(sum);
}

static void graph_free(struct graph *g)
{
	free(g->f.node);
	free(g->f.jump);
	free(g->exact_node);
	free(g->exact_jump);
	free(g->taken);
}

/* What comes into each node goes out of it. */
static void assert_conserved(const struct graph *g)
{
	double *in = calloc(g->f.nnode, sizeof(*in)), *out = calloc(g->f.nnode, sizeof(*out));

	in[0] = g->f.entry_count;
	for (uint32_t j = 0; j < g->f.njump; j++) {
		assert_true(g->f.jump[j].count >= 0);
		out[g->f.jump[j].from] += g->f.jump[j].count;
		if (g->f.jump[j].to != BLOCKFLOW_EXIT)
			in[g->f.jump[j].to] += g->f.jump[j].count;
	}
	for (uint32_t v = 0; v < g->f.nnode; v++) {
		/* paths of least flow, joined afterwards, are the allowance */
		assert_true(fabs(in[v] - out[v]) <= 0.02);
		assert_true(fabs(in[v] - g->f.node[v].count) <= 0.02);
	}
	free(in);
	free(out);
}

static void exact_block_counts_come_back_with_nearly_exact_edges(void **state)
{
	double wrong_mean = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct graph g = make_graph(5 + (uint32_t)seed, seed);
		double wrong = 0, all = 0;

		walk(&g, 2000, seed);
		for (uint32_t v = 0; v < g.f.nnode; v++)
			g.f.node[v].samples = g.exact_node[v] * g.f.node[v].insns;
		blockflow_infer(&g.f);
		assert_conserved(&g);
		for (uint32_t v = 0; v < g.f.nnode; v++)
			assert_true(fabs(g.f.node[v].count - g.exact_node[v]) <= 0.01);
		for (uint32_t j = 0; j < g.f.njump; j++) {
			wrong += fabs(g.f.jump[j].count - g.exact_jump[j]);
			all += g.exact_jump[j];
		}
		/* Block counts leave an edge undecided now and then. */
		wrong_mean += wrong / all / 60;
		assert_true(fabs(g.f.entry_count - 2000) < 1);
		graph_free(&g);
	}
	print_message("# edge executions told wrong: %.3f\n", wrong_mean);
	assert_true(wrong_mean <= 0.03);
}

/* Share of branch executions whose likelier side is told right. */
static double direction(const struct graph *g, bool by_flow)
{
	double right = 0, all = 0;

	for (uint32_t j = 0; j + 1 < g->f.njump; j++) {
		const struct blockflow_jump *x = &g->f.jump[j], *y = x + 1;

		if (x->from != y->from)
			continue;
		double a =
			by_flow ? x->count : g->f.node[x->to].samples / g->f.node[x->to].insns;
		double b =
			by_flow ? y->count : g->f.node[y->to].samples / g->f.node[y->to].insns;
		right += a >= b ? g->exact_jump[j] : g->exact_jump[j + 1];
		all += g->exact_jump[j] + g->exact_jump[j + 1];
	}
	return right / all;
}

static double best_direction(const struct graph *g)
{
	double right = 0, all = 0;

	for (uint32_t j = 0; j + 1 < g->f.njump; j++) {
		if (g->f.jump[j].from == g->f.jump[j + 1].from) {
			right += fmax(g->exact_jump[j], g->exact_jump[j + 1]);
			all += g->exact_jump[j] + g->exact_jump[j + 1];
		}
	}
	return right / all;
}

static void flow_tells_branches_better_than_plain_counts(void **state)
{
	double plain = 0, flow = 0, best = 0;
	int n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct graph g = make_graph(30 + (uint32_t)seed, seed);

		walk(&g, 2000, seed);
		sample(&g, 400, seed);
		blockflow_infer(&g.f);
		assert_conserved(&g);
		plain += direction(&g, false);
		flow += direction(&g, true);
		best += best_direction(&g);
		n++;
		graph_free(&g);
	}
	print_message("# branch executions told right: plain %.3f, flow %.3f, exact %.3f\n",
		      plain / n, flow / n, best / n);
	assert_true(flow / n > plain / n + 0.03);
	assert_true(flow / n > 0.95 * best / n);
}

/* Every node with samples, and some way from the entry to it, has a positive count. */
static void sampled_nodes_can_be_reached_through_positive_counts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct graph g = make_graph(20 + (uint32_t)seed % 60, seed);
		uint8_t *seen = calloc(g.f.nnode, 1);

		walk(&g, 500, seed);
		sample(&g, 1 + (uint32_t)seed % 40, seed);
		blockflow_infer(&g.f);
		seen[0] = 1;
		for (bool more = true; more; ) {
			more = false;
			for (uint32_t j = 0; j < g.f.njump; j++) {
				const struct blockflow_jump *x = &g.f.jump[j];

				if (x->count > 0 && x->to != BLOCKFLOW_EXIT && seen[x->from] &&
				    !seen[x->to])
					seen[x->to] = more = true;
			}
		}
		for (uint32_t v = 0; v < g.f.nnode; v++) {
			if (g.f.node[v].samples > 0)
				assert_true(seen[v] && g.f.node[v].count > 0);
		}
		free(seen);
		graph_free(&g);
	}
}

static void large_functions_are_solved_within_the_work_bound(void **state)
{
	struct graph g = make_graph(1500, 5), huge = make_graph(20000, 5);
	double some = 0;

	(void)state;
	walk(&g, 1000, 5);
	sample(&g, 20000, 5);
	blockflow_infer(&g.f);
	assert_conserved(&g);
	graph_free(&g);
	/* Beyond the bound nothing is conserved, but what was sampled counts. */
	for (uint32_t v = 0; v < huge.f.nnode; v++)
		huge.f.node[v].samples = (double)(v % 7);
	blockflow_infer(&huge.f);
	for (uint32_t v = 0; v < huge.f.nnode; v++)
		assert_true(huge.f.node[v].samples <= 0 || huge.f.node[v].count > 0);
	for (uint32_t j = 0; j < huge.f.njump; j++)
		some += huge.f.jump[j].count > 0;
	assert_true(some > huge.f.njump / 10);
	graph_free(&huge);
}

static void huge_counts_do_not_overflow(void **state)
{
	struct graph g = make_graph(40, 9);

	(void)state;
	walk(&g, 1000, 9);
	for (uint32_t v = 0; v < g.f.nnode; v++)
		g.f.node[v].samples = g.exact_node[v] * g.f.node[v].insns * 1e11;
	blockflow_infer(&g.f);
	for (uint32_t v = 0; v < g.f.nnode; v++)
		assert_true(fabs(g.f.node[v].count / 1e11 - g.exact_node[v]) <=
			    1e-3 * g.exact_node[v] + 1e-3);
	graph_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_block_counts_come_back_with_nearly_exact_edges),
		cmocka_unit_test(flow_tells_branches_better_than_plain_counts),
		cmocka_unit_test(sampled_nodes_can_be_reached_through_positive_counts),
		cmocka_unit_test(large_functions_are_solved_within_the_work_bound),
		cmocka_unit_test(huge_counts_do_not_overflow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
