/* test_programset.c - samples by hour, program and where they are */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/samples/programset.h"

static void samples_of_one_key_are_one_item(void **state)
{
	struct programset s = { 0 };
	uint32_t n;

	(void)state;
	for (int i = 0; i < 5; i++)
		programset_add(&s, 10, 3, 7);
	programset_add(&s, 11, 3, 7);
	programset_add(&s, 10, PROGRAMSET_UNKNOWN, 7);
	programset_add(&s, 10, 3, -COUNTER_KERNEL);
	programset_sort(&s);
	const struct programset_item *i = programset_of(&s, 7, &n);
	assert_int_equal(n, 3);
	assert_true(i[0].hour == 10 && i[0].program == 3 && i[0].samples == 5);
	assert_true(i[1].program == PROGRAMSET_UNKNOWN && i[1].samples == 1);
	assert_true(i[2].hour == 11 && i[2].samples == 1);
	i = programset_of(&s, -COUNTER_KERNEL, &n);
	assert_true(n == 1 && i->samples == 1);
	(void)programset_of(&s, 8, &n);
	assert_int_equal(n, 0);
	programset_clear(&s);
	(void)programset_of(&s, 7, &n);
	assert_int_equal(n, 0);
}

static void none_is_lost_when_there_are_many(void **state)
{
	enum { WHERE = 40, PROGRAMS = 50, HOURS = 3 };
	struct programset s = { 0 };
	uint32_t n, k = 0;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t w = 0; w < WHERE; w++)
			for (uint32_t p = 0; p < PROGRAMS; p++)
				for (uint32_t h = 0; h < HOURS; h++)
					programset_add(&s, h, p, w + 1);
	programset_sort(&s);
	for (uint32_t w = 0; w < WHERE; w++) {
		const struct programset_item *i = programset_of(&s, w + 1, &n);

		assert_int_equal(n, PROGRAMS * HOURS);
		for (k = 0; k < n; k++)
			assert_true(i[k].samples == 2 && i[k].hour == k / PROGRAMS &&
				    i[k].program == k % PROGRAMS);
	}
	programset_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_one_key_are_one_item),
		cmocka_unit_test(none_is_lost_when_there_are_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
