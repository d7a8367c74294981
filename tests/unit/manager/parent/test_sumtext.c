/* test_sumtext.c - a text that is said to be written is on the disk, whatever fails; one that
 * is not leaves the former one
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/sumtext.h"
#include "tests/unit/inject.h"

static char folder[] = "/tmp/morph-sumtext-XXXXXX";
static int dir;

static int into_a_folder(void **state)
{
	(void)state;
	dir = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return dir < 0;
}

static int out_of_it(void **state)
{
	(void)state;
	close(dir);
	return rmdir(folder);	/* nothing is left in it */
}

static int write_text(void *ctx)
{
	struct sumtext s = { .n = 0 };
	struct err err;

	sumtext_add(&s, "%s", (const char *)ctx);
	sumtext_close(&s);
	return sumtext_write(dir, "text", "text.new", &s, &err);
}

static bool is_there(const char *text)
{
	struct sumtext s;
	struct err err;

	if (sumtext_read(dir, "text", &s, &err) != 1)
		fail_msg("%s", err.text);
	return strncmp(s.text, text, strlen(text)) == 0;
}

/* Each call in turn but close(2), of which nothing is learned. */
static void what_fails_is_told(void **state)
{
	unsigned told = 0, synced = 0;

	(void)state;
	for (int fault = FAULT_ENOSPC; fault <= FAULT_EIO; fault++)
		for (unsigned n = 1;; n++) {
			assert_int_equal(write_text("before\n"), 0);
			struct injected i = inject((enum fault)fault, n, write_text, "after\n");

			if (!i.reached) {
				assert_int_equal(i.exit_code, 0);
				assert_true(is_there("after\n"));
				break;
			}
			if (i.exit_code != (i.call != SYS_close))
				fail_msg("call %u, %ld, fails: exit code %d", n, i.call,
					 i.exit_code);
			assert_int_equal(i.leaked, 0);
			assert_int_equal(faccessat(dir, "text.new", F_OK, 0), -1);
			assert_true(is_there("before\n") || is_there("after\n"));
			told += i.exit_code == 1;
			synced += i.call == SYS_fsync;
		}
	/* open, write, rename, and fsync of the file and of the folder */
	assert_in_range(told, 2 * 5, 2 * 6);
	assert_int_equal(synced, 2 * 2);
	assert_int_equal(unlinkat(dir, "text", 0), 0);
}

static void a_damaged_text_is_none(void **state)
{
	struct sumtext s;
	struct err err;

	(void)state;
	assert_int_equal(sumtext_read(dir, "text", &s, &err), 0);
	assert_int_equal(write_text("first 1\nsecond 2\n"), 0);
	assert_int_equal(sumtext_read(dir, "text", &s, &err), 1);
	for (size_t i = 0; i < s.n; i++) {
		int fd = openat(dir, "text", O_WRONLY);
		char other = (char)(s.text[i] ^ 1);

		assert_int_equal(pwrite(fd, &other, 1, (off_t)i), 1);
		assert_int_equal(sumtext_read(dir, "text", &(struct sumtext){ 0 }, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_int_equal(pwrite(fd, s.text + i, 1, (off_t)i), 1);
		close(fd);
	}
	char *at = s.text;
	assert_null(sumtext_line(&at, "second "));
	assert_string_equal(sumtext_line(&at, "first "), "1");
	assert_string_equal(sumtext_line(&at, "second "), "2");
	assert_non_null(sumtext_line(&at, "sum "));
	assert_null(sumtext_line(&at, ""));
	assert_int_equal(unlinkat(dir, "text", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_is_told),
		cmocka_unit_test(a_damaged_text_is_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, into_a_folder, out_of_it);
}
