/* test_regular.c - what is not a regular file is seen, and not opened (inotify tells) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "manager/parent/program.h"
#include "manager/parent/regular.h"
#include "tests/unit/place.h"

struct fixture {
	struct place p;
	char path[128];
	int watch;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->p = place_new();
	(void)snprintf(f->path, sizeof(f->path), "%s/thing", f->p.dir);
	f->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	*state = f;
	return f->watch < 0 ? -1 : 0;
}

static int unmake(void **state)
{
	struct fixture *f = *state;

	close(f->watch);
	place_free(&f->p);
	free(f);
	return 0;
}

/* Was it opened since the last time? */
static bool opened(struct fixture *f)
{
	struct inotify_event e;
	bool open = false;

	/* they have no names; a watch that goes with its file tells that, too */
	while (read(f->watch, &e, sizeof(e)) == (ssize_t)sizeof(e))
		open |= (e.mask & IN_OPEN) != 0;
	return open;
}

/* All who open files of others go by it; none opens this one. */
static void not_opened(struct fixture *f)
{
	struct install_file file;
	struct stat st;
	struct err err;

	assert_true(inotify_add_watch(f->watch, f->path, IN_OPEN) >= 0);
	assert_int_equal(regular_open(AT_FDCWD, f->path, 0, &st), REGULAR_NOT);
	assert_false(S_ISREG(st.st_mode));
	assert_int_equal(program_open(f->path, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(program_open_elf(f->path, &err), -1);
	(void)install_file_open(f->path, &file, &err);
	assert_int_equal(file.fd, -1);
	install_file_close(&file);
	assert_int_equal(install_check(f->path, NULL, true, NULL, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_false(opened(f));
}

static void a_regular_file_is_opened(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char c;

	assert_true(inotify_add_watch(f->watch, f->p.path, IN_OPEN) >= 0);
	int fd = regular_open(AT_FDCWD, f->p.path, RESOLVE_NO_SYMLINKS, &st);
	assert_true(fd >= 0);
	assert_true(opened(f));
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
}

static void pipes_folders_sockets_and_devices_are_not(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	assert_int_equal(mkfifo(f->path, 0600), 0);
	not_opened(f);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(mkdir(f->path, 0755), 0);
	not_opened(f);
	assert_int_equal(rmdir(f->path), 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(a.sun_path, f->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	not_opened(f);
	close(fd);
	assert_int_equal(unlink(f->path), 0);
	if (mknod(f->path, S_IFCHR | 0600, makedev(1, 5)) < 0)	/* as /dev/zero */
		return;
	not_opened(f);
}

static void links_are_not_followed(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	struct err err;
	char through[128];

	assert_int_equal(symlink(f->p.path, f->path), 0);
	assert_true(inotify_add_watch(f->watch, f->p.path, IN_OPEN) >= 0);
	assert_int_equal(regular_open(AT_FDCWD, f->path, 0, &st), REGULAR_NOT);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(program_open(f->path, &err), -1);
	assert_non_null(strstr(err.text, "symbolic link"));
	(void)snprintf(through, sizeof(through), "%s/dirs", f->p.root);
	assert_int_equal(symlink(f->p.dir, through), 0);
	(void)strcat(through, "/prog");
	assert_int_equal(program_open(through, &err), -1);
	assert_non_null(strstr(err.text, "symbolic link"));
	assert_false(opened(f));
	assert_int_equal(regular_open(AT_FDCWD, "/nonexistent", 0, &st), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		TEST(a_regular_file_is_opened),
		TEST(pipes_folders_sockets_and_devices_are_not),
		TEST(links_are_not_followed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
