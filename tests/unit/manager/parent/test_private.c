/* test_private.c - a folder of root's own is a folder, and nobody else's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/parent/private.h"
#include "tests/unit/place.h"

static void it_is_made_and_found_again(void **state)
{
	struct place p = place_new();
	struct err err;
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd = private_open(p.store, "mine", &err);

		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_true(S_ISDIR(st.st_mode));
		assert_int_equal(st.st_mode & 07777, 0700);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
	place_free(&p);
}

static void what_is_no_folder_of_its_own_is_refused(void **state)
{
	struct place p = place_new();
	char path[128];
	struct err err;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/mine", p.store);
	assert_int_equal(symlink(p.dir, path), 0);
	assert_int_equal(private_open(p.store, "mine", &err), -1);
	assert_int_equal(unlink(path), 0);
	write_file(path, "", 0600);
	assert_int_equal(private_open(p.store, "mine", &err), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0720), 0);
	assert_int_equal(private_open(p.store, "mine", &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_made_and_found_again),
		cmocka_unit_test(what_is_no_folder_of_its_own_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
