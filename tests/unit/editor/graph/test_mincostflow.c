/* test_mincostflow.c - known networks, and random small ones against an exhaustive search */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>

#include "editor/graph/mincostflow.h"

enum { NODES = 5, EDGES = 7 };

struct edge {
	uint32_t from, to;
	int64_t capacity, cost;
};

struct best {
	int64_t flow, cost;
};

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Every integral flow on edges e.. is tried; the best has most flow, then least cost. */
static void search(const struct edge *edge, int e, int64_t *balance, int64_t cost,
		   struct best *best)
{
	if (e == EDGES) {
		for (int v = 1; v < NODES - 1; v++) {
			if (balance[v] != 0)
				return;
		}
		int64_t flow = -balance[0];
		if (flow > best->flow || (flow == best->flow && cost < best->cost))
			*best = (struct best){ flow, cost };
		return;
	}
	for (int64_t f = 0; f <= edge[e].capacity; f++) {
		balance[edge[e].from] -= f;
		balance[edge[e].to] += f;
		search(edge, e + 1, balance, cost + f * edge[e].cost, best);
		balance[edge[e].from] += f;
		balance[edge[e].to] -= f;
	}
}

static void random_networks_match_exhaustive_search(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct edge edge[EDGES];
		int64_t balance[NODES] = { 0 }, cost;
		struct best best = { 0, 0 };
		uint64_t s = seed;
		struct mcf *m = mcf_new(NODES, 1);

		for (int e = 0; e < EDGES; e++) {
			edge[e].from = (uint32_t)(splitmix(&s) % NODES);
			edge[e].to = (uint32_t)(splitmix(&s) % NODES);
			edge[e].capacity = (int64_t)(splitmix(&s) % 4);
			edge[e].cost = (int64_t)(splitmix(&s) % 5);
			(void)mcf_add(m, edge[e].from, edge[e].to, edge[e].capacity,
				      edge[e].cost);
		}
		search(edge, 0, balance, 0, &best);
		int64_t flow = mcf_solve(m, 0, NODES - 1, 0, &cost);
		if (flow != best.flow || cost != best.cost)
			print_message("# seed %llu\n", (unsigned long long)seed);
		assert_int_equal(flow, best.flow);
		assert_int_equal(cost, best.cost);
		for (uint32_t e = 0; e < EDGES; e++) {
			balance[edge[e].from] -= mcf_flow(m, e);
			balance[edge[e].to] += mcf_flow(m, e);
			assert_in_range(mcf_flow(m, e), 0, edge[e].capacity);
		}
		for (int v = 1; v < NODES - 1; v++)
			assert_int_equal(balance[v], 0);
		mcf_free(m);
	}
}

static void cheaper_path_is_filled_first(void **state)
{
	int64_t cost;
	struct mcf *m = mcf_new(4, 8);

	(void)state;
	uint32_t cheap = mcf_add(m, 0, 1, 5, 1), dear = mcf_add(m, 0, 2, MCF_INF, 3);
	(void)mcf_add(m, 1, 3, MCF_INF, 1);
	(void)mcf_add(m, 2, 3, 7, 0);
	assert_int_equal(mcf_solve(m, 0, 3, 0, &cost), 12);
	assert_int_equal(cost, 5 * 2 + 7 * 3);
	assert_int_equal(mcf_flow(m, cheap), 5);
	assert_int_equal(mcf_flow(m, dear), 7);
	mcf_free(m);
}

static void earlier_flow_is_taken_back_when_that_pays(void **state)
{
	int64_t cost;
	struct mcf *m = mcf_new(4, 8);

	(void)state;
	(void)mcf_add(m, 0, 1, 1, 1);
	(void)mcf_add(m, 0, 2, 1, 4);
	uint32_t middle = mcf_add(m, 1, 2, 1, 1);
	(void)mcf_add(m, 1, 3, 1, 5);
	(void)mcf_add(m, 2, 3, 1, 1);
	assert_int_equal(mcf_solve(m, 0, 3, 0, &cost), 2);
	assert_int_equal(cost, 1 + 5 + 4 + 1);
	assert_int_equal(mcf_flow(m, middle), 0);
	mcf_free(m);
}

static void cycles_of_cost_zero_end(void **state)
{
	int64_t cost;
	struct mcf *m = mcf_new(4, 8);

	(void)state;
	(void)mcf_add(m, 0, 1, 3, 0);
	(void)mcf_add(m, 1, 2, MCF_INF, 0);
	(void)mcf_add(m, 2, 1, MCF_INF, 0);
	(void)mcf_add(m, 1, 1, MCF_INF, 0);
	(void)mcf_add(m, 2, 3, 2, 0);
	assert_int_equal(mcf_solve(m, 0, 3, 0, &cost), 2);
	assert_int_equal(cost, 0);
	mcf_free(m);
}

static void work_limit_leaves_a_feasible_flow(void **state)
{
	enum { N = 300 };
	struct mcf *m = mcf_new(2 * N + 2, 4 * N);
	uint64_t s = 7;
	uint32_t edge[3 * N];
	int64_t balance[2 * N + 2] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		edge[3 * i] = mcf_add(m, 0, 2 + i, 9, 0);
		edge[3 * i + 1] = mcf_add(m, 2 + i, 2 + N + (uint32_t)(splitmix(&s) % N), 9,
					  (int64_t)(splitmix(&s) % 1000));
		edge[3 * i + 2] = mcf_add(m, 2 + N + i, 1, 9, 0);
	}
	int64_t part = mcf_solve(m, 0, 1, 20000, NULL);
	assert_in_range(part, 1, 9 * N - 1);
	for (uint32_t i = 0; i < N; i++) {
		int64_t f = mcf_flow(m, edge[3 * i]);

		assert_in_range(f, 0, 9);
		assert_int_equal(f, mcf_flow(m, edge[3 * i + 1]));
		balance[1] += mcf_flow(m, edge[3 * i + 2]);
	}
	assert_int_equal(balance[1], part);
	mcf_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cheaper_path_is_filled_first),
		cmocka_unit_test(earlier_flow_is_taken_back_when_that_pays),
		cmocka_unit_test(cycles_of_cost_zero_end),
		cmocka_unit_test(random_networks_match_exhaustive_search),
		cmocka_unit_test(work_limit_leaves_a_feasible_flow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
