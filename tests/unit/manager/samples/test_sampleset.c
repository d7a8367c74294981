/* test_sampleset.c - every sample is in the set, at its place, whatever the order */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "manager/samples/sampleset.h"

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Against plain counters; offsets differ in all of their bytes. */
static void samples_are_counted_by_place(void **state)
{
	enum { FILES = 3, PLACES = 700, SAMPLES = 300000 };
	static uint32_t want[FILES][PLACES];
	struct sampleset s = { 0 };
	uint64_t x = 5;
	uint32_t sum = 0;

	(void)state;
	for (int i = 0; i < SAMPLES; i++) {
		uint32_t file = next_random(&x) % FILES, place = next_random(&x) % PLACES;

		want[file][place]++;
		assert_int_equal(sampleset_add(&s, 1000 * file,
					       place * UINT64_C(0x0001000100010001)), 0);
	}
	sampleset_sort(&s);
	assert_int_equal(s.n, FILES * PLACES);
	for (uint32_t i = 0; i < s.n; i++) {
		assert_int_equal(s.item[i].file, 1000 * (i / PLACES));
		assert_int_equal(s.item[i].off, i % PLACES * UINT64_C(0x0001000100010001));
		assert_int_equal(s.item[i].samples, want[i / PLACES][i % PLACES]);
		sum += s.item[i].samples;
	}
	assert_int_equal(sum, SAMPLES);
	assert_true(s.cap < SAMPLES / 2);	/* it does not grow with the samples */
	sampleset_clear(&s);
	assert_int_equal(s.n, 0);
}

static void more_comes_after_sorting(void **state)
{
	struct sampleset s = { 0 };

	(void)state;
	sampleset_sort(&s);
	assert_int_equal(s.n, 0);
	for (int round = 1; round < 4; round++) {
		assert_int_equal(sampleset_add(&s, 2, 7), 0);
		assert_int_equal(sampleset_add(&s, 1, 9), 0);
		sampleset_sort(&s);
		assert_int_equal(s.n, 2);
		assert_int_equal(s.item[0].file, 1);
		assert_int_equal(s.item[1].samples, round);
	}
	s.item[1].samples = UINT32_MAX;		/* as many as can be told */
	assert_int_equal(sampleset_add(&s, 2, 7), 0);
	sampleset_sort(&s);
	assert_true(s.item[1].samples == UINT32_MAX);
	sampleset_clear(&s);
}

/* So many that some share a slot of recent[]. */
static void the_same_offset_of_other_files_is_another_place(void **state)
{
	enum { FILES = 20000 };
	struct sampleset s = { 0 };

	(void)state;
	for (uint32_t file = 0; file < FILES; file++)
		for (int i = 0; i < 2; i++)
			assert_int_equal(sampleset_add(&s, file, 7), 0);
	sampleset_sort(&s);
	assert_int_equal(s.n, FILES);
	for (uint32_t file = 0; file < FILES; file++)
		assert_true(s.item[file].file == file && s.item[file].samples == 2);
	sampleset_clear(&s);
}

static void it_is_bounded(void **state)
{
	struct sampleset s = { 0 };
	uint64_t off = 0;

	(void)state;
	while (sampleset_add(&s, 1, off) == 0)
		assert_true(off++ < 3 * (uint64_t)SAMPLESET_MAX);
	sampleset_sort(&s);
	assert_true(s.n >= SAMPLESET_MAX && s.n == off);
	sampleset_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_counted_by_place),
		cmocka_unit_test(more_comes_after_sorting),
		cmocka_unit_test(the_same_offset_of_other_files_is_another_place),
		cmocka_unit_test(it_is_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
