/* test_livefiles.c - a process is one command's at a time; files go when nobody needs them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "manager/parent/livefiles.h"
#include "tests/unit/place.h"

static struct place p;
static char folder[128];

static int set_up(void **state)
{
	struct err err;

	(void)state;
	p = place_new();
	return livefiles_open(p.store, folder, sizeof(folder), &err);
}

static int tear_down(void **state)
{
	(void)state;
	place_free(&p);
	return 0;
}

/* A file there; its name is that digit, 64 times. */
static void name_of(char digit, char path[256])
{
	char name[65];

	memset(name, digit, 64);
	name[64] = '\0';
	(void)snprintf(path, 256, "%s/%s", folder, name);
}

static void make(char digit)
{
	char path[256];

	name_of(digit, path);
	write_file(path, "generation", 0600);
}

static bool is_there(char digit)
{
	char path[256];

	name_of(digit, path);
	return access(path, F_OK) == 0;
}

static int use(char digit)
{
	char path[256];

	name_of(digit, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(livefiles_use(fd));
	return fd;
}

static void a_store_that_is_not_there_is_made(void **state)
{
	char store[128], path[160];
	struct err err;
	struct stat st;

	(void)state;
	(void)snprintf(store, sizeof(store), "%s/new", p.dir);
	for (int i = 0; i < 2; i++)
		assert_int_equal(livefiles_open(store, path, sizeof(path), &err), 0);
	assert_int_equal(stat(store, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_string_equal(path + strlen(store), "/live");
}

static void what_others_can_write_is_refused(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(livefiles_open(p.store, folder, sizeof(folder), &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(chmod(p.store, 0777), 0);
	assert_int_equal(livefiles_open(p.store, folder, sizeof(folder), &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	/* as the daemon has it */
	assert_int_equal(chmod(p.store, 01770), 0);
	assert_int_equal(livefiles_open(p.store, folder, sizeof(folder), &err), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(p.store, 1, 1), 0);
		assert_int_equal(livefiles_open(p.store, folder, sizeof(folder), &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
	}
}

/* Until its end, however that comes. */
static pid_t holder(pid_t of, char digit)
{
	int ready[2];
	struct err err;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		bool has = of ? livefiles_lock(folder, of, &err) >= 0 : use(digit) >= 0;

		(void)!write(ready[1], has ? "y" : "n", 1);
		for (;;)
			(void)pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	assert_int_equal(c, 'y');
	return pid;
}

static void kill_holder(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_process_is_one_command_s_at_a_time(void **state)
{
	struct err err;

	(void)state;
	pid_t first = holder(4711, 0);
	assert_int_equal(livefiles_lock(folder, 4711, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "process 4711"));
	int other = livefiles_lock(folder, 4712, &err);
	assert_true(other >= 0);
	kill_holder(first);
	int fd = livefiles_lock(folder, 4711, &err);
	assert_true(fd >= 0);
	close(fd);
	close(other);
}

static void what_nobody_needs_goes(void **state)
{
	char path[256], lock[160];
	struct err err;

	(void)state;
	make('1');
	(void)snprintf(path, sizeof(path), "%s/new.12", folder);
	write_file(path, "a part", 0600);
	(void)snprintf(lock, sizeof(lock), "%s/lock", folder);
	close(livefiles_lock(folder, 1, &err));
	livefiles_sweep(p.store);
	assert_false(is_there('1'));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(lock, F_OK), 0);
	/* nor is it an error where nothing ever was */
	livefiles_sweep(p.dir);
}

static void what_is_used_stays(void **state)
{
	(void)state;
	make('2');
	pid_t user = holder(0, '2');
	livefiles_sweep(p.store);
	assert_true(is_there('2'));
	int fd = use('2');
	assert_false(livefiles_unused(fd));
	kill_holder(user);
	assert_true(livefiles_unused(fd));
	livefiles_sweep(p.store);
	assert_true(is_there('2'));
	close(fd);
	livefiles_sweep(p.store);
	assert_false(is_there('2'));
}

static void what_is_gone_is_not_used(void **state)
{
	char path[256];

	(void)state;
	make('3');
	name_of('3', path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_false(livefiles_use(fd));
	close(fd);
}

/* By its lock, and also where there is none. */
static void is_mapped(bool locked)
{
	char path[256];

	make('4');
	name_of('4', path);
	int fd = locked ? use('4') : open(path, O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	livefiles_sweep(p.store);
	assert_true(is_there('4'));
	assert_int_equal(munmap(map, 1), 0);
	livefiles_sweep(p.store);
	assert_false(is_there('4'));
}

static void what_is_mapped_stays(void **state)
{
	(void)state;
	is_mapped(true);
	is_mapped(false);
}

static void what_the_livebook_has_stays(void **state)
{
	char book[160], path[256], name[256];

	(void)state;
	make('5');
	name_of('5', name);
	(void)snprintf(book, sizeof(book), "%s/livebook", p.store);
	assert_int_equal(mkdir(book, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/12-3456-%s", book, strrchr(name, '/') + 1);
	write_file(path, "", 0600);
	livefiles_sweep(p.store);
	assert_true(is_there('5'));
	assert_int_equal(unlink(path), 0);
	livefiles_sweep(p.store);
	assert_false(is_there('5'));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_store_that_is_not_there_is_made),
		T(what_others_can_write_is_refused),
		T(a_process_is_one_command_s_at_a_time),
		T(what_nobody_needs_goes),
		T(what_is_used_stays),
		T(what_is_gone_is_not_used),
		T(what_is_mapped_stays),
		T(what_the_livebook_has_stays),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
