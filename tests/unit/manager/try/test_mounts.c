/* test_mounts.c - what is mounted where */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manager/try/mounts.h"

static const char text[] =
	"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
	"23 22 0:20 / /proc rw shared:2 master:1 - proc proc rw\n"
	"24 22 0:21 / /home/a\\040b\\134 rw - tmpfs none rw\n"
	"25 22 0:22 / /home/x rw - tmpfs none rw\n"
	"26 22 0:23 /sub /home/x rw - xfs none rw\n"
	"nonsense\n"
	"27 22 0:24 / /cut rw - \n"
	"28 22 0:25 / relative rw - tmpfs none rw";

static void lines_are_read(void **state)
{
	struct mounts m;

	(void)state;
	mounts_parse(text, &m);
	assert_int_equal(m.n, 6);
	assert_string_equal(mounts_type(&m, "/"), "ext4");
	assert_string_equal(mounts_type(&m, "/proc"), "proc");
	assert_null(mounts_type(&m, "/home"));
	assert_null(mounts_type(&m, "relative"));
	mounts_free(&m);
}

static void escapes_are_characters(void **state)
{
	struct mounts m;

	(void)state;
	mounts_parse(text, &m);
	assert_string_equal(mounts_type(&m, "/home/a b\\"), "tmpfs");
	mounts_free(&m);
}

static void the_topmost_counts(void **state)
{
	struct mounts m;

	(void)state;
	mounts_parse(text, &m);
	assert_string_equal(mounts_type(&m, "/home/x"), "xfs");
	mounts_free(&m);
}

static void below_is_not_beside(void **state)
{
	struct mounts m;

	(void)state;
	mounts_parse("1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /homes/x rw - ext4 a rw\n", &m);
	assert_true(mounts_below(&m, "/"));
	assert_true(mounts_below(&m, "/homes"));
	assert_false(mounts_below(&m, "/home"));
	assert_false(mounts_below(&m, "/homes/x"));
	mounts_free(&m);
	mounts_parse("1 0 0:1 / / rw - ext4 a rw\n", &m);
	assert_false(mounts_below(&m, "/"));
	mounts_free(&m);
}

static void file_systems_of_users_are_ordinary(void **state)
{
	(void)state;
	assert_true(mounts_is_ordinary("ext4"));
	assert_true(mounts_is_ordinary("tmpfs"));
	assert_false(mounts_is_ordinary("proc"));
	assert_false(mounts_is_ordinary("cgroup2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(escapes_are_characters),
		cmocka_unit_test(the_topmost_counts),
		cmocka_unit_test(below_is_not_beside),
		cmocka_unit_test(file_systems_of_users_are_ordinary),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
