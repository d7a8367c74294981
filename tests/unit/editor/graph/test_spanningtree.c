/* test_spanningtree.c - counting few edges tells all: checked against counting every one
 *
 * Random graphs are walked by chance and every edge is counted; then only the chosen ones are
 * kept.  Small graphs are also compared with all choices there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "editor/graph/spanningtree.h"

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Node 0 is the outside.  Every node has a way out; walks begin and end at node 0. */
static struct spanningtree random_graph(uint32_t n, uint32_t extra, uint64_t *seed)
{
	struct spanningtree t = { .nnode = n, .edge = calloc(n + extra, sizeof(*t.edge)) };

	for (uint32_t v = 0; v < n; v++)
		t.edge[t.nedge++] = (struct spanningtree_edge){ .from = v, .to = (v + 1) % n };
	for (uint32_t i = 0; i < extra; i++)
		t.edge[t.nedge++] =
			(struct spanningtree_edge){ .from = (uint32_t)(splitmix(seed) % n),
						    .to = (uint32_t)(splitmix(seed) % n) };
	for (uint32_t i = 0; i < t.nedge; i++)
		t.edge[i].cost = (double)(splitmix(seed) % 100);
	return t;
}

static void walk(struct spanningtree *t, uint32_t steps, uint64_t *seed)
{
	uint32_t v = 0;

	while (steps > 0 || v != 0) {
		uint32_t k = 0, pick = 0;

		for (uint32_t i = 0; i < t->nedge; i++)
			if (t->edge[i].from == v && (steps > 0 || i < t->nnode) &&
			    splitmix(seed) % ++k == 0)
				pick = i;
		t->edge[pick].count++;
		v = t->edge[pick].to;
		steps -= steps > 0;
	}
}

/* Forgets what is not counted, solves, and compares. */
static void assert_all_told(struct spanningtree *t)
{
	int64_t *all = calloc(t->nedge, sizeof(*all));

	for (uint32_t i = 0; i < t->nedge; i++) {
		all[i] = t->edge[i].count;
		if (!t->edge[i].counted)
			t->edge[i].count = -12345;
	}
	spanningtree_solve(t);
	for (uint32_t i = 0; i < t->nedge; i++)
		assert_true(t->edge[i].count == all[i]);
	free(all);
}

static void few_counters_tell_what_all_would(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t n = 1 + (uint32_t)(splitmix(&seed) % 40);
		struct spanningtree t =
			random_graph(n, (uint32_t)(splitmix(&seed) % 60), &seed);
		uint32_t counted = 0;

		walk(&t, 500, &seed);
		assert_int_equal(spanningtree_choose(&t), t.nedge - (n - 1));
		for (uint32_t i = 0; i < t.nedge; i++) {
			counted += t.edge[i].counted;
			assert_false(t.edge[i].untold);
		}
		assert_int_equal(counted, t.nedge - (n - 1));
		assert_all_told(&t);
		free(t.edge);
	}
}

/* The flow of any set of counters is unique if no two different flows agree on it: that is,
 * if the edges left out hold no circle. */
static bool tells_all(const struct spanningtree *t, uint32_t set)
{
	uint32_t part[8];

	for (uint32_t v = 0; v < t->nnode; v++)
		part[v] = v;
	for (uint32_t i = 0; i < t->nedge; i++) {
		uint32_t from = part[t->edge[i].from], to = part[t->edge[i].to];

		if (set >> i & 1)
			continue;
		if (from == to)
			return false;
		for (uint32_t v = 0; v < t->nnode; v++)
			if (part[v] == from)
				part[v] = to;
	}
	return true;
}

static void no_other_choice_costs_less(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint32_t n = 1 + (uint32_t)(splitmix(&seed) % 6);
		struct spanningtree t = random_graph(n, (uint32_t)(splitmix(&seed) % 5), &seed);
		double got = 0, best = 1e9;

		(void)spanningtree_choose(&t);
		for (uint32_t i = 0; i < t.nedge; i++)
			got += t.edge[i].counted ? t.edge[i].cost : 0;
		for (uint32_t set = 0; set < 1u << t.nedge; set++) {
			double cost = 0;

			for (uint32_t i = 0; i < t.nedge; i++)
				cost += set >> i & 1 ? t.edge[i].cost : 0;
			if (cost < best && tells_all(&t, set))
				best = cost;
		}
		assert_true(got == best);
		free(t.edge);
	}
}

static void blind_edges_follow_from_others(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct spanningtree t = random_graph(20, 30, &seed);

		/* a star cannot hold a circle */
		for (uint32_t i = 0, used = 0; i < t.nedge; i++) {
			uint32_t end = t.edge[i].from == 0 ? t.edge[i].to : t.edge[i].from;

			t.edge[i].blind = (t.edge[i].from == 0) != (t.edge[i].to == 0) &&
					  !(used >> end & 1);
			used |= t.edge[i].blind ? 1u << end : 0;
		}
		walk(&t, 300, &seed);
		(void)spanningtree_choose(&t);
		for (uint32_t i = 0; i < t.nedge; i++)
			assert_false(t.edge[i].blind &&
				     (t.edge[i].counted || t.edge[i].untold));
		assert_all_told(&t);
		free(t.edge);
	}
}

static void a_circle_of_blind_edges_is_told_as_such(void **state)
{
	struct spanningtree_edge edge[] = { { .from = 0, .to = 1, .blind = true },
					    { .from = 1, .to = 0, .blind = true },
					    { .from = 0, .to = 1, .cost = 1 } };
	struct spanningtree t = { 2, 3, edge };

	(void)state;
	assert_int_equal(spanningtree_choose(&t), 1);
	assert_true(!edge[0].untold && edge[1].untold && edge[2].counted);
	edge[2].count = 7;
	spanningtree_solve(&t);
	assert_true(edge[1].count == 0 && edge[0].count == -7);
}

/* Calls that return twice, or not at all, are flow from or to the outside. */
static void negative_flow_is_flow_as_well(void **state)
{
	struct spanningtree_edge edge[] = { { .from = 0, .to = 1, .cost = 1 },
					    { .from = 1, .to = 2, .cost = 9 },
					    { .from = 1, .to = 0, .blind = true },
					    { .from = 2, .to = 0, .cost = 5 } };
	struct spanningtree t = { 3, 4, edge };

	(void)state;
	assert_int_equal(spanningtree_choose(&t), 2);
	assert_true(edge[0].counted && edge[3].counted);
	edge[0].count = 3;
	edge[3].count = 5;
	spanningtree_solve(&t);
	assert_true(edge[1].count == 5 && edge[2].count == -2);
}

static void deep_graphs_take_no_time(void **state)
{
	uint64_t seed = 5;
	struct spanningtree t = random_graph(200000, 300000, &seed);

	(void)state;
	for (uint32_t i = 0; i < t.nnode; i++)
		t.edge[i].count = 3;
	(void)spanningtree_choose(&t);
	assert_all_told(&t);
	free(t.edge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_counters_tell_what_all_would),
		cmocka_unit_test(no_other_choice_costs_less),
		cmocka_unit_test(blind_edges_follow_from_others),
		cmocka_unit_test(a_circle_of_blind_edges_is_told_as_such),
		cmocka_unit_test(negative_flow_is_flow_as_well),
		cmocka_unit_test(deep_graphs_take_no_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
