/* test_proclayout.c - orders of procedures worked out by hand, and joins in the order of
 * their gains */
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

static void order_by(proclayout_fn *method, uint32_t nproc, const uint64_t *size,
		     const double *samples, const struct proc_edge *edge, uint32_t nedge,
		     uint32_t *order)
{
	method(&(struct proc_graph){ nproc, nedge, size, samples, edge }, order);
}

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
		{ 1, 2, 10, 0 }, { 0, 3, 8, 0 }, { 3, 2, 7, 0 }, { 0, 1, 2, 0 },
	};
	const uint32_t want[] = { 0, 3, 2, 1 };
	uint32_t order[4];

	(void)state;
	order_by(proclayout_closest, 4, even, samples, edge, 4, order);
	assert_order(order, want, 4);
}

static void parallel_edges_add_up(void **state)
{
	const double samples[4] = { 1, 1, 1, 1 };
	/* 0-1 is heaviest alone (5), but 1-2 sums up to 6 and 0-3 joins before 0-1 can. */
	const struct proc_edge edge[] = {
		{ 0, 1, 5, 0 }, { 1, 2, 2, 0 },	  { 2, 1, 2, 0 },
		{ 1, 2, 2, 0 }, { 3, 0, 5.5, 0 },
	};
	const uint32_t want[] = { 3, 0, 1, 2 };
	uint32_t order[4];

	(void)state;
	order_by(proclayout_closest, 4, even, samples, edge, 5, order);
	assert_order(order, want, 4);
}

static void weights_to_a_merged_chain_add_up(void **state)
{
	const double samples[4] = { 1, 1, 1, 1 };
	/* 2 has 4 + 4 to the pair 0-1, more than the 6 to 3. */
	const struct proc_edge edge[] = {
		{ 0, 1, 10, 0 }, { 0, 2, 4, 0 }, { 1, 2, 4, 0 }, { 2, 3, 6, 0 }, { 3, 0, 0, 0 },
	};
	const uint32_t want[] = { 1, 0, 2, 3 };
	uint32_t order[4];

	(void)state;
	order_by(proclayout_closest, 4, even, samples, edge, 5, order);
	assert_order(order, want, 4);
}

static void procedures_without_edges_come_last_by_density(void **state)
{
	const uint64_t size[5] = { 100, 1000, 10, 100, 100 };
	const double samples[5] = { 50, 900, 9.5, 1, 1 };
	const struct proc_edge edge[] = { { 3, 4, 1, 0 }, { 0, 0, 99, 0 } };
	const uint32_t want[] = { 3, 4, 2, 1, 0 };
	uint32_t order[5];

	(void)state;
	order_by(proclayout_closest, 5, size, samples, edge, 2, order);
	assert_order(order, want, 5);
}

static void ties_go_to_lower_indices(void **state)
{
	const double samples[6] = { 1, 1, 1, 1, 1, 1 };
	const struct proc_edge edge[] = { { 4, 5, 3, 0 }, { 2, 3, 3, 0 }, { 0, 1, 3, 0 } };
	const uint32_t want[] = { 0, 1, 2, 3, 4, 5 };
	uint32_t order[6];

	(void)state;
	order_by(proclayout_closest, 6, even, samples, edge, 3, order);
	assert_order(order, want, 6);
}

/* 3 is densest and goes behind 1, its likelier caller; then 1 with it behind 0; 2 is called
 * by 0 for the least part only and stays alone. */
static void c3_puts_a_procedure_behind_its_likeliest_caller(void **state)
{
	const double samples[5] = { 10, 20, 5, 40, 100 };
	const struct proc_edge edge[] = {
		{ 0, 3, 3, 0 }, { 1, 3, 2, 0 }, { 1, 3, 2, 0 }, { 0, 1, 9, 0 }, { 0, 2, 1, 0 },
		{ 2, 2, 50, 0 },
	};
	const uint32_t want[] = { 4, 0, 1, 3, 2 };
	uint32_t order[5];

	(void)state;
	order_by(proclayout_c3, 5, even, samples, edge, 6, order);
	assert_order(order, want, 5);
}

/* A caller so large that the pair would be less than an eighth as dense as the callee... is
 * the other way round: the cluster of the caller must not be thinned; that of the callee
 * may. */
static void c3_does_not_thin_a_dense_caller(void **state)
{
	const uint64_t size[4] = { 10, 1000, 1000, 10 };
	const double samples[4] = { 100, 1, 1, 100 };
	const struct proc_edge edge[] = { { 0, 1, 5, 0 }, { 2, 3, 5, 0 } };
	const uint32_t want[] = { 0, 2, 3, 1 };
	uint32_t order[4];

	(void)state;
	order_by(proclayout_c3, 4, size, samples, edge, 2, order);
	assert_order(order, want, 4);
}

/* Of two callees as hot the small one gains more; each goes to the end of its caller that
 * the call is nearer to. */
static void cdsort_makes_calls_short(void **state)
{
	const uint64_t size[4] = { 1000, 100, 100, 100 };
	const double samples[4] = { 10, 10, 10, 0 };
	const struct proc_edge edge[] = { { 0, 1, 10, 990 }, { 0, 2, 10, 10 } };
	const uint32_t want[] = { 2, 0, 1, 3 };
	uint32_t order[4];

	(void)state;
	order_by(proclayout_cdsort, 4, size, samples, edge, 2, order);
	assert_order(order, want, 4);
}

/* Without calls nothing is joined; what is dense comes first. */
static void cdsort_without_calls_goes_by_density(void **state)
{
	const uint64_t size[3] = { 100, 10, 50 };
	const double samples[3] = { 10, 9, 10 };
	const uint32_t want[] = { 1, 2, 0, 0 };
	uint32_t order[3];

	(void)state;
	order_by(proclayout_cdsort, 3, size, samples, NULL, 0, order);
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
		edge[e] = (struct proc_edge){ a, (x >> 8) % N, (double)(x % 11), x % 50 };
	}
	static proclayout_fn *const method[] = {
		proclayout_closest, proclayout_c3, proclayout_cdsort,
	};
	for (int m = 0; m < 3; m++) {
		memset(seen, 0, N);
		order_by(method[m], N, size, samples, edge, E, order);
		for (uint32_t i = 0; i < N; i++) {
			assert_true(order[i] < N);
			assert_false(seen[order[i]]);
			seen[order[i]] = 1;
		}
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
		cmocka_unit_test(c3_puts_a_procedure_behind_its_likeliest_caller),
		cmocka_unit_test(c3_does_not_thin_a_dense_caller),
		cmocka_unit_test(cdsort_makes_calls_short),
		cmocka_unit_test(cdsort_without_calls_goes_by_density),
		cmocka_unit_test(heap_gives_most_gain_first_and_knows_the_latest),
		cmocka_unit_test(random_graphs_give_permutations),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
