/* test_suspend.c - a machine that sleeps: what is a matter of time in which something ran does
 * not notice, what is a matter of the calendar does
 *
 * The clocks are this test's own: asleep, CLOCK_REALTIME and CLOCK_BOOTTIME go on and
 * CLOCK_MONOTONIC, by which samples come, stands still.  The same use of a program is taken in
 * twice, with and without long sleeps between two files and within one; spool, store and the
 * taking in are the real ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "policy/decide.h"
#include "policy/speedtest.h"
#include "tests/unit/spooled.h"

enum { TEXT = 4096, BLOCK = 64, HOURS = 10, MINUTES = 60, DAY_S = 86400 };

static uint64_t mono_s = 50000, wall_s = (uint64_t)20000 * DAY_S;

/* In the place of libc's, for all of Morph in this process. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (clock == CLOCK_MONOTONIC)
		*ts = (struct timespec){ (time_t)mono_s, 0 };
	else if (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)
		*ts = (struct timespec){ (time_t)wall_s, 0 };
	else
		return (int)syscall(SYS_clock_gettime, clock, ts);
	return 0;
}

static void awake(uint64_t s)
{
	mono_s += s;
	wall_s += s;
}

static char program[96];

static int analyze(void *ctx, const char *p, int fd, struct wr *table, struct err *err)
{
	struct blockmap_seg seg = { 0x401000, 0x1000, TEXT };
	struct blocktable_fn fn = { 0x401000, TEXT, 0 };
	struct blocktable_block block[TEXT / BLOCK];
	struct blocktable t = { .base = 0x401000,
				.text_size = TEXT, .nseg = 1, .nfn = 1,
				.nblock = TEXT / BLOCK,
				.seg = &seg, .fn = &fn,
				.block = block };

	(void)ctx;
	(void)p;
	for (uint32_t i = 0; i < TEXT / BLOCK; i++)
		block[i] = (struct blocktable_block){ i * BLOCK, BLOCK, 4, 0 };
	if (digest_fd(fd, &t.original, err) < 0)
		return -1;
	blocktable_write(&t, table);
	return 0;
}

static const struct module_services services = { .open = spooled_open, .analyze = analyze,
						 .allows = spooled_is_ours };

static void put(struct spool_writer *w, struct spool_event *ev)
{
	ev->time_ns = mono_s * 1000000000;
	ev->tid = ev->pid;
	assert_int_equal(spool_write(w, ev, NULL), 0);
}

/* A process that lives for this minute: most of its time in the program, some in the kernel. */
static void put_run(struct spool_writer *w, uint32_t pid)
{
	struct spool_event ev = { .kind = SPOOL_EXEC, .pid = pid, .exec.comm = "program" };

	put(w, &ev);
	ev = spooled_mmap(pid, program, 0x1000, TEXT);
	put(w, &ev);
	for (uint32_t i = 0; i < 60; i++) {
		awake(1);
		ev = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = pid };
		ev.sample.pc = SPOOLED_AT + i % (TEXT / BLOCK) * BLOCK;
		ev.sample.kernel = i % 10 == 0;
		put(w, &ev);
	}
	ev = (struct spool_event){ .kind = SPOOL_EXIT, .pid = pid };
	put(w, &ev);
}

/* One hour of use, with a sleep after half of it. */
static void take_in_an_hour(struct ingest *g, unsigned hour, uint64_t asleep_s)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	char name[32];
	struct err err = { 0 };

	assert_non_null(w);
	for (uint32_t i = 0; i < MINUTES; i++) {
		put_run(w, 1000 + hour * MINUTES + i);
		if (i == MINUTES / 2)
			wall_s += asleep_s;
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	(void)snprintf(name, sizeof(name), "%016x.spool", hour);
	if (ingest_spool_file(g, fd, name, NULL, &err) != 1)
		fail_msg("%s", err.text);
	close(fd);
}

struct outcome {
	double samples, recent, since_s, known_s;
	uint32_t observations;
	float per_run, per_rest;
};

static struct outcome use(const char *name, uint64_t asleep_s)
{
	char path[128];
	struct store_module m;
	struct store_use h;
	struct speedtest p;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	struct store *s = store_open(path, NULL);
	assert_non_null(s);
	struct modules *modules = modules_new(s, &services);
	struct ingest *g = ingest_new(s, modules, NULL);
	ingest_half_life(g, DAY_S / 4.0);
	ingest_observe(g, 3000);
	for (unsigned hour = 0; hour < HOURS; hour++) {
		take_in_an_hour(g, hour, asleep_s);
		wall_s += asleep_s;
	}
	assert_int_equal(store_module_by_path(s, program, &m, NULL), 1);
	assert_int_equal(store_use_get(s, m.id, &h, NULL), 0);
	assert_int_equal(store_speed_get(s, m.id, &p, NULL), 0);
	assert_int_equal(p.nkind, 1);
	struct outcome o = {
		m.samples,
		store_profile_samples(&h.recent),
		decide_since_s(h.begun_ns, store_now_ns()),
		decide_since_s(h.known_ns, store_now_ns()),
		p.kind[0].now.n,
		p.kind[0].now.per_run[0],
		p.kind[0].now.per_rest[0],
	};
	store_profile_free(&h.recent);
	ingest_free(g);
	modules_free(modules);
	store_close(s);
	return o;
}

static void sleep_is_no_time_in_which_anything_ran(void **state)
{
	const uint64_t night_s = 3 * DAY_S;
	struct outcome without = use("without", 0), with = use("with", night_s);

	(void)state;
	/* Ten hours and a half-life of six: the first ones have faded, and sleep has no part
	 * in it. */
	assert_in_range(without.samples, HOURS * MINUTES * 54 / 2,
			HOURS * MINUTES * 54 * 9 / 10);
	assert_true(with.samples == without.samples);
	assert_true(with.recent == without.recent);
	/* An observation of speed for each hour in which the program ran. */
	assert_in_range(without.observations, HOURS - 1, HOURS);
	assert_int_equal(with.observations, without.observations);
	assert_true(with.per_run == without.per_run && with.per_rest == without.per_rest);
	/* Cool-down and budgets are by the calendar. */
	assert_in_range(without.since_s, 3600 * (HOURS - 1), 3600 * HOURS);
	assert_true(fabs(with.since_s - without.since_s - 2.0 * HOURS * night_s) <
		    2.0 * night_s);
	assert_true(fabs(with.known_s - without.known_s - 2.0 * HOURS * night_s) <
		    2.0 * night_s);
}

static int make(void **state)
{
	(void)state;
	strcpy(dir, "/var/tmp/morph-suspend-XXXXXX");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(program, sizeof(program), "%s/program", dir);
	int fd = open(program, O_WRONLY | O_CREAT, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "original", 8), 8);
	return close(fd);
}

static int unmake(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleep_is_no_time_in_which_anything_ran),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make, unmake);
}
