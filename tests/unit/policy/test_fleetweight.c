/* test_fleetweight.c - what a fleet's samples are worth beside a machine's own */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/fleetweight.h"

enum { BLOCKS = 400 };

static struct usage_count own_count[BLOCKS], fleet_count[BLOCKS];

/* Shares fall off by rank, as those of programs do; `turn` gives the ranks to other blocks. */
static double share_of(uint32_t block, uint32_t turn)
{
	return 1.0 / (1 + (block + turn) % BLOCKS);
}

/* So many samples drawn from these shares, by a fixed sequence. */
static struct usage draw(struct usage_count *count, uint32_t samples, uint32_t turn)
{
	struct usage u = { 0, count };
	double sum = 0;
	uint32_t n[BLOCKS] = { 0 };

	for (uint32_t b = 0; b < BLOCKS; b++)
		sum += share_of(b, turn);
	srand48(7 + (long)turn);
	for (uint32_t i = 0; i < samples; i++) {
		double at = drand48() * sum;
		uint32_t b = 0;

		while (b < BLOCKS - 1 && (at -= share_of(b, turn)) > 0)
			b++;
		n[b]++;
	}
	for (uint32_t b = 0; b < BLOCKS; b++)
		if (n[b])
			count[u.n++] = (struct usage_count){ b, n[b] };
	return u;
}

static double weight(uint32_t own, uint32_t own_turn, uint32_t fleet, uint32_t fleet_turn)
{
	struct usage a = draw(own_count, own, own_turn);
	struct usage b = draw(fleet_count, fleet, fleet_turn);

	return fleet_weight(&a, &b);
}

static void nothing_is_worth_nothing(void **state)
{
	struct usage none = { 0, own_count };
	struct usage b = draw(fleet_count, 100, 0);

	(void)state;
	assert_true(fleet_weight(&b, &none) == 0);
	assert_true(fleet_weight(&none, &none) == 0);
	/* without own samples the fleet's is all there is */
	assert_true(fleet_weight(&none, &b) == 100);
}

static void who_agrees_is_believed(void **state)
{
	(void)state;
	assert_true(weight(50, 0, 100000, 0) >= 2000);
	assert_true(weight(500, 0, 100000, 0) >= 2000);
	assert_true(weight(5000, 0, 100000, 0) >= 5000);
}

static void never_more_than_there_is(void **state)
{
	(void)state;
	for (uint32_t own = 1; own < 3000; own *= 3)
		assert_true(weight(own, 0, 1000, 0) <= 1000);
}

static void who_does_not_is_not(void **state)
{
	(void)state;
	double few = weight(50, 0, 100000, BLOCKS / 2);
	double many = weight(5000, 0, 100000, BLOCKS / 2);

	assert_true(few < 500);
	assert_true(many < 300);
	/* beside the own ones, which are 5,000 */
	assert_true(many < weight(5000, 0, 100000, 0) / 20);
}

static void liars_with_one_block_are_not(void **state)
{
	struct usage a = draw(own_count, 1000, 0), lie = { 1, fleet_count };

	(void)state;
	fleet_count[0] = (struct usage_count){ 399, 1e9 };
	assert_true(fleet_weight(&a, &lie) < 1000);
	assert_true(isfinite(fleet_weight(&a, &lie)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_worth_nothing),
		cmocka_unit_test(who_agrees_is_believed),
		cmocka_unit_test(never_more_than_there_is),
		cmocka_unit_test(who_does_not_is_not),
		cmocka_unit_test(liars_with_one_block_are_not),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
