/* test_proclayout.c - orders of procedures worked out by hand, and joins in the order of their
 * gains */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "editor/graph/gainheap.h"
#include "editor/graph/proclayout.h"

static const uint64_t even[8] = { 100, 100, 100, 100, 100, 100, 100, 100 };

static void order_of(uint32_t nproc, const uint64_t *size, const double *samples,
		     const struct proc_edge *edge, uint32_t nedge, uint32_t *order)
{
	proclayout_cdsort(&(struct proc_graph){ nproc, nedge, size, samples, edge }, order);
}

static void assert_order(const uint32_t *got, const uint32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(got[i], want[i]);
}

/* 1 has room for two neighbours: 2 (6 in all) and 3 (5.5).  0 (5) goes to an end. */
static void parallel_edges_add_up(void **state)
{
	const double samples[4] = { 1, 1, 1, 1 };
	const struct proc_edge edge[] = {
		{ 0, 1, 5, 0 }, { 1, 2, 2, 0 }, { 2, 1, 2, 0 }, { 1, 2, 2, 0 },
		{ 3, 1, 5.5, 0 },
	};
	const uint32_t want[] = { 0, 2, 1, 3 };
	uint32_t order[4];

	(void)state;
	order_of(4, even, samples, edge, 5, order);
	assert_order(order, want, 4);
}

static void ties_go_to_lower_indices(void **state)
{
	const double samples[6] = { 1, 1, 1, 1, 1, 1 };
	const struct proc_edge edge[] = { { 4, 5, 3, 0 }, { 2, 3, 3, 0 }, { 0, 1, 3, 0 } };
	const uint32_t want[] = { 0, 1, 2, 3, 4, 5 };
	uint32_t order[6];

	(void)state;
	order_of(6, even, samples, edge, 3, order);
	assert_order(order, want, 6);
}

/* Of two callees as hot the small one gains more; each goes to the end of its caller that
 * the call is nearer to. */
static void calls_become_short(void **state)
{
	const uint64_t size[4] = { 1000, 100, 100, 100 };
	const double samples[4] = { 10, 10, 10, 0 };
	const struct proc_edge edge[] = { { 0, 1, 10, 990 }, { 0, 2, 10, 10 } };
	const uint32_t want[] = { 2, 0, 1, 3 };
	uint32_t order[4];

	(void)state;
	order_of(4, size, samples, edge, 2, order);
	assert_order(order, want, 4);
}

/* 1 is called more often than 2; but 2 is hot, and fewer misses count for more than that, so it
 * is joined first.  What is joined last comes to the end where both calls are. */
static void hot_code_lies_together(void **state)
{
	const uint64_t size[3] = { 5000, 3000, 3000 };
	const double samples[3] = { 100, 1, 100 };
	const struct proc_edge edge[] = { { 0, 1, 10, 5000 }, { 0, 2, 9.9, 5000 } };
	const uint32_t want[] = { 2, 0, 1 };
	uint32_t order[3];

	(void)state;
	order_of(3, size, samples, edge, 2, order);
	assert_order(order, want, 3);
}

/* Without calls nothing is joined; what is dense comes first. */
static void without_calls_dense_code_comes_first(void **state)
{
	const uint64_t size[3] = { 100, 10, 50 };
	const double samples[3] = { 10, 9, 10 };
	const uint32_t want[] = { 1, 2, 0, 0 };
	uint32_t order[3];

	(void)state;
	order_of(3, size, samples, NULL, 0, order);
	assert_order(order, want, 3);
}

static void heap_gives_most_gain_first_and_knows_the_latest(void **state)
{
	struct gainheap h = { 0 };
	struct gainheap_entry e;
	double last = 1e9;
	uint32_t x = 7, n = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		x = x * 1664525 + 1013904223;
		gainheap_push(&h, x >> 20, i, 0);
	}
	for (; gainheap_pop(&h, &e); n++) {
		assert_true(e.gain <= last);
		last = e.gain;
	}
	assert_int_equal(n, 1000);
	gainheap_push(&h, 5, 2, 1);
	gainheap_push(&h, 5, 1, 1);
	gainheap_push(&h, 5, 1, 2);
	assert_true(gainheap_pop(&h, &e) && e.item == 1 && e.stamp == 2);
	assert_true(gainheap_pop(&h, &e) && e.item == 1 && e.stamp == 1);
	assert_true(gainheap_pop(&h, &e) && e.item == 2);
	assert_false(gainheap_pop(&h, &e));
	gainheap_free(&h);
}

static void a_random_graph_gives_a_permutation(void **state)
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
		edge[e] = (struct proc_edge){ a, (x >> 8) % N, (double)(x % 11), x % 50 };
	}
	order_of(N, size, samples, edge, E, order);
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
		cmocka_unit_test(parallel_edges_add_up),
		cmocka_unit_test(ties_go_to_lower_indices),
		cmocka_unit_test(calls_become_short),
		cmocka_unit_test(hot_code_lies_together),
		cmocka_unit_test(without_calls_dense_code_comes_first),
		cmocka_unit_test(heap_gives_most_gain_first_and_knows_the_latest),
		cmocka_unit_test(a_random_graph_gives_a_permutation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
