/* test_livebook.c - the book of generations in running processes, and their files: how many,
 * and whose names (what comes into it is tried by test_livework.c) */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/parent/livebook.h"

struct fixture {
	char dir[64];
	struct livebook b;
	int fd;				/* what is to be kept */
	struct digest digest;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err;

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/morph-livebook.XXXXXX");
	f->fd = memfd_create("g", MFD_CLOEXEC);
	if (!mkdtemp(f->dir) || write(f->fd, "generation", 10) != 10 ||
	    digest_fd(f->fd, &f->digest, &err) < 0 || livebook_open(&f->b, f->dir, &err) < 0)
		return -1;
	*state = f;
	return 0;
}

static int unmake(void **state)
{
	struct fixture *f = *state;
	char command[96];

	livebook_close(&f->b);
	close(f->fd);
	(void)snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	int rc = system(command);
	free(f);
	return rc;
}

/* Files of no content, or of one that takes no room on the disk. */
static void put(const struct fixture *f, const char *form, int n, off_t bytes)
{
	char name[80];

	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), form, i);
		int fd = openat(f->b.files_fd, name, O_CREAT | O_WRONLY | O_EXCL, 0600);
		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, bytes), 0);
		close(fd);
	}
}

static void there_is_room_for_so_many_and_no_more(void **state)
{
	struct fixture *f = *state;
	char name[80];
	struct err err = { 0 };

	put(f, "%064d", LIVEBOOK_FILES, 0);
	assert_int_equal(livebook_keep(&f->b, f->fd, &f->digest, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "64 generations"));
	assert_int_equal(livebook_open_file(&f->b, &f->digest, &err), -1);
	(void)snprintf(name, sizeof(name), "%064d", 7);
	assert_int_equal(unlinkat(f->b.files_fd, name, 0), 0);
	assert_int_equal(livebook_keep(&f->b, f->fd, &f->digest, &err), 0);
	int fd = livebook_open_file(&f->b, &f->digest, &err);
	assert_true(fd >= 0);
	close(fd);
}

static void there_is_room_for_so_many_bytes(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	put(f, "%064d", 1, (off_t)LIVEBOOK_MIB << 20);
	assert_int_equal(livebook_keep(&f->b, f->fd, &f->digest, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
}

static void what_has_no_such_name_is_none(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	put(f, "other%d", LIVEBOOK_FILES, (off_t)LIVEBOOK_MIB << 20);
	assert_int_equal(livebook_keep(&f->b, f->fd, &f->digest, &err), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, make, unmake)

static void what_is_put_is_there(void **state)
{
	struct fixture *f = *state;
	struct livebook_entry e = { .pid = 7, .start = UINT64_MAX, .owner = UINT32_MAX,
				    .generation = f->digest, .path = "/usr/bin/a b" }, *all;
	struct err err;
	uint32_t n;

	e.original.b[31] = 1;
	assert_int_equal(livebook_put(&f->b, &e, &err), 0);
	assert_int_equal(livebook_put(&f->b, &e, &err), 0);
	assert_int_equal(livebook_all(&f->b, &all, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_memory_equal(all, &e, sizeof(e));
	free(all);
	strcpy(e.path, "/usr/bin/a\nowner 0");
	assert_int_equal(livebook_put(&f->b, &e, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(livebook_remove(&f->b, &e, &err), 0);
	assert_int_equal(livebook_remove(&f->b, &e, &err), 0);
	assert_int_equal(livebook_all(&f->b, &all, &n, &err), 0);
	assert_int_equal(n, 0);
	free(all);
}

static void a_book_that_cannot_be_read_leaves_nothing_to_free(void **state)
{
	struct fixture *f = *state;
	const struct livebook b = { .book_fd = -1, .files_fd = f->b.files_fd };
	struct livebook_entry e, *all = &e;
	struct err err;
	uint32_t n = 1;

	assert_int_equal(livebook_all(&b, &all, &n, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_null(all);
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_put_is_there),
		T(there_is_room_for_so_many_and_no_more),
		T(there_is_room_for_so_many_bytes),
		T(what_has_no_such_name_is_none),
		T(a_book_that_cannot_be_read_leaves_nothing_to_free),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("livebook", tests, NULL, NULL);
}
