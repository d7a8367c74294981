/* test_flowcut.c - what is cut off hardly changes what is found of the rest, and is what was
 * guessed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "editor/graph/flowcut.h"

enum { MAX_NODES = 8, MAX_EDGES = 16 };
static const double LEAST = 1;

struct graph {
	struct likelihood f;
	struct likelihood_node node[MAX_NODES];
	struct likelihood_edge edge[MAX_EDGES];
	struct likelihood_entry entry[2];
	struct likelihood_call call[2];
	struct likelihood_part part[2];
};

static void add_node(struct graph *g, double samples)
{
	g->node[g->f.nnode++] = (struct likelihood_node){ samples, 5, 4, 0 };
}

static void add_edge(struct graph *g, uint32_t from, uint32_t to, double probability,
		     double guess)
{
	g->edge[g->f.nedge++] =
		(struct likelihood_edge){ from, to, 0, probability, guess, false, 0 };
}

/* A loop, 1, one of whose ways leads over 2 and 3 or 4, which hardly run, to 5, where it
 * ends. */
static void make_loop(struct graph *g)
{
	*g = (struct graph){ .f = { .nentry = 1, .npart = 1, .node = g->node, .edge = g->edge,
		.entry = g->entry, .call = g->call, .part = g->part } };
	add_node(g, 5);
	add_node(g, 10);
	add_node(g, 0);
	add_node(g, 0);
	add_node(g, 0);
	add_node(g, 5);
	g->node[2].cost = g->node[3].cost = g->node[4].cost = 0.5;
	add_edge(g, 0, 1, 1, 1);
	add_edge(g, 1, 1, 0.6, 0.4);
	add_edge(g, 1, 2, 0.05, 0.3);
	add_edge(g, 1, 5, 0.35, 0.3);
	add_edge(g, 2, 3, 0.99, 0.3);
	add_edge(g, 2, 4, 0.01, 0.7);
	add_edge(g, 3, 5, 1, 1);
	add_edge(g, 4, 2, 0.01, 0.5);
	add_edge(g, 4, 5, 0.99, 0.5);
	add_edge(g, 5, LIKELIHOOD_EXIT, 1, 1);
	g->entry[0] = (struct likelihood_entry){ 0, 1, true };
}

static void assert_near(double a, double b, double part)
{
	if (!(fabs(a - b) <= part * fmax(a, b)))
		fail_msg("%g and %g", a, b);
}

static void nothing_expected_is_too_little_if_nothing_is_to_be_cut(void **state)
{
	struct graph whole, same;

	(void)state;
	make_loop(&whole);
	likelihood_fit(&whole.f);
	make_loop(&same);
	flowcut_fit(&same.f, 0);
	for (uint32_t v = 0; v < whole.f.nnode; v++)
		assert_near(whole.node[v].count, same.node[v].count, 0.01);
	for (uint32_t i = 0; i < whole.f.nedge; i++)
		assert_near(whole.edge[i].probability, same.edge[i].probability, 0.02);
}

static void what_is_cut_off_costs_those_who_go_there(void **state)
{
	struct graph whole, cut, dear;

	(void)state;
	make_loop(&whole);
	likelihood_fit(&whole.f);
	make_loop(&cut);
	flowcut_fit(&cut.f, LEAST);
	assert_near(whole.node[1].count, cut.node[1].count, 0.15);
	assert_near(whole.node[5].count, cut.node[5].count, 0.1);
	assert_near(whole.edge[2].probability, cut.edge[2].probability, 0.45);
	make_loop(&dear);
	dear.node[3].cost = dear.node[4].cost = 50;
	flowcut_fit(&dear.f, LEAST);
	assert_true(dear.edge[2].probability < cut.edge[2].probability / 5);
}

static void what_is_cut_off_is_as_guessed_and_flows(void **state)
{
	struct graph g;

	(void)state;
	make_loop(&g);
	flowcut_fit(&g.f, LEAST);
	/* What is likeliest where rare ones are believed a bit less: likelihood.h. */
	assert_near(g.edge[4].probability, 0.3 + LIKELIHOOD_RARE * (2 * 0.3 - 1), 1e-6);
	assert_near(g.edge[5].probability, 0.7 + LIKELIHOOD_RARE * (2 * 0.7 - 1), 1e-6);
	double in[MAX_NODES] = { g.entry[0].rate };
	for (uint32_t i = 0; i < g.f.nedge; i++)
		if (g.edge[i].to != LIKELIHOOD_EXIT)
			in[g.edge[i].to] +=
				g.edge[i].probability * g.node[g.edge[i].from].count;
	for (uint32_t v = 0; v < g.f.nnode; v++) {
		assert_true(g.node[v].count > 0);
		assert_near(g.node[v].count, in[v], 1e-4);
	}
}

/* 2, far off the way, calls a function that has samples, and nothing else calls it. */
static void a_call_is_reached_however_little_was_expected_of_the_way(void **state)
{
	(void)state;
	struct graph g = { .f = { .nentry = 2, .ncall = 1, .npart = 2, .node = g.node,
		.edge = g.edge, .entry = g.entry, .call = g.call, .part = g.part } };

	add_node(&g, 1000);
	add_node(&g, 0);
	add_node(&g, 0);
	add_node(&g, 0);
	add_node(&g, 100);
	g.node[1].cost = g.node[2].cost = 0;
	add_edge(&g, 0, 3, 0.9999, 0.9999);
	add_edge(&g, 0, 1, 0.0001, 0.0001);
	add_edge(&g, 1, 3, 0.9999, 0.9999);
	add_edge(&g, 1, 2, 0.0001, 0.0001);
	add_edge(&g, 2, 3, 1, 1);
	add_edge(&g, 3, LIKELIHOOD_EXIT, 1, 1);
	add_edge(&g, 4, LIKELIHOOD_EXIT, 1, 1);
	g.node[3].samples = 1000;
	g.entry[0] = (struct likelihood_entry){ 0, 1, true };
	g.entry[1] = (struct likelihood_entry){ 4, 1, true };
	g.call[0] = (struct likelihood_call){ 2, 1, 1, 0 };
	g.part[1] = (struct likelihood_part){ 4, 6, false };
	flowcut_fit(&g.f, LEAST);
	assert_true(g.node[2].count > 2 && g.node[2].count < 40);
}

/* 0 goes to 3 over 1 or 2; what goes over 2, which is cut off, is not lost. */
static void what_goes_through_comes_back(void **state)
{
	(void)state;
	struct graph g = { .f = { .nentry = 1, .npart = 1, .node = g.node, .edge = g.edge,
		.entry = g.entry, .call = g.call, .part = g.part } };

	for (int i = 0; i < 4; i++)
		add_node(&g, i % 3 == 0 ? 1000 : 0);
	for (int i = 0; i < 4; i++) {
		g.node[i].cost = i % 3 == 0 ? 5 : 1e-4;
		g.node[i].trust = 100;
	}
	add_edge(&g, 0, 1, 0.6, 0.5);
	add_edge(&g, 0, 2, 0.4, 0.5);
	add_edge(&g, 1, 3, 1, 1);
	add_edge(&g, 2, 3, 1, 1);
	add_edge(&g, 3, LIKELIHOOD_EXIT, 1, 1);
	g.entry[0] = (struct likelihood_entry){ 0, 1, true };
	flowcut_fit(&g.f, LEAST);
	assert_true(g.edge[1].probability > 0.3 && g.edge[1].probability < 0.7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_expected_is_too_little_if_nothing_is_to_be_cut),
		cmocka_unit_test(what_is_cut_off_costs_those_who_go_there),
		cmocka_unit_test(what_is_cut_off_is_as_guessed_and_flows),
		cmocka_unit_test(a_call_is_reached_however_little_was_expected_of_the_way),
		cmocka_unit_test(what_goes_through_comes_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
