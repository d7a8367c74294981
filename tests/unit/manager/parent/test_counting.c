/* test_counting.c - whose counters the parent takes, and what it lets alone
 *
 * Processes that only look as if they counted: they have a file mapped, and behind it memory
 * as the start of a counting generation makes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/counting.h"
#include "manager/parent/role.h"

enum { PAGE = 4096, AT = 3 * PAGE, SIZE = 5 * PAGE, NOBODY = 65534 };

static const struct digest generation = { { 42 } };
static char path[] = "/tmp/morph-test-counting.XXXXXX";
static struct counting *counting;
static int go[2];			/* the child ends when it is closed */

static int begin(void **state)
{
	(void)state;
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	int fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, 2 * PAGE) < 0 || fchmod(fd, 0755) < 0 || pipe(go) < 0)
		return -1;
	close(fd);
	counting = counting_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	counting_free(counting);
	close(go[0]);
	return unlink(path);
}

struct looks {				/* of a process, where not as they should be */
	int64_t move, grow;		/* its counters */
	int flags;			/* of mmap(), besides */
	bool forks, secret, named, anew, slow, busy;
	int many;			/* other mappings, in front of the file */
	uid_t uid;
};

/* A file of one's own, with the name that shared memory has in /proc/PID/maps. */
static void map_named(uint8_t *at)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/dev", "tmpfs", 0, NULL) < 0)
		_exit(1);
	int fd = open("/dev/zero", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, SIZE) < 0 || unlink("/dev/zero") < 0)
		_exit(1);
	(void)mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
}

static void map_many(int n)
{
	uint8_t *low = (uint8_t *)((uintptr_t)1 << 28);		/* nothing is mapped there */

	for (int i = 0; i < n; i++, low += 2 * PAGE)
		(void)mmap(low, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0);
}

/* As by execve(): of what it had mapped it has nothing any more. */
static void begin_anew(uint8_t *file, int fd)
{
	uint8_t *at = file + AT;

	(void)usleep(250000);
	(void)munmap(file, AT + SIZE);
	(void)mmap(file, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	(void)mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
		   0);
	at[8] = 27;
}

static void child(const struct looks *l)
{
	char byte;
	map_many(l->many);
	int fd = open(path, O_RDONLY);
	uint8_t *room = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *file = room + 8 * PAGE, *at = file + AT + l->move;
	int flags = (l->flags ? l->flags : MAP_SHARED) | MAP_ANONYMOUS | MAP_FIXED;

	(void)munmap(room, 64 * PAGE);
	(void)mmap(file, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (l->slow)
		(void)usleep(600000);
	if (l->named)
		map_named(at);
	else
		(void)mmap(at, (size_t)(SIZE + l->grow), PROT_READ | PROT_WRITE, flags, -1, 0);
	at[8] = 17;
	at[3 * PAGE] = 18;
	if (l->uid && (setgroups(0, NULL) < 0 || setgid(l->uid) < 0 || setuid(l->uid) < 0))
		_exit(1);
	(void)prctl(PR_SET_DUMPABLE, !l->secret);
	if (l->forks && fork() == 0)
		at[9] = 19;
	if (l->anew)
		begin_anew(file, fd);
	while (l->busy && clock() < CLOCKS_PER_SEC / 10)
		;
	close(go[1]);
	(void)!read(go[0], &byte, 1);
	_exit(0);
}

static pid_t start(const struct looks *l)
{
	pid_t pid = fork();

	if (pid == 0)
		child(l);
	return pid;
}

/* Turns for so many milliseconds, or until something was taken. */
static bool turn_for(uint64_t ms, struct counting_taken *t)
{
	uint64_t until = role_now_ms() + ms;
	struct pollfd p[COUNTING_POLL];

	while (role_now_ms() < until) {
		int wait = counting_poll(counting, p);

		(void)poll(p, COUNTING_POLL, wait < 0 || wait > 20 ? 20 : wait);
		if (counting_step(counting, t))
			return true;
	}
	return false;
}

static void end_child(pid_t pid)
{
	close(go[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void needs_root(void)
{
	if (geteuid() != 0)
		skip();
}

static void watch(void)
{
	struct err err;

	assert_int_equal(counting_watch(counting, path, &generation, AT, SIZE, &err), 0);
}

/* Starts it, gives the parent time to find it, ends it. */
static bool is_taken(const struct looks *l, struct counting_taken *t)
{
	watch();
	pid_t pid = start(l);
	assert_false(turn_for(300, t));		/* not before it has ended */
	end_child(pid);
	return turn_for(300, t);
}

static void counters_of_a_process_that_ended_are_taken(void **state)
{
	struct looks l = { .uid = NOBODY, .busy = true };
	struct counting_taken t;
	uint8_t got[SIZE];

	(void)state;
	needs_root();
	assert_true(is_taken(&l, &t));
	assert_int_equal(t.uid, NOBODY);
	assert_in_range(t.ms, 20, 200);		/* of CPU time: it was there for longer */
	assert_true(digest_equal(&t.generation, &generation));
	assert_int_equal(lseek(t.fd, 0, SEEK_END), SIZE);
	assert_int_equal(pread(t.fd, got, SIZE, 0), SIZE);
	assert_int_equal(got[8], 17);
	assert_int_equal(got[3 * PAGE], 18);
	assert_int_equal(got[2 * PAGE], 0);
	assert_true(fcntl(t.fd, F_GET_SEALS) & F_SEAL_WRITE);
	close(t.fd);
	assert_false(turn_for(100, &t));	/* once */
}

static void other_memory_is_let_alone(void **state)
{
	const struct looks other[] = {
		{ .move = PAGE }, { .move = -PAGE }, { .grow = PAGE }, { .grow = -PAGE },
		{ .flags = MAP_PRIVATE }, { .secret = true, .uid = NOBODY },
		{ .named = true }, { .many = 5000 },
	};
	struct counting_taken t;

	(void)state;
	needs_root();
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		if (i && pipe(go) < 0)
			fail();
		if (is_taken(&other[i], &t))
			fail_msg("of process %zu", i);
	}
}

static void what_forks_share_is_taken_once(void **state)
{
	struct looks l = { .forks = true };
	struct counting_taken t;
	uint8_t got;

	(void)state;
	needs_root();
	assert_true(is_taken(&l, &t));
	assert_int_equal(pread(t.fd, &got, 1, 9), 1);
	assert_int_equal(got, 19);
	close(t.fd);
	assert_false(turn_for(300, &t));
}

static uint8_t counter_of(const struct counting_taken *t)
{
	uint8_t counter;

	assert_int_equal(pread(t->fd, &counter, 1, 8), 1);
	close(t->fd);
	return counter;
}

static void what_executes_it_again_has_two_runs(void **state)
{
	struct looks l = { .anew = true };
	struct counting_taken t;

	(void)state;
	needs_root();
	watch();
	pid_t pid = start(&l);
	assert_true(turn_for(5000, &t));
	assert_int_equal(counter_of(&t), 17);
	assert_false(turn_for(400, &t));
	end_child(pid);
	assert_true(turn_for(1000, &t));
	assert_int_equal(counter_of(&t), 27);
	assert_false(turn_for(300, &t));
}

/* On a busy machine its first instructions have to wait. */
static void what_begins_slowly_is_taken(void **state)
{
	struct looks l = { .slow = true };
	struct counting_taken t;

	(void)state;
	needs_root();
	watch();
	pid_t pid = start(&l);
	assert_false(turn_for(2500, &t));
	end_child(pid);
	assert_true(turn_for(1000, &t));
	assert_int_equal(counter_of(&t), 17);
}

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void nothing_is_watched_after_the_last_one(void **state)
{
	unsigned before = descriptors();
	struct counting_taken t;
	struct err err;

	(void)state;
	close(go[1]);
	before--;
	needs_root();
	watch();
	assert_true(descriptors() > before);
	counting_forget(counting, path);
	assert_false(counting_step(counting, &t));
	assert_int_equal(descriptors(), before);
	assert_int_equal(counting_watch(counting, "/nonexistent", &generation, AT, SIZE, &err),
			 -1);
	assert_false(counting_step(counting, &t));
	assert_int_equal(descriptors(), before);
}

static void of_runs_without_end_a_few_are_taken(void **state)
{
	struct looks l = { 0 };
	struct counting_taken t;
	int taken = 0;

	(void)state;
	needs_root();
	close(go[1]);			/* each ends when it has read that */
	watch();
	for (int i = 0; i < COUNTING_RUNS + 32; i++) {
		if (pipe(go) < 0)
			fail();
		pid_t pid = start(&l);
		bool told = turn_for(60, &t);
		end_child(pid);
		if (told || turn_for(60, &t)) {
			taken++;
			close(t.fd);
		}
		close(go[0]);
	}
	if (pipe(go) < 0)
		fail();
	close(go[1]);
	assert_in_range(taken, 1, COUNTING_RUNS);
}

/* Of many processes, most of which have nothing to do with it. */
static void of_short_runs_each_is_taken(void **state)
{
	enum { OTHERS = 400, RUNS = 20 };
	static pid_t other[OTHERS];
	struct looks l = { .uid = NOBODY };
	struct counting_taken t;
	int taken = 0;

	(void)state;
	needs_root();
	for (int i = 0; i < OTHERS; i++)
		if ((other[i] = fork()) == 0)
			for (;;)
				(void)pause();
	close(go[1]);
	close(go[0]);
	watch();
	for (int i = 0; i < RUNS; i++) {
		if (pipe(go) < 0)
			fail();
		pid_t pid = start(&l);
		bool early = turn_for(100, &t);
		end_child(pid);
		assert_false(early);
		if (turn_for(60, &t)) {
			taken++;
			close(t.fd);
		}
		close(go[0]);
	}
	for (int i = 0; i < OTHERS; i++)
		(void)kill(other[i], SIGKILL);
	for (int i = 0; i < OTHERS; i++)
		(void)waitpid(other[i], NULL, 0);
	if (pipe(go) < 0)
		fail();
	close(go[1]);
	assert_in_range(taken, RUNS * 3 / 4, RUNS);	/* of 100 ms each, on a busy machine */
}

static double cpu_s(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void who_opens_the_file_without_end_does_not_keep_us_busy(void **state)
{
	enum { FOR_MS = 4000 };
	struct counting_taken t;

	(void)state;
	close(go[1]);
	needs_root();
	watch();
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			close(open(path, O_RDONLY));
	double before = cpu_s();
	assert_false(turn_for(FOR_MS, &t));
	double used = cpu_s() - before;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	print_message("%.2f s of CPU time in %d\n", used, FOR_MS / 1000);
	assert_true(used < 0.8);	/* a quarter of a second, and a twentieth */
}

/* Other files, or none: what makes code as it runs has records by the thousand, too. */
static void who_maps_without_end_is_not_heard_without_end(void **state)
{
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	uint64_t end = role_now_ms() + 20000;
	struct pollfd p[COUNTING_POLL];
	struct counting_taken t;

	(void)state;
	close(go[1]);
	needs_root();
	assert_true(code != MAP_FAILED);
	watch();
	(void)counting_poll(counting, p);
	assert_true(p[0].fd >= 0 && p[1].fd >= 0);
	while (p[1].fd >= 0 && role_now_ms() < end) {
		for (int i = 0; i < 200; i++) {
			(void)mprotect(code, PAGE, PROT_READ);
			(void)mprotect(code, PAGE, PROT_READ | PROT_EXEC);
		}
		assert_false(counting_step(counting, &t));
		(void)counting_poll(counting, p);
	}
	(void)munmap(code, PAGE);
	assert_int_equal(p[0].fd, -1);
	assert_int_equal(p[1].fd, -1);
}

static void what_is_forgotten_is_not_taken(void **state)
{
	struct looks l = { 0 };
	struct counting_taken t;

	(void)state;
	needs_root();
	watch();
	pid_t pid = start(&l);
	assert_false(turn_for(300, &t));
	counting_forget(counting, path);
	end_child(pid);
	assert_false(turn_for(300, &t));
}

static void counters_that_cannot_be_are_refused(void **state)
{
	struct err err;

	(void)state;
	close(go[1]);
	assert_int_equal(counting_watch(counting, path, &generation, AT + 1, SIZE, &err), -1);
	assert_int_equal(counting_watch(counting, path, &generation, AT, 0, &err), -1);
	assert_int_equal(counting_watch(counting, path, &generation, AT, 65 << 20, &err), -1);
	assert_int_equal(counting_may_watch(counting, path, AT, 65 << 20, &err), -1);
	assert_non_null(strstr(err.text, "more than"));
	needs_root();
	assert_int_equal(counting_may_watch(counting, path, AT, 64 << 20, &err), 0);
	assert_int_equal(counting_watch(counting, "/nonexistent", &generation, AT, SIZE, &err),
			 -1);
	assert_non_null(strstr(err.text, "/nonexistent"));
}

static void no_more_than_so_many_are_watched(void **state)
{
	char name[64];
	struct err err;
	int n = 0;

	(void)state;
	close(go[1]);
	needs_root();
	for (; n < 100; n++) {
		(void)snprintf(name, sizeof(name), "%s.%d", path, n);
		assert_int_equal(link(path, name), 0);
		int rc = counting_watch(counting, name, &generation, AT, SIZE, &err);
		if (rc < 0)
			break;
	}
	assert_int_equal(n, 16);
	assert_non_null(strstr(err.text, "16 programs are counted already"));
	assert_int_equal(counting_may_watch(counting, name, AT, SIZE, &err), -1);
	(void)snprintf(name, sizeof(name), "%s.%d", path, 3);
	assert_int_equal(counting_may_watch(counting, name, AT, SIZE, &err), 0);
	for (; n >= 0; n--) {
		(void)snprintf(name, sizeof(name), "%s.%d", path, n);
		assert_int_equal(unlink(name), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counters_of_a_process_that_ended_are_taken,
						begin, end),
		cmocka_unit_test_setup_teardown(other_memory_is_let_alone, begin, end),
		cmocka_unit_test_setup_teardown(what_forks_share_is_taken_once, begin, end),
		cmocka_unit_test_setup_teardown(what_executes_it_again_has_two_runs, begin,
						end),
		cmocka_unit_test_setup_teardown(what_begins_slowly_is_taken, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_watched_after_the_last_one, begin,
						end),
		cmocka_unit_test_setup_teardown(of_runs_without_end_a_few_are_taken, begin,
						end),
		cmocka_unit_test_setup_teardown(of_short_runs_each_is_taken, begin, end),
		cmocka_unit_test_setup_teardown(
			who_opens_the_file_without_end_does_not_keep_us_busy, begin, end),
		cmocka_unit_test_setup_teardown(
			who_maps_without_end_is_not_heard_without_end, begin, end),
		cmocka_unit_test_setup_teardown(what_is_forgotten_is_not_taken, begin, end),
		cmocka_unit_test_setup_teardown(counters_that_cannot_be_are_refused, begin,
						end),
		cmocka_unit_test_setup_teardown(no_more_than_so_many_are_watched, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
