/* test_io.c - whole files and pipes are read and written, and no more than the caller allows */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"

enum { LARGE = (1 << 20) + 12345 };	/* more than one piece, and not a multiple of it */

static uint8_t *some_bytes(void)
{
	uint8_t *p = malloc(LARGE);

	assert_non_null(p);
	for (uint32_t i = 0; i < LARGE; i++)
		p[i] = (uint8_t)(i * 2654435761u >> 24);
	return p;
}

/* The end of a pipe to read from; a child writes `n` bytes into the other. */
static int pipe_with(const uint8_t *p, size_t n)
{
	int end[2];

	assert_int_equal(pipe(end), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(end[0]);
		_exit(io_write_all(end[1], p, n, NULL) < 0);
	}
	close(end[1]);
	return end[0];
}

static void what_was_written_is_read(void **state)
{
	uint8_t *p = some_bytes();
	struct arena *a = arena_new();
	struct bytes b;
	struct err err;
	int fd = memfd_create("test_io", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, p, LARGE, &err), 0);
	assert_int_equal(io_read_all(fd, LARGE, a, &b, &err), 0);
	assert_int_equal(b.n, LARGE);
	assert_memory_equal(b.p, p, LARGE);
	close(fd);

	fd = pipe_with(p, LARGE);
	assert_int_equal(io_read_all(fd, LARGE, a, &b, &err), 0);
	assert_int_equal(b.n, LARGE);
	assert_memory_equal(b.p, p, LARGE);
	close(fd);
	int status;
	assert_true(wait(&status) > 0 && status == 0);
	arena_free(a);
	free(p);
}

static void more_than_is_allowed_is_an_error(void **state)
{
	uint8_t *p = some_bytes();
	static const size_t size[] = { 11, 70000 };
	struct arena *a = arena_new();
	struct bytes b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct err err;
		int fd = memfd_create("test_io", MFD_CLOEXEC), from = pipe_with(p, size[i]);

		assert_int_equal(io_write_all(fd, p, size[i], &err), 0);
		assert_int_equal(io_read_all(fd, size[i] - 1, a, &b, &err), -1);
		assert_non_null(strstr(err.text, "larger than"));
		assert_int_equal(io_read_all(from, size[i] - 1, a, &b, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
		close(fd);
		close(from);
		wait(NULL);
	}
	arena_free(a);
	free(p);
}

static void a_failed_write_says_why(void **state)
{
	struct err err;
	int full = io_open_write("/dev/full", &err);

	(void)state;
	assert_true(full >= 0);
	assert_int_equal(io_write_all(full, "x", 1, &err), -1);
	assert_string_equal(err.text, "write: No space left on device");
	close(full);
}

static void arguments_name_descriptors_or_paths(void **state)
{
	char path[] = "/tmp/morph-test-io.XXXXXX", arg[32];
	struct err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	snprintf(arg, sizeof(arg), "fd:%d", fd);
	assert_int_equal(io_open_read(arg, &err), fd);
	assert_int_equal(io_open_write(arg, &err), fd);
	assert_int_equal(io_write_all(fd, "abc", 3, &err), 0);
	int again = io_open_read(path, &err);
	assert_true(again >= 0 && again != fd);
	close(again);
	close(fd);
	static const char *const wrong[] = {
		"fd:", "fd:x", "fd:-1", "fd:1x", "fd:99999999999"
	};
	for (int i = 0; i < 5; i++) {
		assert_int_equal(io_open_read(wrong[i], &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
	}
	assert_int_equal(io_open_read(arg, &err), -1);		/* closed */
	unlink(path);
	assert_int_equal(io_open_read(path, &err), -1);
	assert_non_null(strstr(err.text, path));
}

static struct bytes text_of(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static void a_written_file_has_nothing_of_before(void **state)
{
	char path[] = "/tmp/morph-io.XXXXXX", got[16] = "";
	int fd = mkstemp(path);
	struct err err;

	(void)state;
	assert_int_equal(write(fd, "long before", 11), 11);
	assert_int_equal(close(fd), 0);
	assert_int_equal(io_write_file(path, 0600, text_of("now"), &err), 0);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, got, sizeof(got), 0), 3);
	assert_string_equal(got, "now");
	close(fd);
	unlink(path);
	assert_int_equal(io_write_file("/dev/full", 0600, text_of("x"), &err), -1);
	assert_string_equal(err.text, "'/dev/full': write: No space left on device");
	assert_int_equal(io_write_file("/no/where", 0600, text_of("x"), &err), -1);
	assert_string_equal(err.text, "'/no/where': create: No such file or directory");
}

static void a_memory_file_is_read_from_its_start(void **state)
{
	char got[16] = "";
	struct err err;
	int fd = io_memory_file(text_of("text"), &err);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got)), 4);
	assert_string_equal(got, "text");
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
	char dir[] = "/tmp/morph-io.XXXXXX", path[64], new[80], got[16] = "";
	struct err err;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/f", dir);
	(void)snprintf(new, sizeof(new), "%s.new", path);
	mode_t mask = umask(077);
	assert_int_equal(io_replace(path, 0644, text_of("first"), &err), 0);
	assert_int_equal(io_replace(path, 0644, text_of("second"), &err), 0);
	(void)umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	/* where it cannot be written the former one stays */
	assert_int_equal(mkdir(new, 0700), 0);
	assert_int_equal(io_replace(path, 0644, text_of("third"), &err), -1);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(rmdir(new), 0);
	/* nor does half of it stay: what is there cannot be replaced by a file */
	assert_int_equal(io_replace(dir, 0600, text_of("x"), &err), -1);
	char half[64];
	(void)snprintf(half, sizeof(half), "%s.new", dir);
	assert_int_equal(stat(half, &st), -1);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(got, 1, sizeof(got) - 1, f), 6);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(got, "second");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void an_output_is_whole_or_what_was_there(void **state)
{
	char dir[] = "/tmp/morph-io.XXXXXX", path[64], none[80], got[16] = "";
	struct err err;
	struct stat st;
	int end[2];

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/f", dir);
	mode_t mask = umask(027);
	assert_int_equal(io_write_file(path, 0666, text_of("first"), &err), 0);
	(void)umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(io_write_file(path, 0666, text_of("second"), &err), 0);
	/* where nothing more can be written the former one stays, alone */
	struct rlimit was, none_at_all;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	none_at_all = (struct rlimit){ 0, was.rlim_max };
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none_at_all), 0);
	assert_int_equal(io_write_file(path, 0666, text_of("third"), &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	(void)signal(SIGXFSZ, handler);
	assert_non_null(strstr(err.text, path));
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(got, 1, sizeof(got) - 1, f), 6);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(got, "second");
	(void)snprintf(none, sizeof(none), "%s/none/f", dir);
	assert_int_equal(io_write_file(none, 0666, text_of("x"), &err), -1);
	assert_non_null(strstr(err.text, none));
	/* a pipe is written to, and stays one */
	assert_int_equal(pipe(end), 0);
	(void)snprintf(none, sizeof(none), "/proc/self/fd/%d", end[1]);
	assert_int_equal(io_write_file(none, 0666, text_of("piped"), &err), 0);
	assert_int_equal(read(end[0], got, sizeof(got)), 5);
	close(end[0]);
	close(end[1]);
	/* where a link leads is where it is written: /dev/stdout is one */
	(void)snprintf(none, sizeof(none), "%s/link", dir);
	assert_int_equal(symlink("f", none), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(io_write_file(none, 0666, text_of("linked"), &err), 0);
	assert_int_equal(lstat(none, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 6);
	assert_int_equal(st.st_mode & 07777, 0600);	/* and it is as open as it was */
	assert_int_equal(unlink(none), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);	/* nothing else is in it */
}

static void what_cannot_be_written_is_known_before(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(io_output_check("/tmp/morph-io-new", &err), 0);
	assert_int_equal(io_output_check("/dev/null", &err), 0);
	assert_int_equal(io_output_check("-", &err), 0);
	assert_int_equal(io_output_check("new", &err), access(".", W_OK));
	assert_int_equal(io_output_check("/tmp", &err), -1);
	assert_non_null(strstr(err.text, "Is a directory"));
	assert_int_equal(io_output_check("/tmp/morph-io-none/f", &err), -1);
	assert_non_null(strstr(err.text, "/tmp/morph-io-none/f"));
	assert_int_equal(io_output_check("", &err), -1);
	assert_int_equal(io_write_file("", 0666, text_of("x"), &err), -1);
	assert_non_null(strstr(err.text, "no name of a file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_written_file_has_nothing_of_before),
		cmocka_unit_test(a_memory_file_is_read_from_its_start),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
		cmocka_unit_test(an_output_is_whole_or_what_was_there),
		cmocka_unit_test(what_cannot_be_written_is_known_before),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(more_than_is_allowed_is_an_error),
		cmocka_unit_test(a_failed_write_says_why),
		cmocka_unit_test(arguments_name_descriptors_or_paths),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
