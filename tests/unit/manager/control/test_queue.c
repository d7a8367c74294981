/* test_queue.c - whose request is next: the trusted ones', then users in turns */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "manager/control/queue.h"

/* One that is known again by its count of arguments. */
static void put(struct queue *q, bool trusted, uint32_t uid, int name)
{
	queue_put(q, &(struct pending){ .trusted = trusted, .uid = uid, .argc = name });
}

static int take(struct queue *q)
{
	struct pending p;

	return queue_take(q, &p) ? p.argc : 0;
}

static void one_after_the_other_as_they_came(void **state)
{
	struct queue q = { 0 };

	(void)state;
	assert_int_equal(take(&q), 0);
	for (int i = 1; i <= 5; i++)
		put(&q, true, (uint32_t)i, i);
	for (int i = 1; i <= 5; i++)
		assert_int_equal(take(&q), i);
	assert_int_equal(take(&q), 0);
}

static void users_never_delay_the_trusted(void **state)
{
	struct queue q = { 0 };

	(void)state;
	for (int i = 1; i <= 20; i++)
		put(&q, false, (uint32_t)(1000 + i % 5), i);
	assert_false(queue_has_trusted(&q));
	put(&q, true, 0, 100);
	put(&q, true, 7, 101);
	assert_true(queue_has_trusted(&q));
	assert_int_equal(take(&q), 100);
	assert_int_equal(take(&q), 101);
	assert_false(queue_has_trusted(&q));
	for (int i = 0; i < 20; i++)
		assert_in_range(take(&q), 1, 20);
	assert_int_equal(take(&q), 0);
}

static void users_take_turns(void **state)
{
	struct queue q = { 0 };

	(void)state;
	for (int i = 1; i <= 4; i++)
		put(&q, false, 1000, i);
	put(&q, false, 1001, 11);
	put(&q, false, 1002, 21);
	put(&q, false, 1001, 12);
	assert_int_equal(take(&q), 1);
	assert_int_equal(take(&q), 11);
	assert_int_equal(take(&q), 21);
	assert_int_equal(take(&q), 2);
	put(&q, false, 1003, 31);		/* who has not had a turn is next */
	assert_int_equal(take(&q), 31);
	assert_int_equal(take(&q), 12);
	assert_int_equal(take(&q), 3);
	assert_int_equal(take(&q), 4);
}

/* More users than are remembered, over and over. */
static void many_users_all_come_to_their_turn(void **state)
{
	struct queue q = { 0 };
	unsigned taken[100] = { 0 };

	(void)state;
	for (int round = 0; round < 500; round++) {
		int user = round % 100;

		put(&q, false, (uint32_t)user, user + 1);
		put(&q, false, 5000, 1000);
		for (int i = 0; i < 2; i++) {
			int name = take(&q);

			if (name < 1000)
				taken[name - 1]++;
		}
	}
	for (int i = 0; i < 100; i++)
		assert_int_equal(taken[i], 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other_as_they_came),
		cmocka_unit_test(users_never_delay_the_trusted),
		cmocka_unit_test(users_take_turns),
		cmocka_unit_test(many_users_all_come_to_their_turn),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
