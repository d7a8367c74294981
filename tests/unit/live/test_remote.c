/* test_remote.c - which call it was that goes on by another number, as its code tells */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/syscall.h>

#include "live/remote.h"

static void the_number_is_found_in_front_of_the_call(void **state)
{
	const uint8_t poll[] = { 0x48, 0x8b, 0x7c, 0x24, 8, 0xb8, 7, 0, 0, 0 };
	const uint8_t futex[] = { 0xb8, 0xca, 0, 0, 0, 0x40, 0x80, 0xf6, 0x80 };
	const uint8_t last[] = { 0xb8, 7, 0, 0, 0, 0xb8, 0xe6, 0, 0, 0 };

	(void)state;
	assert_int_equal(live_remote_restarted(poll, sizeof(poll)), SYS_poll);
	assert_int_equal(live_remote_restarted(futex, sizeof(futex)), SYS_futex);
	assert_int_equal(live_remote_restarted(last, sizeof(last)), SYS_clock_nanosleep);
}

static void else_nothing_is_told(void **state)
{
	/* a call that needs no such number; a part of one; another number */
	const uint8_t read[] = { 0xb8, 0, 0, 0, 0 }, part[] = { 0xb8, 7, 0, 0 };
	const uint8_t other[] = { 0x4c, 0x8b, 0x4c, 0x24, 8, 0xb8, 7, 1, 0, 0 };

	(void)state;
	assert_int_equal(live_remote_restarted(read, sizeof(read)), -1);
	assert_int_equal(live_remote_restarted(part, sizeof(part)), -1);
	assert_int_equal(live_remote_restarted(other, sizeof(other)), -1);
	assert_int_equal(live_remote_restarted(other, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_is_found_in_front_of_the_call),
		cmocka_unit_test(else_nothing_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
