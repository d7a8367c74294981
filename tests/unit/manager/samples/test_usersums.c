/* test_usersums.c - samples by user: added, bounded, written and read back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/samples/userset.h"
#include "manager/samples/usersums.h"

static uint64_t of(const struct usersums *s, uint32_t uid)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->at[i].uid == uid)
			return s->at[i].samples;
	return 0;
}

static void each_user_is_there_once_in_order(void **state)
{
	struct usersums s = { 0 }, more = { 0 };

	(void)state;
	usersums_add(&s, 1001, 5);
	usersums_add(&s, USERSET_UNKNOWN, 2);
	usersums_add(&s, 0, 7);
	usersums_add(&s, 1001, 1);
	usersums_add(&more, 1000, 3);
	usersums_add(&more, 0, 1);
	usersums_add_all(&s, &more);
	assert_int_equal(s.n, 4);
	for (uint32_t i = 1; i < s.n; i++)
		assert_true(s.at[i - 1].uid < s.at[i].uid);
	assert_int_equal(of(&s, 0), 8);
	assert_int_equal(of(&s, 1000), 3);
	assert_int_equal(of(&s, 1001), 6);
	assert_int_equal(of(&s, USERSET_UNKNOWN), 2);
	usersums_free(&s);
	usersums_free(&more);
}

static void too_many_users_are_of_nobody_and_nothing_is_lost(void **state)
{
	struct usersums s = { 0 };
	uint64_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 3 * USERSUMS_MAX; i++)
		usersums_add(&s, 1000 + i, 1);
	usersums_add(&s, 1000, 1);		/* who has a place keeps it */
	assert_int_equal(s.n, USERSUMS_MAX);
	for (uint32_t i = 0; i < s.n; i++)
		sum += s.at[i].samples;
	assert_int_equal(sum, 3 * USERSUMS_MAX + 1);
	assert_int_equal(of(&s, 1000), 2);
	assert_int_equal(of(&s, USERSET_UNKNOWN), 2 * USERSUMS_MAX + 1);
	usersums_free(&s);
}

static void a_sum_does_not_overflow(void **state)
{
	struct usersums s = { 0 };

	(void)state;
	usersums_add(&s, 7, UINT64_MAX - 1);
	usersums_add(&s, 7, 5);
	assert_true(of(&s, 7) == UINT64_MAX);
	usersums_free(&s);
}

static void what_is_written_is_read(void **state)
{
	struct usersums s = { 0 }, back = { 0 };
	struct wr w = { 0 };
	struct err err;

	(void)state;
	usersums_add(&s, 1000, 300);
	usersums_add(&s, USERSET_UNKNOWN, UINT64_MAX);
	usersums_write(&s, &w);
	assert_int_equal(usersums_read(wr_bytes(&w), &back, &err), 0);
	assert_int_equal(back.n, 2);
	assert_int_equal(of(&back, 1000), 300);
	assert_true(of(&back, USERSET_UNKNOWN) == UINT64_MAX);
	usersums_free(&back);
	for (size_t n = 0; n < w.n; n++)
		assert_int_equal(usersums_read(bytes_at(wr_bytes(&w), 0, n), &back, &err), -1);
	wr_u8(&w, 0);
	assert_int_equal(usersums_read(wr_bytes(&w), &back, &err), -1);
	assert_null(back.at);
	wr_free(&w);
	usersums_free(&s);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const uint8_t twice[] = { 2, 5, 1, 5, 1 }, many[] = { 0xff, 0xff, 0xff, 0x7f };
	static const uint8_t large[] = { 1, 0x80, 0x80, 0x80, 0x80, 0x10, 1 };
	struct usersums s = { 0 };

	(void)state;
	assert_int_equal(usersums_read((struct bytes){ twice, sizeof(twice) }, &s, NULL), -1);
	assert_int_equal(usersums_read((struct bytes){ many, sizeof(many) }, &s, NULL), -1);
	assert_int_equal(usersums_read((struct bytes){ large, sizeof(large) }, &s, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_user_is_there_once_in_order),
		cmocka_unit_test(too_many_users_are_of_nobody_and_nothing_is_lost),
		cmocka_unit_test(a_sum_does_not_overflow),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
