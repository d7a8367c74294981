/* test_ledger.c - entries come back as they were put, and nothing else is believed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/parent/private.h"
#include "manager/parent/sumtext.h"
#include "tests/unit/place.h"

static struct ledger_entry entry(void)
{
	struct ledger_entry e = {
		.original_bytes = 123, .generation_bytes = UINT64_MAX, .owner = UINT32_MAX,
		.dev = 1, .inode = 2, .dir_dev = 3, .dir_inode = 4, .path = "/usr/bin/a b",
	};

	memset(&e.original, 0x5a, sizeof(e.original));
	memset(&e.generation, 0xa5, sizeof(e.generation));
	return e;
}

static void what_is_put_is_found(void **state)
{
	struct ledger_entry e = entry(), got;
	struct place p = place_new();
	struct digest other = { { 1 } };
	struct err err;

	(void)state;
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 0);
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 1);
	assert_memory_equal(&got, &e, sizeof(e));
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &other, &got, &err), 0);
	assert_int_equal(ledger_find(p.ledger_fd, "/usr/bin/a", &e.generation, &got, &err), 0);
	/* another one of the same path and generation takes its place */
	e.inode = 77;
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 1);
	assert_int_equal(got.inode, 77);
	char dir[160];
	(void)snprintf(dir, sizeof(dir), "%s/ledger", p.store);
	assert_int_equal(entries(dir), 1);
	strcpy(e.path, "/usr/bin/a\nowner 0");
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	place_free(&p);
}

/* They differ in the last byte there is room for. */
static void the_longest_paths_are_told_apart(void **state)
{
	struct ledger_entry e = entry(), got;
	struct place p = place_new();
	struct err err;

	(void)state;
	memset(e.path, 'x', sizeof(e.path) - 1);
	e.path[0] = '/';
	for (char last = 'a'; last <= 'b'; last++) {
		e.path[sizeof(e.path) - 2] = last;
		e.inode = (uint64_t)last;
		if (ledger_put(p.ledger_fd, &e, &err) < 0)
			fail_msg("%s", err.text);
	}
	for (char last = 'a'; last <= 'b'; last++) {
		e.path[sizeof(e.path) - 2] = last;
		int n = ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err);
		assert_int_equal(n, 1);
		assert_int_equal(got.inode, last);
	}
	place_free(&p);
}

static void further_names_are_kept_with_it(void **state)
{
	struct ledger_entry e = entry(), got;
	struct place p = place_new();
	char path[64];
	struct err err;

	(void)state;
	for (int i = 1; i < NAMES_MOST; i++) {
		(void)snprintf(path, sizeof(path), "/usr/lib/b c/%d", i);
		assert_int_equal(names_add(&e.also, path), 0);
	}
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 1);
	assert_memory_equal(&got, &e, sizeof(e));
	assert_int_equal(ledger_find(p.ledger_fd, path, &e.generation, &got, &err), 0);
	/* the longest of all */
	e.also = (struct names){ 0 };
	memset(e.path, 'p', sizeof(e.path) - 1);
	e.path[0] = '/';
	assert_int_equal(names_add(&e.also, e.path), 0);
	e.path[1] = 'q';
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 1);
	assert_memory_equal(&got, &e, sizeof(e));
	e.also = (struct names){ 0 };
	assert_int_equal(names_add(&e.also, "/usr/bin/a\npath /etc/b"), 0);
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	place_free(&p);
}

static int tell(void *ctx, const char *name, time_t seen, const struct ledger_entry *e,
		struct err *err)
{
	unsigned *n = ctx;

	(void)err;
	assert_int_equal(strlen(name), LEDGER_NAME_LEN);
	assert_true(seen > 0 && e->inode < 50);
	++*n;
	return 0;
}

static void all_are_told(void **state)
{
	struct place p = place_new();
	struct err err;
	unsigned n = 0;

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct ledger_entry e = entry();

		e.inode = (uint64_t)i;
		(void)snprintf(e.path, sizeof(e.path), "/usr/bin/%d", i);
		assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	}
	assert_int_equal(ledger_each(p.ledger_fd, tell, &n, &err), 0);
	assert_int_equal(n, 50);
	/* one that is damaged hides no other */
	struct dirent **list;
	int count = scandirat(p.ledger_fd, ".", &list, NULL, alphasort);
	assert_int_equal(count, 52);
	int fd = openat(p.ledger_fd, list[2]->d_name, O_WRONLY | O_TRUNC);
	close(fd);
	n = 0;
	assert_int_equal(ledger_each(p.ledger_fd, tell, &n, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_non_null(strstr(err.text, list[2]->d_name));
	assert_int_equal(n, 49);
	for (int i = 0; i < count; i++)
		free(list[i]);
	free(list);
	place_free(&p);
}

static void write_summed(int dir, const char *name, const char *text)
{
	struct sumtext s = { .n = 0 };

	sumtext_add(&s, "%s", text);
	sumtext_close(&s);
	assert_int_equal(sumtext_write(dir, name, "new", &s, NULL), 0);
}

static char *only_name(const struct place *p)
{
	struct dirent **list;
	int n = scandirat(p->ledger_fd, ".", &list, NULL, alphasort);

	assert_int_equal(n, 3);
	char *name = strdup(list[2]->d_name);	/* "." and ".." come first */
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return name;
}

static void malformed_ones_with_a_right_sum_are_refused(void **state)
{
	static const struct {
		const char *from, *to;
	} edit[] = {
		{ "morph-ledger 1", "morph-ledger 2" },
		{ "morph-ledger 1", "morph-ledger 01" },
		{ "original 5", "original  5" },
		{ "original 5a", "original 5A" },
		{ "original 5", "Original 5" },
		{ "generation a", "generation b" },
		{ "bytes 123", "bytes 0123" },
		{ "bytes 123", "bytes +123" },
		{ "bytes 123 ", "bytes 123" },
		{ "owner 4294967295", "owner 4294967296" },
		{ "owner 4294967295", "owner -1" },
		{ "owner 4294967295", "owner 4294967295 " },
		{ "file 1 2", "file 1 2 3" },
		{ "file 1 2", "file 1" },
		{ "directory 3 4\n", "" },
		{ "path /usr/bin/a b", "path /usr/bin/a" },
		{ "path /usr/bin/a b", "path usr/bin/a b" },
		{ "path /usr/bin/a b", "path /usr/bin/../bin/a b" },
		{ "a b\n", "a b\nmore\n" },
		{ "a b\n", "a b" },
	};
	struct ledger_entry e = entry(), got = { .inode = 5 };
	struct place p = place_new();
	struct err err = { 0 };
	struct sumtext s;

	(void)state;
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	char *name = only_name(&p);
	assert_int_equal(sumtext_read(p.ledger_fd, name, &s, &err), 1);
	*strstr(s.text, "sum ") = '\0';
	for (size_t i = 0; i < sizeof(edit) / sizeof(edit[0]); i++) {
		char text[2 * SUMTEXT_MAX];
		const char *at = strstr(s.text, edit[i].from);

		assert_non_null(at);
		(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - s.text), s.text,
			       edit[i].to, at + strlen(edit[i].from));
		write_summed(p.ledger_fd, name, text);
		if (ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err) != -1)
			fail_msg("'%s' is believed", text);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_int_equal(got.inode, 5);
	}
	write_summed(p.ledger_fd, name, s.text);
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 1);
	free(name);
	place_free(&p);
}

static void damaged_ones_are_refused(void **state)
{
	struct ledger_entry e = entry(), got;
	struct place p = place_new();
	struct err err = { 0 };
	struct stat st;
	unsigned n = 0;

	(void)state;
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	char *name = only_name(&p);
	int fd = openat(p.ledger_fd, name, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at++) {
		char c, other;

		assert_int_equal(pread(fd, &c, 1, at), 1);
		other = c == '0' ? '1' : '0';
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err),
				 -1);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_int_equal(pwrite(fd, &c, 1, at), 1);
	}
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), 1);
	for (off_t size = st.st_size - 1; size >= 0; size--) {
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err),
				 -1);
	}
	assert_int_equal(ledger_each(p.ledger_fd, tell, &n, &err), -1);
	assert_non_null(strstr(err.text, name));
	close(fd);
	/* a link is none, wherever it leads */
	assert_int_equal(unlinkat(p.ledger_fd, name, 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", p.ledger_fd, name), 0);
	assert_int_equal(ledger_find(p.ledger_fd, e.path, &e.generation, &got, &err), -1);
	free(name);
	place_free(&p);
}

static void the_folder_is_ours_alone(void **state)
{
	struct place p = place_new();
	char path[128];
	struct stat st;
	struct err err;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/mine", p.store);
	int fd = private_open(p.store, "mine", &err);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	close(fd);
	assert_int_equal(chmod(path, 0720), 0);
	assert_int_equal(private_open(p.store, "mine", &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(chmod(path, 0702), 0);
	assert_int_equal(private_open(p.store, "mine", &err), -1);
	assert_int_equal(chmod(path, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 0), 0);
		assert_int_equal(private_open(p.store, "mine", &err), -1);
	}
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/", path), 0);
	assert_int_equal(private_open(p.store, "mine", &err), -1);
	place_free(&p);
}

static void what_is_no_file_makes_way(void **state)
{
	static const char *const name[] = { "morph.db", "morph.db-wal", "morph.db-shm",
					    "policy.good" };
	struct place p = place_new();
	char path[128], inner[160];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", p.store, name[i]);
		(void)snprintf(inner, sizeof(inner), "%s/x", path);
		for (int k = 0; k < 2; k++) {		/* again and again */
			assert_int_equal(mkdir(path, 0700), 0);
			assert_int_equal(mkdir(inner, 0700), 0);
			private_make_way(p.store);
			assert_int_equal(lstat(path, &st), -1);
		}
		assert_int_equal(symlink("/etc/passwd", path), 0);
		private_make_way(p.store);
		assert_int_equal(lstat(path, &st), -1);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		close(fd);
		private_make_way(p.store);
		assert_int_equal(lstat(path, &st), 0);
	}
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_found),
		cmocka_unit_test(the_longest_paths_are_told_apart),
		cmocka_unit_test(further_names_are_kept_with_it),
		cmocka_unit_test(all_are_told),
		cmocka_unit_test(malformed_ones_with_a_right_sum_are_refused),
		cmocka_unit_test(damaged_ones_are_refused),
		cmocka_unit_test(the_folder_is_ours_alone),
		cmocka_unit_test(what_is_no_file_makes_way),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
