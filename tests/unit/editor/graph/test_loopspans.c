/* test_loopspans.c - loops as runs of blocks, against their definition, and of very many blocks */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "editor/graph/loopspans.h"

enum { MOST = 6, MANY = 1 << 21 };

/* Each choice of branches of n blocks; choice n of a block is none. */
static bool next_choice(uint32_t n, uint32_t *back)
{
	for (uint32_t i = 0; i < n; i++) {
		if (back[i]++ < n)
			return true;
		back[i] = 0;
	}
	return false;
}

static void runs_are_what_the_definition_says(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= MOST; n++) {
		uint32_t back[MOST] = { 0 };

		do {
			uint32_t want[MOST], have[MOST];

			for (uint32_t i = 0; i < n; i++) {
				want[i] = i;
				if (back[i] > i)
					continue;
				for (uint32_t of = want[back[i]], k = of; k <= i; k++)
					want[k] = of;
			}
			loopspans_find(n, back, have);
			assert_memory_equal(have, want, n * sizeof(*want));
		} while (next_choice(n, back));
	}
}

static void spreading_is_what_the_definition_says(void **state)
{
	enum { N = 4 };
	uint32_t back[N] = { 0 };

	(void)state;
	do {
		for (unsigned bits = 0; bits < 1 << 2 * N; bits++) {
			bool may[N], want[N], have[N];
			uint32_t next[N + 1];

			for (uint32_t i = 0; i < N; i++) {
				want[i] = have[i] = bits >> i & 1;
				may[i] = bits >> (N + i) & 1;
			}
			for (uint32_t i = 0; i < N; i++)
				for (uint32_t k = back[i];
				     back[i] <= i && want[back[i]] && k <= i; k++)
					want[k] |= may[k];
			loopspans_spread(N, back, may, next, have);
			assert_memory_equal(have, want, sizeof(want));
		}
	} while (next_choice(N, back));
}

/* Block by block for each loop these would be two million million steps. */
static void loops_in_loops_end(void **state)
{
	uint32_t *back = calloc(MANY, sizeof(*back)), *first = calloc(MANY + 1, sizeof(*first));
	bool *in = calloc(MANY, 1), *may = malloc(MANY);

	(void)state;
	assert_true(back && first && in && may);
	memset(may, true, MANY);
	in[0] = true;
	loopspans_spread(MANY, back, may, first, in);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(in[i]);
	for (uint32_t i = 0; i < MANY; i++)	/* half of them end one behind the other */
		back[i] = i < MANY / 2 ? i : MANY - 1 - i;
	loopspans_find(MANY, back, first);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(first[i], 0);
	free(back);
	free(first);
	free(in);
	free(may);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_what_the_definition_says),
		cmocka_unit_test(spreading_is_what_the_definition_says),
		cmocka_unit_test(loops_in_loops_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("runs of loops", tests, NULL, NULL);
}
