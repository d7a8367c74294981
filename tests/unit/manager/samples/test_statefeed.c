/* test_statefeed.c - states go to the Manager in memory and find the samples that they
 * belong to */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/statememory.h"
#include "manager/samples/attribute.h"
#include "manager/samples/statefeed.h"
#include "monitor/spool_format.h"
#include "monitor/statespool.h"

enum { UNIT = 1 << SPOOL_TIME_SHIFT };

/* The i-th: two of a time unit, on tasks of their own. */
static struct spool_event state_sample(uint64_t i)
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE,
				  .time_ns = (10 + i / 2) * UNIT + i,
				  .pid = 100 + (uint32_t)(i % 2),
				  .tid = 100 + (uint32_t)(i % 2) };

	ev.sample.pc = 0x1000 + i;
	ev.sample.has_state = true;
	ev.sample.state.rflags = i;
	ev.sample.state.gpr[3] = 77 * i;
	return ev;
}

/* As the spool on disk would tell it: without state, in whole units of time. */
static struct spool_event plain_sample(uint64_t i)
{
	struct spool_event ev = state_sample(i);

	ev.time_ns = ev.time_ns / UNIT * UNIT;
	ev.sample.has_state = false;
	return ev;
}

static struct statespool *filled(uint64_t n)
{
	struct statespool *s = statespool_new("tick", 4000000, 1 << 20);

	assert_non_null(s);
	for (uint64_t i = 0; i < n; i++) {
		struct spool_event ev = state_sample(i);

		assert_true(statespool_put(s, &ev));
	}
	return s;
}

static void memory_leaves_room_for_samples_without(void **state)
{
	struct statespool *s = statespool_new("tick", 4000000, 1 << 20);
	static uint8_t memory[STATEMEMORY_MAX];
	uint64_t with = 0, n = 0;
	struct spool_event ev;

	(void)state;
	for (bool room = true; room; n += room) {
		ev = state_sample(n);
		ev.sample.state.memory = memory;
		ev.sample.state.memory_bytes = sizeof(memory);
		room = statespool_put(s, &ev);
	}
	assert_int_equal(statespool_states(s), n);
	int fd = statespool_take(s);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(spool_read(r, &ev), 1);
		assert_true(ev.sample.has_state);
		assert_int_equal(ev.sample.state.rflags, i);
		with += ev.sample.state.memory_bytes != 0;
	}
	assert_in_range(with * sizeof(memory), (3 << 20) / 4 - 30000, (3 << 20) / 4 + 30000);
	assert_in_range(n - with, 5000, 50000);
	spool_reader_free(r);
	statespool_free(s);
	close(fd);
}

static void check_match(struct statefeed *f, uint64_t i, bool want)
{
	struct spool_event ev = plain_sample(i);

	statefeed_match(f, &ev);
	assert_int_equal(ev.sample.has_state, want);
	if (!want)
		return;
	assert_int_equal(ev.sample.state.rflags, i);
	assert_int_equal(ev.sample.state.gpr[3], 77 * i);
}

static void states_find_their_samples(void **state)
{
	struct statespool *s = filled(100);

	(void)state;
	struct statefeed *f = statefeed_new(statespool_take(s));
	assert_int_equal(statespool_take(s), -1);	/* they are with the feed now */
	for (uint64_t i = 0; i < 100; i++)
		check_match(f, i, true);
	check_match(f, 100, false);
	assert_int_equal(statefeed_free(f), 0);
	assert_int_equal(statespool_states(s), 100);
	assert_int_equal(statespool_dropped(s), 0);
	statespool_free(s);
}

/* Samples without a state, in the kernel, of other tasks; states whose samples were dropped. */
static void what_does_not_belong_together_is_not_put_together(void **state)
{
	struct statespool *s = filled(100);
	struct statefeed *f = statefeed_new(statespool_take(s));
	struct spool_event ev = plain_sample(0);

	(void)state;
	ev.tid++;
	statefeed_match(f, &ev);
	assert_false(ev.sample.has_state);
	ev = plain_sample(0);
	ev.sample.pc++;
	statefeed_match(f, &ev);
	assert_false(ev.sample.has_state);
	ev = plain_sample(0);
	ev.sample.kernel = true;
	statefeed_match(f, &ev);
	assert_false(ev.sample.has_state);
	check_match(f, 0, true);
	check_match(f, 0, false);			/* once only */
	check_match(f, 1, true);
	check_match(f, 20, true);			/* 2..19 were dropped */
	check_match(f, 19, false);
	check_match(f, 21, true);
	assert_int_equal(statefeed_free(f), 18 + 78);
	statespool_free(s);
}

static void states_of_another_boot_are_not_looked_at(void **state)
{
	static const uint8_t other[16] = { 1 };
	struct statespool *s = filled(4);
	int fd = statespool_take(s);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	uint8_t boot[16];

	(void)state;
	memcpy(boot, spool_reader_boot_id(r), sizeof(boot));
	spool_reader_free(r);
	struct statefeed *f = statefeed_new(fd);
	statefeed_boot(f, other);
	check_match(f, 3, false);
	statefeed_boot(f, boot);
	for (uint64_t i = 0; i < 4; i++)
		check_match(f, i, true);
	assert_int_equal(statefeed_free(f), 0);
	statespool_free(s);
}

static void a_feed_without_states_does_nothing(void **state)
{
	int junk = memfd_create("junk", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(write(junk, "junk", 4), 4);
	for (int i = 0; i < 2; i++) {
		struct statefeed *f = statefeed_new(i ? junk : -1);

		statefeed_boot(f, (const uint8_t *)"0123456789abcdef");
		check_match(f, 0, false);
		assert_int_equal(statefeed_free(f), 0);
	}
	assert_int_equal(fcntl(junk, F_GETFD), -1);	/* it was taken over */
	assert_int_equal(statefeed_free(NULL), 0);
}

static void what_has_no_room_is_dropped_and_counted(void **state)
{
	struct statespool *s = statespool_new("tick", 4000000, 30000);
	struct spool_event ev;
	uint64_t held = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		uint64_t before = held;

		for (uint64_t i = 0; i < 10000; i++) {
			ev = state_sample(i);
			held += statespool_put(s, &ev);
		}
		assert_true(held > before && held < before + 10000);
		assert_int_equal(statespool_states(s), held);
		assert_int_equal(statespool_dropped(s), (uint64_t)(round + 1) * 10000 - held);
		int fd = statespool_take(s);
		assert_true(lseek(fd, 0, SEEK_END) < 30000 + SPOOL_PAYLOAD_MAX + SPOOL_GRID);
		close(fd);
	}
	statespool_free(s);
	statespool_free(NULL);
}

static int nobody(void *ctx, const struct space_file *file, struct attribute_target *out,
		  struct err *err)
{
	(void)ctx;
	(void)out;
	(void)err;
	assert_string_equal(file->path, "/bin/x");
	return 0;
}

/* Through the walk over a spool: half of the samples are in a file, which nobody knows. */
static void samples_of_a_spool_get_their_states(void **state)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	struct statespool *held = filled(6);
	struct spaces *spaces = spaces_new(NULL);
	struct attribute *a = attribute_new(spaces);
	struct spool_event map = { .kind = SPOOL_MMAP, .time_ns = 1, .pid = 100, .tid = 100,
				   .mmap = { .addr = 0x1000, .len = 0x1000, .inode = 5,
					     .path = "/bin/x" } };

	(void)state;
	assert_int_equal(spool_write(w, &map, NULL), 0);
	for (uint64_t i = 0; i < 6; i++) {
		struct spool_event ev = plain_sample(i);

		assert_int_equal(spool_write(w, &ev, NULL), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	struct statefeed *f = statefeed_new(statespool_take(held));
	attribute_states(a, f);
	attribute_spool(a, r);
	assert_int_equal(statefeed_free(f), 0);
	struct attribute_resolver resolver = { .resolve = nobody };
	struct attribution out = { 0 };
	assert_int_equal(attribute_resolve(a, &resolver, &out, NULL), 0);
	assert_int_equal(out.counter[COUNTER_UNKNOWN], 3);
	assert_int_equal(out.counter[COUNTER_NOPROCESS], 3);
	assert_int_equal(out.counter[COUNTER_NOSTATES], 6);
	attribution_free(&out);
	attribute_free(a);
	spaces_free(spaces);
	spool_reader_free(r);
	spool_writer_free(w);
	statespool_free(held);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_leaves_room_for_samples_without),
		cmocka_unit_test(states_find_their_samples),
		cmocka_unit_test(what_does_not_belong_together_is_not_put_together),
		cmocka_unit_test(states_of_another_boot_are_not_looked_at),
		cmocka_unit_test(a_feed_without_states_does_nothing),
		cmocka_unit_test(what_has_no_room_is_dropped_and_counted),
		cmocka_unit_test(samples_of_a_spool_get_their_states),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
