/* test_livework.c - generations of running processes as the parent keeps them */
#include "manager/parent/livefiles.h"
#include "tests/unit/manager/parent/livescene.h"

/* What morph-live list says of the fixture's generation in process `pid`. */
static void lists(struct fixture *f, pid_t pid)
{
	char line[256], hex[65];

	digest_hex(&f->e.generation, hex);
	(void)snprintf(line, sizeof(line), "%d 55aa %s/live/%s\n", (int)pid, f->dir, hex);
	says(f, "list", line, 0);
}

static void a_proven_generation_is_mapped_and_entered(void **state)
{
	struct fixture *f = *state;
	struct livebook_entry *e;
	struct err err;
	char path[160], hex[65];
	struct stat st;

	struct livework_result r = map(f);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.said, "done, pause 9 us, tries 1");
	(void)snprintf(path, sizeof(path), "on %d fd:3 fd:4 --pause=5", (int)f->pid);
	assert_true(called(f, path));
	assert_int_equal(entries(f, &e), 1);
	assert_int_equal(e->pid, f->pid);
	assert_true(e->start == f->e.start);
	assert_int_equal(e->owner, getuid());
	assert_true(digest_equal(&e->original, &f->e.original));
	assert_true(digest_equal(&e->generation, &f->e.generation));
	assert_string_equal(e->path, "/usr/bin/perl");
	free(e);
	digest_hex(&f->e.generation, hex);
	(void)snprintf(path, sizeof(path), "%s/live/%s", f->dir, hex);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	int fd = livework_open_file(f->l, &f->e.generation, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_true(livework_knows(f->l, "/usr/bin/perl"));
	assert_false(livework_knows(f->l, "/usr/bin/python3"));
}

static void what_is_not_proven_is_not(void **state)
{
	struct fixture *f = *state;
	struct livebook_entry other = f->e;
	struct err err;

	other.original.b[0]++;
	assert_int_equal(livework_on(f->l, &other, f->generation, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	other = f->e;
	other.generation.b[5]++;
	assert_int_equal(livework_on(f->l, &other, f->generation, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_false(called(f, "room"));
	assert_int_equal(count(f), 0);
	/* what is handed over is another file than the one that was proven */
	is_proven(f, &other, false);
	says(f, "room", "fits\n", 0);
	assert_int_equal(livework_on(f->l, &other, f->generation, &err), 0);
	struct livework_result r = end(f);
	assert_int_equal(r.err.kind, ERR_REFUSED);
	assert_non_null(strstr(r.err.text, "not what was proven"));
	assert_false(called(f, "on "));
	assert_int_equal(count(f), 0);
}

static void a_number_that_is_another_process_now_is_refused(void **state)
{
	struct fixture *f = *state;
	struct livebook_entry other = f->e;
	struct err err;

	other.start--;
	assert_int_equal(livework_on(f->l, &other, f->generation, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	other = f->e;
	other.pid = getpid();		/* ourselves */
	assert_int_equal(livework_on(f->l, &other, f->generation, &err), -1);
	assert_false(called(f, "room"));
}

/* `morphctl try` swaps it in and out, and takes all out that is not its own. */
static void a_process_that_a_command_has_is_left_alone(void **state)
{
	struct fixture *f = *state;
	char folder[160];
	struct err err;

	(void)snprintf(folder, sizeof(folder), "%s/live", f->dir);
	int lock = livefiles_lock(folder, f->pid, &err);
	assert_true(lock >= 0);
	assert_int_equal(livework_on(f->l, &f->e, f->generation, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "another morphctl"));
	assert_false(called(f, "room"));
	close(lock);
	/* and it is left alone by commands meanwhile */
	assert_int_equal(livework_on(f->l, &f->e, f->generation, &err), 0);
	assert_int_equal(livefiles_lock(folder, f->pid, &err), -1);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	lock = livefiles_lock(folder, f->pid, &err);
	assert_true(lock >= 0);
	close(lock);
}

static void where_there_is_room_is_said(void **state)
{
	struct fixture *f = *state;

	says(f, "room", "1f000\n", 0);
	struct livework_result r = map(f);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.said, "at 1f000");
	assert_false(called(f, "on "));
	assert_int_equal(count(f), 0);
}

static void what_is_refused_leaves_no_entry(void **state)
{
	struct fixture *f = *state;

	says(f, "on", "morph-live: process 5: another tracer is there\n", 3);
	struct livework_result r = map(f);
	assert_int_equal(r.err.kind, ERR_REFUSED);
	assert_string_equal(r.err.text, "process 5: another tracer is there");
	assert_int_equal(count(f), 0);
	says(f, "room", "morph-live: process 5: it is stopped\n", 3);
	r = map(f);
	assert_int_equal(r.err.kind, ERR_REFUSED);
	/* but one that ended otherwise may have mapped it */
	says(f, "room", "fits\n", 0);
	says(f, "on", "", 1);
	assert_int_equal(map(f).err.kind, ERR_SYS);
	assert_int_equal(count(f), 1);
}

static void stopping_others_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct err err;
	int i = 0;

	says(f, "room", "1f000\n", 0);
	while (i <= LIVEWORK_BURST + 5 &&
	       livework_on(f->l, &f->e, f->generation, &err) == 0) {
		(void)end(f);
		i++;
	}
	/* so many, and what came back meanwhile */
	assert_in_range(i, LIVEWORK_BURST, LIVEWORK_BURST + 5);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(livework_off(f->l, f->pid, &f->e.generation, &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
}

/* How long that takes is the machine's affair: meanwhile a second brings one more back. */
static void asking_again_and_again_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	int i = 0, n = 0;

	says(f, "off", "morph-live: the right moment did not come\n", 3);
	while (i < 2 * LIVEWORK_OFF_BURST &&
	       livework_off(f->l, f->pid, &f->e.generation, &err) == 0) {
		(void)end(f);
		i++;
	}
	assert_in_range(i, LIVEWORK_OFF_BURST, 2 * LIVEWORK_OFF_BURST - 1);
	assert_int_equal(err.kind, ERR_REFUSED);
	lists(f, f->pid);
	while (n < 3 * LIVEWORK_BURST && livework_list(f->l, &err) == 0) {
		close(end(f).list_fd);
		n++;
	}
	assert_in_range(n, LIVEWORK_BURST, 3 * LIVEWORK_BURST - 1);
	/* later one more */
	(void)poll(NULL, 0, LIVEWORK_OFF_REFILL_MS + 10);
	assert_int_equal(livework_list(f->l, &err), 0);
	close(end(f).list_fd);
	/* what goes with a file that is replaced is not held up by that */
	assert_int_equal(livework_off_path(f->l, f->e.path, &err), 0);
	(void)end(f);
}

static void all_of_a_program_is_taken_out(void **state)
{
	struct fixture *f = *state;
	char off[160], hex[65];
	struct err err;

	(void)map(f);
	lists(f, f->pid);
	assert_int_equal(livework_off_path(f->l, "/usr/bin/other", &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	assert_false(called(f, "off"));
	assert_int_equal(count(f), 1);
	says(f, "off", "morph-live: the right moment did not come\n", 3);
	assert_int_equal(livework_off_path(f->l, "/usr/bin/perl", &err), 0);
	assert_int_equal(end(f).err.kind, ERR_REFUSED);
	assert_int_equal(count(f), 1);			/* it has it still */
	says(f, "off", "done\n", 0);
	assert_int_equal(livework_off_path(f->l, "/usr/bin/perl", &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	digest_hex(&f->e.generation, hex);
	(void)snprintf(off, sizeof(off), "off %d %s/live/%s", (int)f->pid, f->dir, hex);
	assert_true(called(f, off));
	assert_int_equal(count(f), 0);
}

/* Where in `calls` that is; -1: nowhere. */
static long place_of(const struct fixture *f, const char *what)
{
	char path[128], text[8192] = "", *at;

	(void)snprintf(path, sizeof(path), "%s/calls", f->dir);
	FILE *p = fopen(path, "r");
	size_t n = p ? fread(text, 1, sizeof(text) - 1, p) : 0;
	if (p)
		(void)fclose(p);
	text[n] = '\0';
	at = strstr(text, what);
	return at ? at - text : -1;
}

static void forks_come_last(void **state)
{
	struct fixture *f = *state;
	char line[400], hex[65], first[64], second[64];
	struct err err;

	(void)map(f);
	digest_hex(&f->e.generation, hex);
	(void)snprintf(line, sizeof(line), "%d 55aa %s/live/%s\n%d 55aa %s/live/%s\n",
		       (int)getpid(), f->dir, hex, (int)f->pid, f->dir, hex);
	says(f, "list", line, 0);
	assert_int_equal(livework_off_path(f->l, "/usr/bin/perl", &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	(void)snprintf(first, sizeof(first), "off %d ", (int)f->pid);
	(void)snprintf(second, sizeof(second), "off %d ", (int)getpid());
	assert_true(place_of(f, first) > 0);
	assert_true(place_of(f, second) > place_of(f, first));
	/* all: also what nobody has entered */
	digest_hex(&f->e.original, hex);
	(void)snprintf(line, sizeof(line), "%d 55aa %s/live/%s\n", (int)f->pid, f->dir, hex);
	says(f, "list", line, 0);
	assert_int_equal(livework_off_path(f->l, NULL, &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	(void)snprintf(line, sizeof(line), "off %d %s/live/%s", (int)f->pid, f->dir, hex);
	assert_true(place_of(f, line) > 0);
}

static void entries_follow_what_is_mapped(void **state)
{
	struct fixture *f = *state;
	struct livebook_entry *e;
	char text[512], want[512], hex[65], original[65];
	struct err err;

	(void)map(f);
	/* our own process has the same: as a fork would */
	lists(f, getpid());
	assert_int_equal(livework_list(f->l, &err), 0);
	struct livework_result r = end(f);
	assert_int_equal(r.err.kind, ERR_NONE);
	ssize_t n = read(r.list_fd, text, sizeof(text) - 1);
	close(r.list_fd);
	assert_true(n > 0);
	text[n] = '\0';
	assert_int_equal(entries(f, &e), 1);
	assert_int_equal(e->pid, getpid());
	digest_hex(&f->e.generation, hex);
	digest_hex(&f->e.original, original);
	(void)snprintf(want, sizeof(want), "%d %" PRIu64 " %u %s %s /usr/bin/perl\n",
		       (int)getpid(), e->start, (unsigned)getuid(), hex, original);
	assert_string_equal(text, want);
	free(e);
	/* of what is not known, the file alone; what is no line is left out */
	says(f, "list", "", 0);
	assert_int_equal(livework_list(f->l, &err), 0);
	close(end(f).list_fd);
	assert_int_equal(count(f), 0);
	lists(f, f->pid);
	assert_int_equal(livework_list(f->l, &err), 0);
	r = end(f);
	n = read(r.list_fd, text, sizeof(text) - 1);
	close(r.list_fd);
	text[n < 0 ? 0 : n] = '\0';
	(void)snprintf(want, sizeof(want), "%d %" PRIu64 " %u %s\n", (int)f->pid, f->e.start,
		       (unsigned)f->e.owner, hex);
	assert_string_equal(text, want);
	says(f, "list", "5 6\nx\n99999999 1 /etc/passwd\n1 2 /tmp/live/abc\n", 0);
	assert_int_equal(livework_list(f->l, &err), 0);
	r = end(f);
	assert_int_equal(read(r.list_fd, text, sizeof(text)), 0);
	close(r.list_fd);
}

/* Others can make the list as long as they like, by forks and by files that are called so: what
 * was entered is known all the same, and is taken out.  `line` comes `n` times, then the
 * fixture's. */
static void check_known(struct fixture *f, const char *line, uint32_t n)
{
	char off[64], *all = malloc((strlen(line) + 1) * n + 1), *at = all;
	struct err err;

	for (uint32_t i = 0; i < n; i++)
		at += sprintf(at, "%s", line);
	says(f, "list", all, 0);
	free(all);
	assert_int_equal(livework_list(f->l, &err), 0);
	close(end(f).list_fd);
	assert_in_range(count(f), 1, 2);
	assert_true(livework_knows(f->l, "/usr/bin/perl"));
	assert_int_equal(livework_off_path(f->l, "/usr/bin/perl", &err), 0);
	(void)end(f);
	(void)snprintf(off, sizeof(off), "off %d ", (int)f->pid);
	assert_true(called(f, off));
}

static void a_long_list_hides_nothing(void **state)
{
	char line[700], hex[65];
	struct fixture *f = *state;
	struct err err;

	/* many mappings of the same, in a process of others; calls of `off` fail */
	says(f, "off", "morph-live: the right moment did not come\n", 3);
	(void)map(f);
	digest_hex(&f->e.original, hex);
	(void)snprintf(line, sizeof(line), "%d 55aa %s/live/%s\n", (int)getpid(), f->dir, hex);
	check_known(f, line, 5000);
	/* and so many bytes of what is no generation */
	(void)snprintf(line, sizeof(line), "%d 55aa %s/live/%0600d\n", (int)getpid(), f->dir,
		       0);
	check_known(f, line, 2000);
	/* out of the one that is known: of others behind the end it may be the only word */
	says(f, "off", "done\n", 0);
	assert_int_equal(livework_off_path(f->l, "/usr/bin/perl", &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	assert_int_equal(count(f), 1);
}

/* A child that waits. */
static pid_t waits(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)pause();
		_exit(0);
	}
	return pid;
}

static void forks_do_not_fill_the_book(void **state)
{
	enum { FORKS = 20 };
	struct fixture *f = *state;
	char text[8192] = "", hex[65];
	pid_t pid[FORKS];
	struct err err;
	size_t n = 0;

	(void)map(f);
	digest_hex(&f->e.generation, hex);
	for (int i = 0; i < FORKS; i++) {
		pid[i] = waits();
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d 55aa %s/live/%s\n",
				      (int)pid[i], f->dir, hex);
	}
	(void)snprintf(text + n, sizeof(text) - n, "%d 55aa %s/live/%s\n", (int)f->pid, f->dir,
		       hex);
	says(f, "list", text, 0);
	assert_int_equal(livework_list(f->l, &err), 0);
	close(end(f).list_fd);
	assert_int_equal(count(f), 1);
	/* theirs is known when the first one has given it back, or is gone */
	says(f, "off", "morph-live: the right moment did not come\n", 3);
	text[n] = '\0';
	says(f, "list", text, 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(livework_list(f->l, &err), 0);
		close(end(f).list_fd);
		assert_int_equal(count(f), 1);
		assert_true(livework_knows(f->l, "/usr/bin/perl"));
	}
	says(f, "off", "done\n", 0);
	assert_int_equal(livework_off_path(f->l, "/usr/bin/perl", &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	for (int i = 0; i < FORKS; i++) {
		(void)snprintf(text, sizeof(text), "off %d ", (int)pid[i]);
		assert_true(place_of(f, text) > 0);
		(void)kill(pid[i], SIGKILL);
		(void)waitpid(pid[i], NULL, 0);
	}
}

/* Of a fork, say, that nobody has entered: it is mapped, so it may be asked for. */
static void the_file_of_what_is_mapped_stays_as_long(void **state)
{
	static const struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
	struct fixture *f = *state;
	char path[160], hex[65];
	struct stat st;
	struct err err;

	digest_hex(&f->e.generation, hex);
	(void)snprintf(path, sizeof(path), "%s/live/%s", f->dir, hex);
	int fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, old), 0);
	close(fd);
	lists(f, f->pid);
	assert_int_equal(livework_list(f->l, &err), 0);
	close(end(f).list_fd);
	assert_int_equal(count(f), 0);
	assert_int_equal(stat(path, &st), 0);
	says(f, "list", "", 0);
	assert_int_equal(livework_list(f->l, &err), 0);
	close(end(f).list_fd);
	assert_int_equal(stat(path, &st), -1);
}

static void damaged_entries_are_none(void **state)
{
	struct fixture *f = *state;
	struct livebook_entry *e;
	char path[300], hex[65];

	(void)map(f);
	digest_hex(&f->e.generation, hex);
	(void)snprintf(path, sizeof(path), "%s/livebook/%d-%" PRIu64 "-%s", f->dir,
		       (int)f->pid, f->e.start, hex);
	/* whole, but called as if it were of another process */
	char other[320];
	(void)snprintf(other, sizeof(other), "%s/livebook/1-%" PRIu64 "-%s", f->dir,
		       f->e.start, hex);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(entries(f, &e), 0);
	free(e);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(entries(f, &e), 1);
	free(e);
	int fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "x", 1, 40), 1);
	close(fd);
	assert_int_equal(entries(f, &e), 0);
	free(e);
}

static char told[1024];

static void note(const char *text)
{
	assert_true(strlen(told) + strlen(text) + 2 < sizeof(told));
	(void)strcat(strcat(told, text), "\n");
}

/* Since the last time: one line with that, or none (NULL). */
static void is_told(const char *what)
{
	char *end = strchr(told, '\n');

	if (!what && end)
		fail_msg("told: %s", told);
	if (what && (!end || end[1] || !strstr(told, what)))
		fail_msg("not '%s' alone: %s", what, told);
	told[0] = '\0';
}

/* What others' processes get is in the log, and what is only asked for is not. */
static void what_is_done_to_processes_is_told_once(void **state)
{
	struct fixture *f = *state;
	char into[96], out_of[96], text[192];
	struct err err;

	livework_tell(f->l, note);
	(void)snprintf(into, sizeof(into), "of '/usr/bin/perl' into process %d of user %u",
		       (int)f->pid, (unsigned)f->e.owner);
	(void)snprintf(out_of, sizeof(out_of), "out of process %d: done, pause 9 us",
		       (int)f->pid);
	assert_int_equal(map(f).err.kind, ERR_NONE);
	(void)snprintf(text, sizeof(text), "%s: done, pause 9 us, tries 1", into);
	is_told(text);
	lists(f, f->pid);
	assert_int_equal(livework_list(f->l, &err), 0);
	assert_int_equal(end(f).err.kind, ERR_NONE);
	is_told(NULL);
	says(f, "turns", "off 1 ns, on 2 ns\n", 0);
	assert_int_equal(livework_turns(f->l, &f->e, f->generation, 1000, &err), 0);
	(void)end(f);
	(void)snprintf(text, sizeof(text), "%s, in turns: off 1 ns, on 2 ns", into);
	is_told(text);
	assert_int_equal(livework_off(f->l, f->pid, &f->e.generation, &err), 0);
	(void)end(f);
	is_told(out_of);
	is_proven(f, &f->e, true);
	assert_int_equal(livework_count(f->l, &f->e, f->generation, 2000, &err), 0);
	struct livework_result r = end(f);
	close(r.counters_fd);
	(void)snprintf(text, sizeof(text), "%s, to count: counted 2003 ms", into);
	is_told(text);
	is_proven(f, &f->e, false);
	says(f, "room", "1f000\n", 0);
	assert_string_equal(map(f).said, "at 1f000");
	is_told(NULL);
	says(f, "room", "morph-live: process 5: it is stopped\n", 3);
	assert_int_equal(map(f).err.kind, ERR_REFUSED);
	(void)snprintf(text, sizeof(text), "%s: process 5: it is stopped", into);
	is_told(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make, unmake)
		T(a_proven_generation_is_mapped_and_entered),
		T(what_is_not_proven_is_not),
		T(a_number_that_is_another_process_now_is_refused),
		T(a_process_that_a_command_has_is_left_alone),
		T(where_there_is_room_is_said),
		T(what_is_refused_leaves_no_entry),
		T(stopping_others_is_bounded),
		T(asking_again_and_again_is_bounded),
		T(all_of_a_program_is_taken_out),
		T(forks_come_last),
		T(entries_follow_what_is_mapped),
		T(a_long_list_hides_nothing),
		T(forks_do_not_fill_the_book),
		T(the_file_of_what_is_mapped_stays_as_long),
		T(damaged_entries_are_none),
		T(what_is_done_to_processes_is_told_once),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
