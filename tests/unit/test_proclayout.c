/* test_proclayout.c - closest is best on call graphs worked out by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "editor/proclayout.h"

static const uint64_t even[8] = { 100, 100, 100, 100, 100, 100, 100, 100 };

static void assert_order(const uint32_t *got, const uint32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(got[i], want[i]);
}

/* Pettis and Hansen's way: 1-2 (10) first, then 0-3 (8), then the two chains, whose heaviest
 * edge is 2-3 (7): 2 and 3 end up side by side. */
static void chains_turn_so_that_callers_meet(void **state)
{
	const double samples[4] = { 1, 1, 1, 1 };
	const struct proc_edge edge[] = {
		{ 1, 2, 10 }, { 0, 3, 8 }, { 3, 2, 7 }, { 0, 1, 2 },
	};
	const uint32_t want[] = { 0, 3, 2, 1 };
	uint32_t order[4];

	(void)state;
	proclayout_order(4, even, samples, edge, 4, order);
	assert_order(order, want, 4);
}

static void parallel_edges_add_up(void **state)
{
	const double samples[4] = { 1, 1, 1, 1 };
	/* 0-1 is heaviest alone (5), but 1-2 sums up to 6 and 0-3 joins before 0-1 can. */
	const struct proc_edge edge[] = {
		{ 0, 1, 5 }, { 1, 2, 2 }, { 2, 1, 2 }, { 1, 2, 2 }, { 3, 0, 5.5 },
	};
	const uint32_t want[] = { 3, 0, 1, 2 };
	uint32_t order[4];

	(void)state;
	proclayout_order(4, even, samples, edge, 5, order);
	assert_order(order, want, 4);
}

static void weights_to_a_merged_chain_add_up(void **state)
{
	const double samples[4] = { 1, 1, 1, 1 };
	/* 2 has 4 + 4 to the pair 0-1, more than the 6 to 3. */
	const struct proc_edge edge[] = {
		{ 0, 1, 10 }, { 0, 2, 4 }, { 1, 2, 4 }, { 2, 3, 6 }, { 3, 0, 0 },
	};
	const uint32_t want[] = { 1, 0, 2, 3 };
	uint32_t order[4];

	(void)state;
	proclayout_order(4, even, samples, edge, 5, order);
	assert_order(order, want, 4);
}

static void procedures_without_edges_come_last_by_density(void **state)
{
	const uint64_t size[5] = { 100, 1000, 10, 100, 100 };
	const double samples[5] = { 50, 900, 9.5, 1, 1 };
	const struct proc_edge edge[] = { { 3, 4, 1 }, { 0, 0, 99 } };
	const uint32_t want[] = { 3, 4, 2, 1, 0 };
	uint32_t order[5];

	(void)state;
	proclayout_order(5, size, samples, edge, 2, order);
	assert_order(order, want, 5);
}

static void ties_go_to_lower_indices(void **state)
{
	const double samples[6] = { 1, 1, 1, 1, 1, 1 };
	const struct proc_edge edge[] = { { 4, 5, 3 }, { 2, 3, 3 }, { 0, 1, 3 } };
	const uint32_t want[] = { 0, 1, 2, 3, 4, 5 };
	uint32_t order[6];

	(void)state;
	proclayout_order(6, even, samples, edge, 3, order);
	assert_order(order, want, 6);
}

static void random_graphs_give_permutations(void **state)
{
	enum { N = 2000, E = 9000 };
	uint64_t *size = calloc(N, sizeof(*size));
	double *samples = calloc(N, sizeof(*samples));
	struct proc_edge *edge = calloc(E, sizeof(*edge));
	uint32_t *order = calloc(N, sizeof(*order)), x = 12345;
	uint8_t *seen = calloc(N, 1);

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		size[i] = i % 7 * 50;
		samples[i] = i % 5;
	}
	for (uint32_t e = 0; e < E; e++) {
		x = x * 1664525 + 1013904223;
		uint32_t a = (x >> 8) % N;
		x = x * 1664525 + 1013904223;
		edge[e] = (struct proc_edge){ a, (x >> 8) % N, (double)(x % 11) };
	}
	proclayout_order(N, size, samples, edge, E, order);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(order[i] < N);
		assert_false(seen[order[i]]);
		seen[order[i]] = 1;
	}
	free(size);
	free(samples);
	free(edge);
	free(order);
	free(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_turn_so_that_callers_meet),
		cmocka_unit_test(parallel_edges_add_up),
		cmocka_unit_test(weights_to_a_merged_chain_add_up),
		cmocka_unit_test(procedures_without_edges_come_last_by_density),
		cmocka_unit_test(ties_go_to_lower_indices),
		cmocka_unit_test(random_graphs_give_permutations),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
