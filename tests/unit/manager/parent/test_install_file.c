/* test_install_file.c - the copy that a swap puts in place has the content, and room on the
 * disk for that only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/hugepages.h"
#include "manager/parent/install_file.h"

/* What a file of `size` bytes with one byte at each place of `at` is copied to. */
static struct stat copy_of(off_t size, const off_t *at, int nat)
{
	char from[] = "/var/tmp/morph-copy-XXXXXX", to[] = "/var/tmp/morph-copy-XXXXXX", byte;
	int in = mkstemp(from), out = mkstemp(to);
	struct digest want, got;
	struct err err = { 0 };
	struct stat st;

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(ftruncate(in, size), 0);
	for (int i = 0; i < nat; i++)
		assert_int_equal(pwrite(in, "x", 1, at[i]), 1);
	assert_int_equal(digest_fd(in, &want, &err), 0);
	if (install_copy(in, out, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_memory_equal(&got, &want, sizeof(got));
	for (int i = 0; i < nat; i++) {
		assert_int_equal(pread(out, &byte, 1, at[i]), 1);
		assert_int_equal(byte, 'x');
	}
	assert_int_equal(fsync(out), 0);
	assert_int_equal(fstat(out, &st), 0);
	close(in);
	close(out);
	assert_int_equal(unlink(from) | unlink(to), 0);
	return st;
}

static void what_is_large_is_copied_with_its_holes(void **state)
{
	enum { HUGE = HUGEPAGES_BYTES };
	const off_t at[] = { 100, 2 * HUGE - 1, 2 * HUGE, 4 * HUGE + 5 };
	struct stat st = copy_of(6 * HUGE + 123, at, 4);

	(void)state;
	assert_int_equal(st.st_size, 6 * HUGE + 123);
	assert_true(st.st_blocks * 512 < 2 * HUGE);	/* the second piece is whole */
	st = copy_of(3 * HUGE, NULL, 0);
	assert_int_equal(st.st_size, 3 * HUGE);
	assert_int_equal(st.st_blocks, 0);
	assert_int_equal(copy_of(0, NULL, 0).st_size, 0);
	assert_int_equal(copy_of(101, at, 1).st_size, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_large_is_copied_with_its_holes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
