/* test_monitor_lies.c - a Monitor that was taken over, and what it can do to the Manager
 *
 * It has the spool's folder, the descriptor with states, and a few messages.  After each lie
 * the Manager must go on: what is honest behind it is taken in, requests are answered, and
 * nothing that was known is lost.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "lib/wr.h"
#include "manager/store/store_ran.h"
#include "monitor/spool_format.h"
#include "tests/unit/daemon.h"

static const char policy[] = "modules:\n  include: [\"@/*\"]\nidle:\n  check_s: 3600\n";

enum { HONEST = 3 };			/* samples of an honest file */

static void spool_path(const struct daemon *d, unsigned number, char path[128])
{
	(void)snprintf(path, 128, "%s/spool/%016x.spool", d->store, number);
}

/* A spool file with these events, in the folder; its descriptor. */
static int spool(const struct daemon *d, unsigned number, const struct spool_event *ev,
		 unsigned n, uint64_t period_ns)
{
	struct err err = { 0 };
	char path[128];

	spool_path(d, number, path);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", period_ns, &err);
	assert_string_equal(err.text, "");
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(spool_write(w, &ev[i], &err), 0);
	assert_int_equal(spool_flush(w, true, &err), 0);
	spool_writer_free(w);
	return fd;
}

/* The times of its beginning, as nobody would write them. */
static void put_begin(int fd, uint64_t start_ns, uint64_t wall_ns)
{
	uint8_t head[SPOOL_HEADER_BYTES];

	assert_int_equal(pread(fd, head, sizeof(head), 0), sizeof(head));
	memcpy(head + 24, &start_ns, 8);
	memcpy(head + 32, &wall_ns, 8);
	uint32_t crc = spool_crc((struct bytes){ head, sizeof(head) - 4 },
				 (struct bytes){ head, 0 });
	memcpy(head + sizeof(head) - 4, &crc, 4);
	assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
}

static void honest(const struct daemon *d, unsigned number)
{
	struct spool_event ev[HONEST] = { { 0 } };

	for (unsigned i = 0; i < HONEST; i++)
		ev[i] = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = 1, .tid = 1,
					      .time_ns = 1000000 * (i + 1),
					      .sample.kernel = true };
	close(spool(d, number, ev, HONEST, 4000000));
}

static bool is_there(const struct daemon *d, unsigned number)
{
	char path[128];
	struct stat st;

	spool_path(d, number, path);
	return lstat(path, &st) == 0;
}

static uint64_t count_of(const struct daemon *d, enum counter which)
{
	uint64_t n[NCOUNTER];
	struct err err = { 0 };

	if (store_counters(d->m.work.store, n, &err) < 0)
		fail_msg("%s", err.text);
	return n[which];
}

static void take_all(struct daemon *d)
{
	struct work_spool spooled;
	struct err err = { 0 };

	if (work_sync(&d->m.work, &spooled, &err) < 0)
		fail_msg("%s", err.text);
	assert_false(store_is_damaged(d->m.work.store));
}

/* Whatever it was told, the Manager answers, and has nothing that it cannot read again. */
static void answers(struct daemon *d)
{
	static const char *const all[][2] = { { "status" }, { "list" }, { "report" },
					      { "report", "/x" }, { "policy", "show" },
					      { "report", "--by=program" }, { "history" },
					      { "report", "--by=module" }, { "saved" } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int code = -1;

		char *text = daemon_ask(d, geteuid() ? geteuid() : 0, all[i][1] ? 2 : 1,
					all[i], &code);
		assert_true(code >= 0);
		assert_null(strstr(text, "damaged database"));
		free(text);
	}
	assert_false(store_is_damaged(d->m.work.store));
}

/* The next honest file is counted in full, by this Manager and by the one after it. */
static void goes_on(struct daemon *d)
{
	uint64_t before = count_of(d, COUNTER_KERNEL);

	honest(d, 0xffff);
	take_all(d);
	assert_int_equal(count_of(d, COUNTER_KERNEL), before + HONEST);
	assert_false(is_there(d, 0xffff));
	answers(d);
}

static void begin(struct daemon *d)
{
	daemon_open(d, policy);
	honest(d, 1);
	take_all(d);
	assert_int_equal(count_of(d, COUNTER_KERNEL), HONEST);
}

/* --- the folder --- */

static void what_is_no_spool_file_holds_nothing_up(void **state)
{
	static const char *const other[] = { "x.spool", "..spool", "0000000000000002.spool~",
					     "000000000000000G.spool", "\033[2J\n" };
	char path[128], inner[160];
	struct daemon d;

	(void)state;
	begin(&d);
	spool_path(&d, 2, path);		/* a folder that is not empty */
	(void)snprintf(inner, sizeof(inner), "%s/x", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mkdir(inner, 0700), 0);
	spool_path(&d, 3, path);
	assert_int_equal(mkdir(path, 0), 0);
	spool_path(&d, 4, path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	spool_path(&d, 5, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	spool_path(&d, 6, path);
	daemon_write(path, "");
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/spool/%s", d.store, other[i]);
		daemon_write(path, "what");
	}
	goes_on(&d);
	assert_false(is_there(&d, 6));
	goes_on(&d);
	daemon_close(&d);
}

/* It may be sparse, and have a block in every few MiB: that would take days to read. */
static void a_file_larger_than_any_is_not_read(void **state)
{
	struct daemon d;
	char path[128];

	(void)state;
	begin(&d);
	honest(&d, 2);
	spool_path(&d, 2, path);
	assert_int_equal(truncate(path, SPOOL_FILE_MAX + 1), 0);
	honest(&d, 3);
	spool_path(&d, 3, path);
	assert_int_equal(truncate(path, SPOOL_FILE_MAX), 0);
	take_all(&d);
	assert_int_equal(count_of(&d, COUNTER_KERNEL), 2 * HONEST);
	assert_false(is_there(&d, 2));
	goes_on(&d);
	daemon_close(&d);
}

/* As long as the monitor has it open, or a lease on it, it is not complete. */
static void a_file_that_is_held_waits_and_goes_in_later(void **state)
{
	struct daemon d;
	char path[128];

	(void)state;
	begin(&d);
	honest(&d, 2);
	spool_path(&d, 2, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	take_all(&d);
	assert_int_equal(count_of(&d, COUNTER_KERNEL), HONEST);
	answers(&d);
	close(fd);
	take_all(&d);
	assert_int_equal(count_of(&d, COUNTER_KERNEL), 2 * HONEST);
	daemon_close(&d);
}

/* The next monitor, which has to make room, is not held up either. */
static void what_has_no_end_gives_way_unread(void **state)
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = 1, .tid = 1 };
	struct spool_counts c;
	struct daemon d;
	char path[128];

	(void)state;
	begin(&d);
	honest(&d, 2);
	honest(&d, 3);
	spool_path(&d, 3, path);
	assert_int_equal(truncate(path, INT64_C(1) << 42), 0);
	struct spool_writer *w = spool_writer_new(d.m.work.spool_dir, "tick", 4000000,
						  1 << 20, NULL);
	assert_int_equal(spool_write(w, &ev, NULL), 0);
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_counts(w, &c);
	spool_writer_free(w);
	assert_int_equal(c.files_dropped, 2);
	assert_int_equal(c.samples_dropped, HONEST);	/* of the one that was read */
	assert_false(is_there(&d, 3));
	goes_on(&d);
	daemon_close(&d);
}

/* Who writes it may write faster than it is read. */
static void a_file_ends_where_it_ended_at_first(void **state)
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = 1, .tid = 1 };
	int fd = memfd_create("spool", MFD_CLOEXEC), n = 0;
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);

	(void)state;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
	assert_int_equal(spool_flush(w, false, NULL), 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	do {
		assert_int_equal(spool_write(w, &ev, NULL), 0);
		assert_int_equal(spool_flush(w, false, NULL), 0);
	} while (spool_read(r, &ev) && n++ < 10);
	assert_int_equal(n, 1);
	spool_reader_free(r);
	spool_writer_free(w);
	close(fd);
}

/* --- what files say --- */

static struct spool_event mapped(uint32_t pid, const char *path, uint64_t addr, uint64_t len)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid, .tid = pid };

	ev.mmap.addr = addr;
	ev.mmap.len = len;
	ev.mmap.pgoff = len == UINT64_MAX ? UINT64_MAX : 0;
	ev.mmap.dev_major = ev.mmap.dev_minor = UINT32_MAX;
	ev.mmap.inode = ev.mmap.inode_generation = UINT64_MAX;
	ev.mmap.path = path;
	return ev;
}

static void numbers_without_measure_are_only_wrong(void **state)
{
	static const uint64_t extreme[] = { 0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1,
					    UINT64_MAX };
	enum { N = sizeof(extreme) / sizeof(extreme[0]) };
	struct daemon d;

	(void)state;
	begin(&d);
	for (unsigned i = 0; i < N * N; i++) {
		uint64_t x = extreme[i % N], y = extreme[i / N];
		uint32_t pid = (uint32_t)x;
		struct spool_event ev[] = {
			{ .kind = SPOOL_LOST, .time_ns = x, .pid = pid, .lost = x },
			{ .kind = SPOOL_THROTTLE, .time_ns = x, .pid = pid, .lost = y },
			{ .kind = SPOOL_GAP, .time_ns = x, .pid = pid, .lost = x },
			{ .kind = SPOOL_GAP, .time_ns = x, .pid = pid, .lost = y },
			mapped(pid, "/usr/bin/x", x, y),
			mapped(7, "/usr/bin/y", 0x1000, 0x1000),
			{ .kind = SPOOL_SAMPLE, .time_ns = y, .pid = pid, .sample.pc = x },
			{ .kind = SPOOL_SAMPLE, .time_ns = y, .pid = 7, .sample.pc = 0x1800 },
			{ .kind = SPOOL_CRASH, .time_ns = y, .pid = 7,
			  .crash = { x, (uint32_t)y, (uint32_t)x } },
			{ .kind = SPOOL_EXIT, .time_ns = y, .pid = 7, .tid = 7 },
		};
		int fd = spool(&d, 2 + i, ev, sizeof(ev) / sizeof(ev[0]), x);

		put_begin(fd, x, y);
		close(fd);
	}
	goes_on(&d);
	daemon_close(&d);
}

/* Its code is asked of the parent, by a number that no process has. */
static void code_of_no_process_is_not_asked_for(void **state)
{
	static const uint32_t pid[] = { UINT32_MAX, (uint32_t)INT32_MAX + 1, INT32_MAX };
	enum { SAMPLES = 4000 };
	static struct spool_event ev[3 * (SAMPLES + 2)];
	char program[96];
	unsigned n = 0;
	struct daemon d;

	(void)state;
	begin(&d);
	(void)snprintf(program, sizeof(program), "%s/x", d.dir);
	for (int i = 0; i < 3; i++) {
		ev[n++] = mapped(pid[i], program, 0x1000, 0x1000);
		ev[n] = mapped(pid[i], "//anon", 0x10000, 0x10000);
		ev[n++].mmap.inode = 0;
		for (int k = 0; k < SAMPLES; k++) {
			ev[n] = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = pid[i],
						      .tid = pid[i] };
			ev[n++].sample.pc = 0x10000 + 16;
		}
	}
	int fd = spool(&d, 2, ev, n, 4000000);
	put_begin(fd, 0, UINT64_MAX);
	close(fd);
	take_all(&d);
	assert_int_equal(count_of(&d, COUNTER_ANON), 3 * SAMPLES);
	goes_on(&d);
	daemon_close(&d);
}

static bool is_of_the_past(void *ctx, const struct store_ran *r)
{
	*(unsigned *)ctx += 1;
	assert_true(r->end_ns <= store_now_ns() + UINT64_C(3600000000000));
	return true;
}

/* Rows of hours to come would stay for ever: what is old becomes coarser. */
static void samples_of_the_future_are_of_now(void **state)
{
	enum { HOURS = 1000 };
	static struct spool_event ev[HOURS];
	struct daemon d;

	(void)state;
	begin(&d);
	for (unsigned i = 0; i < HOURS; i++)
		ev[i] = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = 1, .tid = 1,
					      .time_ns = i * UINT64_C(7200000000000),
					      .sample.kernel = true };
	int fd = spool(&d, 2, ev, HOURS, 4000000);
	put_begin(fd, 0, store_now_ns() + UINT64_C(7200000000000));
	close(fd);
	take_all(&d);
	unsigned n = 0;
	struct store_ran_span all = { 0, 0, true };
	struct err err = { 0 };
	assert_int_equal(store_ran_each(d.m.work.store, &all, is_of_the_past, &n, &err), 0);
	assert_in_range(n, 1, 4);
	goes_on(&d);
	daemon_close(&d);
}

static void paths_are_only_paths(void **state)
{
	static char longest[PATH_MAX + 1], slashes[PATH_MAX + 1];	/* cut by one */
	static const char *const path[] = { "", "/", "relative", "/a\nb\033[2J", "//anon",
					    "/proc/1/mem", "/dev/null", "/etc/shadow",
					    "/x/../../etc/shadow", "\377\376", longest,
					    slashes };
	struct spool_event ev[2 * sizeof(path) / sizeof(path[0])];
	unsigned n = 0;
	struct daemon d;

	(void)state;
	begin(&d);
	memset(longest, 'x', PATH_MAX);
	longest[0] = '/';
	memset(slashes, '/', PATH_MAX);
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		uint32_t pid = 9 + (uint32_t)i;		/* it is its program */

		ev[n++] = mapped(pid, path[i], 0x10000, 0x10000);
		ev[n] = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = pid, .tid = pid };
		ev[n++].sample.pc = 0x10000 + 16;
	}
	close(spool(&d, 2, ev, n, 4000000));
	goes_on(&d);
	assert_false(is_there(&d, 2));
	daemon_close(&d);
}

/* --- the descriptor with states --- */

/* A file with one state, which belongs to no sample. */
static int one_state(const struct daemon *d)
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = 5, .tid = 5 };
	char path[128];

	ev.sample.has_state = true;
	int fd = spool(d, 2, &ev, 1, 4000000);
	spool_path(d, 2, path);
	assert_int_equal(unlink(path), 0);
	return fd;
}

static void states_are_a_small_file(void **state)
{
	struct daemon d;

	(void)state;
	begin(&d);
	d.states = one_state(&d);
	take_all(&d);
	assert_int_equal(count_of(&d, COUNTER_NOSTATES), 1);
	assert_int_equal(ftruncate(d.states, SPOOL_FILE_MAX + 1), 0);
	take_all(&d);
	assert_int_equal(count_of(&d, COUNTER_NOSTATES), 1);	/* not read */
	goes_on(&d);
	close(d.states);
	daemon_close(&d);
}

static void states_of_other_files_are_none(void **state)
{
	static const char *const path[] = { "/proc/self/status", "/proc/self/mem",
					    "/etc/passwd" };
	struct daemon d;

	(void)state;
	begin(&d);
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		d.states = open(path[i], O_RDONLY | O_CLOEXEC);
		goes_on(&d);
		close(d.states);
	}
	d.states = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	goes_on(&d);
	close(d.states);
	d.states = open("/etc/passwd", O_PATH | O_CLOEXEC);
	goes_on(&d);
	close(d.states);
	daemon_close(&d);
}

/* --- messages --- */

static void what_it_tells_is_only_shown(void **state)
{
	static const char bad[] = "\033[2J\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\377\t\r";
	struct msg counts = { .type = MSG_COUNTS }, lacks = { .type = MSG_LACKS };
	struct msg crashed = { .type = MSG_CRASHED_TOLD };
	static const char *const status[] = { "status" };
	struct daemon d;
	int code;

	(void)state;
	begin(&d);
	for (int i = 0; i < MSG_MAX_NUM; i++)
		counts.num[i] = UINT64_MAX;
	counts.num[MSG_COUNTS_paused] = counts.num[MSG_COUNTS_registers] = 1;
	counts.num[MSG_COUNTS_branches_hz] = 1000;
	strcpy(lacks.text, bad);
	d.sync_error = bad;
	assert_int_equal(msg_send(d.parent, &counts, NULL), 0);
	assert_int_equal(msg_send(d.parent, &lacks, NULL), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(msg_send(d.parent, &crashed, NULL), 0);
	char *text = daemon_ask(&d, geteuid() ? geteuid() : 0, 1, status, &code);
	free(text);
	assert_true(code >= 0);
	goes_on(&d);
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_spool_file_holds_nothing_up),
		cmocka_unit_test(a_file_larger_than_any_is_not_read),
		cmocka_unit_test(a_file_that_is_held_waits_and_goes_in_later),
		cmocka_unit_test(what_has_no_end_gives_way_unread),
		cmocka_unit_test(a_file_ends_where_it_ended_at_first),
		cmocka_unit_test(numbers_without_measure_are_only_wrong),
		cmocka_unit_test(code_of_no_process_is_not_asked_for),
		cmocka_unit_test(samples_of_the_future_are_of_now),
		cmocka_unit_test(paths_are_only_paths),
		cmocka_unit_test(states_are_a_small_file),
		cmocka_unit_test(states_of_other_files_are_none),
		cmocka_unit_test(what_it_tells_is_only_shown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
