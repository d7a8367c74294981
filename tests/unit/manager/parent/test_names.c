/* test_names.c - further names of a file: how much room there is for them, in which order */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "manager/parent/names.h"

static void names_come_back_in_their_order(void **state)
{
	struct names n = { 0 };
	char lines[NAMES_BYTES];

	(void)state;
	names_lines(&n, lines);
	assert_string_equal(lines, "");
	assert_int_equal(names_add(&n, "/usr/bin/perl"), 0);
	assert_int_equal(names_add(&n, "/usr/bin/perl5.36.0"), 0);
	assert_int_equal(names_add(&n, "/usr/bin/perl"), 0);	/* once */
	assert_int_equal(n.n, 2);
	assert_string_equal(names_at(&n, 0), "/usr/bin/perl");
	assert_string_equal(names_at(&n, 1), "/usr/bin/perl5.36.0");
	assert_true(names_have(&n, "/usr/bin/perl5.36.0"));
	assert_false(names_have(&n, "/usr/bin/per"));
	assert_false(names_have(NULL, "/usr/bin/perl"));
	names_lines(&n, lines);
	assert_string_equal(lines, "/usr/bin/perl\n/usr/bin/perl5.36.0\n");
}

static void there_is_room_for_so_many(void **state)
{
	struct names n = { 0 };
	char path[64];

	(void)state;
	for (int i = 1; i < NAMES_MOST; i++) {
		(void)snprintf(path, sizeof(path), "/n%d", i);
		assert_int_equal(names_add(&n, path), 0);
	}
	assert_int_equal(names_add(&n, "/one/more"), -1);
	assert_int_equal(n.n, NAMES_MOST - 1);
	assert_false(names_have(&n, "/one/more"));
}

static void and_for_so_many_bytes(void **state)
{
	static char path[NAMES_BYTES + 1], lines[NAMES_BYTES];
	struct names n = { 0 };

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	assert_int_equal(names_add(&n, path), -1);		/* no room for its NUL */
	path[NAMES_BYTES - 1] = '\0';
	assert_int_equal(names_add(&n, path), 0);
	names_lines(&n, lines);
	assert_int_equal(strlen(lines), NAMES_BYTES - 1);
	assert_int_equal(names_add(&n, "/"), -1);
	n = (struct names){ 0 };
	path[NAMES_BYTES - 10] = '\0';
	assert_int_equal(names_add(&n, path), 0);
	assert_int_equal(names_add(&n, "/2345678"), 0);		/* to the last byte */
	assert_int_equal(n.bytes, NAMES_BYTES);
	names_lines(&n, lines);
	assert_int_equal(strlen(lines), NAMES_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_back_in_their_order),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(and_for_so_many_bytes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
