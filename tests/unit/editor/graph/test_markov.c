/* test_markov.c - visits of Markov chains: known ones, and random ones against plain
 * iteration */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "editor/graph/markov.h"

enum { STATES = 30, EDGES = 70, BUDGET = 16000000 };

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

static void a_loop_runs_as_often_as_its_exit_is_rare(void **state)
{
	static const struct markov_edge edge[] = { { 0, 1 }, { 1, 1 }, { 1, 2 } };
	static const double probability[] = { 1, 0.999, 0.001 };
	double visits[3] = { 5, 0, 0 };
	uint64_t budget = BUDGET;
	struct markov *m = markov_new(3, edge, 3, &budget);

	(void)state;
	assert_non_null(m);
	markov_set(m, probability);
	markov_visits(m, visits);
	assert_true(fabs(visits[0] - 5) < 1e-3);
	assert_true(fabs(visits[1] - 5000) < 10);
	assert_true(fabs(visits[2] - 5) < 1e-2);
	markov_free(m);
}

/* A gambler with k of n coins: n k (n - k) / n rounds until all or nothing. */
static void a_random_walk_takes_the_known_number_of_rounds(void **state)
{
	enum { N = 20, START = 7 };
	struct markov_edge edge[2 * N];
	double probability[2 * N], visits[N + 1] = { 0 }, sum = 0;
	uint32_t n = 0;
	uint64_t budget = BUDGET;

	(void)state;
	for (uint32_t k = 1; k < N; k++) {
		for (uint32_t to = k - 1; to <= k + 1; to += 2) {
			probability[n] = 0.5;
			edge[n++] = (struct markov_edge){ k, to };
		}
	}
	struct markov *m = markov_new(N + 1, edge, n, &budget);
	assert_non_null(m);
	markov_set(m, probability);
	visits[START] = 1;
	markov_visits(m, visits);
	for (uint32_t k = 1; k < N; k++)
		sum += visits[k];
	assert_true(fabs(sum - START * (N - START)) < 0.05);
	assert_true(fabs(visits[N] - (double)START / N) < 1e-3);
	markov_free(m);
}

/* Random edges, parallel ones and circles among them; a tenth leaves from each state. */
static void make(uint64_t seed, struct markov_edge *edge, double *probability)
{
	uint64_t s = seed;
	double sum[STATES] = { 0 };

	for (uint32_t i = 0; i < EDGES; i++) {
		edge[i].from = (uint32_t)(splitmix(&s) % STATES);
		edge[i].to = (uint32_t)(splitmix(&s) % STATES);
		probability[i] = 0.01 + draw(&s);
		sum[edge[i].from] += probability[i];
	}
	for (uint32_t i = 0; i < EDGES; i++)
		probability[i] *= 0.9 / sum[edge[i].from];
}

static void random_chains_match_plain_iteration(void **state)
{
	uint64_t budget = BUDGET;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct markov_edge edge[EDGES];
		double probability[EDGES], rate[STATES], visits[STATES], x[STATES],
			next[STATES];
		uint64_t s = seed + 1000;

		make(seed, edge, probability);
		struct markov *m = markov_new(STATES, edge, EDGES, &budget);
		assert_non_null(m);
		for (int round = 0; round < 2; round++) {	/* again with the same order */
			markov_set(m, probability);
			for (uint32_t v = 0; v < STATES; v++)
				x[v] = visits[v] = rate[v] = draw(&s);
			markov_visits(m, visits);
			for (int i = 0; i < 400; i++) {
				for (uint32_t v = 0; v < STATES; v++)
					next[v] = rate[v];
				for (uint32_t k = 0; k < EDGES; k++)
					next[edge[k].to] += probability[k] * x[edge[k].from];
				for (uint32_t v = 0; v < STATES; v++)
					x[v] = next[v];
			}
			for (uint32_t v = 0; v < STATES; v++)
				assert_true(fabs(visits[v] - x[v]) < 1e-3 * x[v]);
			for (uint32_t k = 0; k < EDGES; k++)
				probability[k] *= 0.5;
		}
		assert_true(budget < BUDGET);
		budget = BUDGET;
		markov_free(m);
	}
}

/* A state leads to some of many that all lead to each other: eliminated first, it has a long
 * row of neighbours which have others besides. */
static void long_rows_of_neighbours_are_eliminated_whole(void **state)
{
	enum { N = 300, FEW = 200, NEDGE = FEW + N * (N - 1) };
	struct markov_edge *edge = malloc(NEDGE * sizeof(*edge));
	double *probability = malloc(NEDGE * sizeof(*probability));
	double visits[N + 1], x[N + 1], next[N + 1];
	uint64_t budget = BUDGET, s = 1;
	uint32_t n = 0;

	(void)state;
	for (uint32_t v = 1; v <= FEW; v++)
		edge[n++] = (struct markov_edge){ 0, v };
	for (uint32_t u = 1; u <= N; u++) {
		for (uint32_t v = 1; v <= N; v++)
			if (u != v)
				edge[n++] = (struct markov_edge){ u, v };
	}
	assert_int_equal(n, NEDGE);
	for (uint32_t k = 0; k < n; k++)
		probability[k] = (0.5 + draw(&s)) * 0.6 / (edge[k].from ? N : FEW);
	struct markov *m = markov_new(N + 1, edge, n, &budget);
	assert_non_null(m);
	markov_set(m, probability);
	for (uint32_t v = 0; v <= N; v++)
		x[v] = visits[v] = v ? 0 : 1000;
	markov_visits(m, visits);
	for (int i = 0; i < 100; i++) {
		for (uint32_t v = 0; v <= N; v++)
			next[v] = v ? 0 : 1000;
		for (uint32_t k = 0; k < n; k++)
			next[edge[k].to] += probability[k] * x[edge[k].from];
		memcpy(x, next, sizeof(x));
	}
	for (uint32_t v = 0; v <= N; v++)
		assert_true(fabs(visits[v] - x[v]) < 1e-3 * x[v]);
	markov_free(m);
	free(edge);
	free(probability);
}

/* Summed over all entries what they are worth is summed over all visits what those are
 * worth. */
static void worth_of_entries_is_worth_of_visits(void **state)
{
	uint64_t budget = BUDGET;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct markov_edge edge[EDGES];
		double probability[EDGES], rate[STATES], visits[STATES], g[STATES],
			worth[STATES];
		double by_visits = 0, by_entries = 0;
		uint64_t s = seed;

		make(seed, edge, probability);
		struct markov *m = markov_new(STATES, edge, EDGES, &budget);
		assert_non_null(m);
		markov_set(m, probability);
		for (uint32_t v = 0; v < STATES; v++) {
			visits[v] = rate[v] = draw(&s);
			worth[v] = g[v] = draw(&s) - 0.5;
		}
		markov_visits(m, visits);
		markov_worth(m, worth);
		for (uint32_t v = 0; v < STATES; v++) {
			by_visits += visits[v] * g[v];
			by_entries += rate[v] * worth[v];
		}
		assert_true(fabs(by_visits - by_entries) < 1e-6 * (1 + fabs(by_visits)));
		markov_free(m);
	}
}

static void what_is_too_entangled_is_declined(void **state)
{
	enum { N = 400 };
	struct markov_edge *edge = malloc(N * N * sizeof(*edge));
	uint32_t n = 0;
	uint64_t budget = BUDGET;

	(void)state;
	for (uint32_t u = 0; u < N; u++) {
		for (uint32_t v = 0; v < N; v++)
			edge[n++] = (struct markov_edge){ u, v };
	}
	assert_null(markov_new(N, edge, n, &budget));
	assert_true(budget == BUDGET);
	free(edge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_runs_as_often_as_its_exit_is_rare),
		cmocka_unit_test(a_random_walk_takes_the_known_number_of_rounds),
		cmocka_unit_test(random_chains_match_plain_iteration),
		cmocka_unit_test(long_rows_of_neighbours_are_eliminated_whole),
		cmocka_unit_test(worth_of_entries_is_worth_of_visits),
		cmocka_unit_test(what_is_too_entangled_is_declined),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
