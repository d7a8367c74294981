/* test_cycles.c - cycles of graphs against what can be reached from what */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "editor/graph/cycles.h"

enum { NODES = 9, EDGES = 16, LONG = 100000 };

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* reach[v]: bits of the nodes that v leads to; itself always. */
static void find_reach(uint32_t n, const uint32_t *first, const struct cycles_edge *edge,
		       uint32_t *reach)
{
	for (uint32_t v = 0; v < n; v++)
		reach[v] = 1u << v;
	for (uint32_t round = 0; round < n; round++) {
		for (uint32_t v = 0; v < n; v++) {
			for (uint32_t e = first[v]; e; e = edge[e - 1].next)
				reach[v] |= reach[edge[e - 1].to];
		}
	}
}

static void cycles_are_what_leads_to_each_other(void **state)
{
	uint32_t together = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		struct cycles_edge edge[EDGES];
		uint32_t first[NODES] = { 0 }, cycle[NODES], reach[NODES];
		uint64_t s = seed;
		uint32_t n = 1 + (uint32_t)(splitmix(&s) % NODES);
		uint32_t nedge = (uint32_t)(splitmix(&s) % EDGES);

		for (uint32_t e = 0; e < nedge; e++) {
			uint32_t from = (uint32_t)(splitmix(&s) % n);

			edge[e] = (struct cycles_edge){ (uint32_t)(splitmix(&s) % n),
							first[from] };
			first[from] = e + 1;
		}
		cycles_find(n, first, edge, cycle);
		find_reach(n, first, edge, reach);
		for (uint32_t v = 0; v < n; v++) {
			assert_true(cycle[v] < n);
			for (uint32_t w = 0; w < n; w++) {
				bool both = (reach[v] >> w & 1) && (reach[w] >> v & 1);

				assert_int_equal(cycle[v] == cycle[w], both);
				together += v != w && both;
			}
		}
	}
	print_message("# pairs on cycles %u\n", together);
	assert_true(together > 20000);
}

/* As deep as a function can be long. */
static void one_long_cycle_needs_no_stack(void **state)
{
	static uint32_t first[LONG], cycle[LONG];
	static struct cycles_edge edge[LONG];

	(void)state;
	for (uint32_t v = 0; v < LONG; v++) {
		edge[v] = (struct cycles_edge){ (v + 1) % LONG, 0 };
		first[v] = v + 1;
	}
	cycles_find(LONG, first, edge, cycle);
	for (uint32_t v = 0; v < LONG; v++)
		assert_int_equal(cycle[v], cycle[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_are_what_leads_to_each_other),
		cmocka_unit_test(one_long_cycle_needs_no_stack),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
