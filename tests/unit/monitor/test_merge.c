/* test_merge.c - several rings in one order of time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "lib/secret.h"
#include "lib/wr.h"
#include "monitor/merge.h"
#include "monitor/perf_memory.h"

enum { NRING = 3, SIZE = 1024, NOUT = 4096 };

static const struct perf_format tick = { .user_cx = true };

struct rings {
	uint8_t data[NRING][SIZE];
	uint64_t head[NRING];
	struct merge *merge;
	struct spool_event out[NOUT];
	unsigned nout;
};

static void emit(void *ctx, const struct spool_event *ev)
{
	struct rings *r = ctx;

	assert_true(r->nout < NOUT);
	r->out[r->nout++] = *ev;
}

static void put_bytes(struct rings *r, unsigned i, const void *p, size_t n)
{
	assert_true(r->head[i] + n - merge_tail(r->merge, i) <= SIZE);
	for (size_t k = 0; k < n; k++)
		r->data[i][r->head[i]++ % SIZE] = ((const uint8_t *)p)[k];
}

/* A tick of task `pid` in ring i. */
static void put(struct rings *r, unsigned i, uint64_t time, uint32_t pid)
{
	struct wr w = { 0 };

	wr_u32(&w, PERF_RECORD_SAMPLE);
	wr_u16(&w, 1);
	wr_u16(&w, 48);
	wr_u32(&w, pid);
	wr_u32(&w, pid);
	wr_u64(&w, time);
	wr_u64(&w, PERF_SAMPLE_REGS_ABI_64);
	wr_u64(&w, 1);
	wr_u64(&w, 0x1000 + time);
	put_bytes(r, i, w.p, w.n);
	wr_free(&w);
}

static bool round_of(struct rings *r, bool all)
{
	for (unsigned i = 0; i < NRING; i++) {
		struct perf_ring ring = { r->data[i], SIZE, merge_tail(r->merge, i),
					  r->head[i] };

		merge_look(r->merge, i, &ring);
	}
	return merge_round(r->merge, all, emit, r);
}

static int setup(void **state)
{
	static struct rings r;

	memset(&r, 0, sizeof(r));
	r.merge = merge_new(NRING, &tick);
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	merge_free(((struct rings *)*state)->merge);
	return 0;
}

static void a_round_lets_out_what_the_round_before_has_seen(void **state)
{
	struct rings *r = *state;

	put(r, 0, 10, 1);
	put(r, 1, 20, 1);
	assert_true(round_of(r, false));
	assert_int_equal(r->nout, 0);
	put(r, 0, 30, 1);
	put(r, 2, 15, 1);		/* was being written during the first round */
	assert_true(round_of(r, false));
	assert_int_equal(r->nout, 3);
	assert_int_equal(r->out[0].time_ns, 10);
	assert_int_equal(r->out[1].time_ns, 15);
	assert_int_equal(r->out[2].time_ns, 20);
	assert_false(round_of(r, false));
	assert_int_equal(r->nout, 4);
	assert_int_equal(merge_counts(r->merge)->late, 0);
}

static void the_last_round_holds_nothing_back(void **state)
{
	struct rings *r = *state;

	put(r, 2, 5, 1);
	put(r, 1, 4, 1);
	assert_false(round_of(r, true));
	assert_int_equal(r->nout, 2);
	assert_int_equal(r->out[0].time_ns, 4);
}

static void equal_times_go_by_ring(void **state)
{
	struct rings *r = *state;

	put(r, 2, 5, 2);
	put(r, 0, 5, 0);
	put(r, 1, 5, 1);
	(void)round_of(r, true);
	for (uint32_t i = 0; i < NRING; i++)
		assert_int_equal(r->out[i].pid, i);
}

static void a_late_record_gets_the_last_time(void **state)
{
	struct rings *r = *state;

	put(r, 0, 100, 1);
	(void)round_of(r, true);
	put(r, 1, 50, 2);
	(void)round_of(r, true);
	assert_int_equal(r->out[1].pid, 2);
	assert_int_equal(r->out[1].time_ns, 100);
	assert_int_equal(merge_counts(r->merge)->late, 1);
}

/* Many rounds over rings that wrap, against a plain sort of what went in. */
static void nothing_is_lost_or_disordered_over_many_rounds(void **state)
{
	struct rings *r = *state;
	uint64_t time = 0, n = 0;
	uint32_t seed = 12345;

	for (int round = 0; round < 200; round++) {
		for (int k = 0; k < 8; k++) {
			seed = seed * 1103515245 + 12345;
			time += 1 + (seed >> 16) % 7;
			put(r, (seed >> 24) % NRING, time, (uint32_t)n++);
		}
		(void)round_of(r, false);
	}
	(void)round_of(r, true);
	assert_int_equal(r->nout, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(r->out[i].pid, i);
		assert_int_equal(r->out[i].sample.pc, 0x1000 + r->out[i].time_ns);
	}
	assert_int_equal(merge_counts(r->merge)->malformed, 0);
}

static void unknown_records_are_skipped_and_counted(void **state)
{
	static const uint8_t unknown[32] = { 200, 0, 0, 0, 0, 0, 32, 0 };
	struct rings *r = *state;

	put(r, 0, 1, 1);
	put_bytes(r, 0, unknown, sizeof(unknown));
	put(r, 0, 2, 1);
	(void)round_of(r, true);
	assert_int_equal(r->nout, 2);
	assert_int_equal(merge_counts(r->merge)->unknown, 1);
}

static void a_malformed_ring_is_skipped_to_its_head_and_goes_on(void **state)
{
	static const uint8_t zero[64];
	struct rings *r = *state;

	put(r, 0, 1, 1);
	put_bytes(r, 0, zero, sizeof(zero));
	put(r, 1, 2, 2);
	(void)round_of(r, true);
	assert_int_equal(r->nout, 2);
	assert_int_equal(merge_counts(r->merge)->malformed, 1);
	assert_int_equal(merge_tail(r->merge, 0), r->head[0]);
	put(r, 0, 3, 3);
	(void)round_of(r, true);
	assert_int_equal(r->nout, 3);
	assert_int_equal(r->out[2].pid, 3);
}

static const struct perf_format with_memory = { .user_cx = true,
						.state = true,
						.memory = true };

static const uint64_t ANY_REGISTER = 0x5ec2e7c0de5ec200;

/* A sample with state, or the memory in front of one, with that magic: of task `tid`, with its
 * PC and RSP. */
static void put_state(struct rings *r, uint64_t time, uint32_t tid, uint64_t pc, uint64_t sp,
		      uint64_t memory)
{
	struct wr w = { 0 };

	wr_u32(&w, PERF_RECORD_SAMPLE);
	wr_u16(&w, PERF_RECORD_MISC_USER);
	wr_u16(&w, memory ? 64 : 176);
	wr_u32(&w, 1);
	wr_u32(&w, tid);
	wr_u64(&w, time);
	if (memory) {
		wr_u32(&w, 36);
		wr_u64(&w, memory);
		wr_u64(&w, sp);
		wr_u64(&w, pc);
		wr_u64(&w, 0);
		wr_u32(&w, 0);
	} else {
		wr_u64(&w, PERF_SAMPLE_REGS_ABI_64);
		for (unsigned i = 0; i < 18; i++)
			wr_u64(&w, i == 7 ? sp : i == 8 ? pc : ANY_REGISTER + i);
	}
	put_bytes(r, 0, w.p, w.n);
	wr_free(&w);
}

static void memory_goes_to_the_sample_it_is_of(void **state)
{
	struct rings *r = *state;
	static const struct {
		uint32_t tid;
		uint64_t pc, sp;
		bool given;
	} c[] = {
		{ 7, 0x1000, 0x2000, true }, { 8, 0x1000, 0x2000, false },
		{ 7, 0x1001, 0x2000, false }, { 7, 0x1000, 0x2008, false },
	};

	merge_free(r->merge);
	r->merge = merge_new(NRING, &with_memory);
	for (unsigned i = 0; i < 4; i++) {
		r->nout = 0;
		put_state(r, 10 * i + 1, 7, 0x1000, 0x2000, PERF_MEMORY_MAGIC);
		(void)round_of(r, true);		/* the sample comes a look later */
		put_state(r, 10 * i + 2, c[i].tid, c[i].pc, c[i].sp, 0);
		put_state(r, 10 * i + 3, 7, 0x1000, 0x2000, 0);
		(void)round_of(r, true);
		assert_int_equal(r->nout, 2);
		assert_true(r->out[0].sample.has_state && r->out[1].sample.has_state);
		assert_int_equal(r->out[0].sample.state.memory_bytes, c[i].given ? 8 : 0);
		assert_int_equal(r->out[1].sample.state.memory_bytes, 0);	/* once */
	}
	assert_int_equal(merge_counts(r->merge)->malformed, 0);
}

/* Only of whom the kernel says that it may be told. */
static void a_guarded_state_needs_its_leave(void **state)
{
	struct rings *r = *state;
	struct perf_format guarded = with_memory;
	static const struct {
		uint64_t magic;
		uint32_t tid;
		bool told;
	} c[] = {
		{ PERF_MEMORY_MAGIC, 7, true }, { PERF_PRIVATE_MAGIC, 7, false },
		{ PERF_MEMORY_MAGIC, 8, false }, { 0, 0, false },
	};
	uint64_t private = 0;

	guarded.guarded = true;
	merge_free(r->merge);
	r->merge = merge_new(NRING, &guarded);
	for (unsigned i = 0; i < 4; i++) {
		r->nout = 0;
		if (c[i].magic)
			put_state(r, 10 * i + 1, c[i].tid, 0x1000, 0x2000, c[i].magic);
		put_state(r, 10 * i + 2, 7, 0x1000, 0x2000, 0);
		(void)round_of(r, true);
		assert_int_equal(r->nout, 1);		/* the sample itself is */
		assert_int_equal(r->out[0].sample.has_state, c[i].told);
		private += !c[i].told;
		assert_int_equal(merge_counts(r->merge)->private, private);
	}
}

static void a_rest_leaves_only_memory_whose_sample_may_come(void **state)
{
	struct rings *r = *state;
	const size_t before = secret_held();

	merge_free(r->merge);
	r->merge = merge_new(NRING, &with_memory);
	put_state(r, 1, 7, 0x1000, 0x2000, PERF_MEMORY_MAGIC);
	put_state(r, 2, 7, 0x1000, 0x2000, 0);
	(void)round_of(r, true);
	assert_true(secret_held() > before);
	merge_rest(r->merge);
	assert_int_equal(secret_held(), before);
	put_state(r, 3, 7, 0x1000, 0x2000, PERF_MEMORY_MAGIC);
	(void)round_of(r, true);
	merge_rest(r->merge);
	assert_true(secret_held() > before);		/* for one look more */
	r->nout = 0;
	put_state(r, 4, 7, 0x1000, 0x2000, 0);
	(void)round_of(r, true);
	assert_int_equal(r->out[0].sample.state.memory_bytes, 8);
	put_state(r, 5, 7, 0x1000, 0x2000, PERF_MEMORY_MAGIC);
	(void)round_of(r, true);
	merge_rest(r->merge);
	merge_rest(r->merge);
	assert_int_equal(secret_held(), before);
}

/* In secret memory, which no child inherits and no core file has (lib/secret.h): how often do
 * these eight bytes stand there? */
static unsigned in_secret_memory(uint64_t value)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	uint64_t from = 0, to = 0, lo, hi;
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &lo, &hi) == 2) {
			from = lo;
			to = hi;
		} else if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dc ") &&
			   strstr(line, " dd ")) {
			for (uint64_t at = from; at + 8 <= to; at++)
				n += memcmp((const void *)(uintptr_t)at, &value, 8) == 0;
		}
	}
	(void)fclose(f);
	return n;
}

/* The sample of a private task may come a look later than its word, and another one before. */
static void registers_do_not_wait(void **state)
{
	struct rings *r = *state;
	struct perf_format guarded = with_memory;

	guarded.guarded = true;
	for (int private = 0; private < 2; private++) {
		merge_free(r->merge);
		r->merge = merge_new(NRING, &guarded);
		put_state(r, 1, 8, 0x1000, 0x2000, 0);
		put_state(r, 2, 7, 0x1000, 0x2000,
			  private ? PERF_PRIVATE_MAGIC : PERF_MEMORY_MAGIC);
		(void)round_of(r, true);
		merge_rest(r->merge);
		assert_true(secret_held() > 0);
		assert_int_equal(in_secret_memory(0x2000), 1);	/* it would be found */
		for (unsigned i = 0; i < 18; i++)
			assert_int_equal(in_secret_memory(ANY_REGISTER + i), 0);
	}
}

/* Ticks of two CPUs, 4 ms apart and up to 0.2 ms late, between hits of a timer of 10 kHz. */
static void samples_between_ticks_are_left_out(void **state)
{
	static const struct perf_format apart = { .user_cx = true, .apart_ns = 3750000 };
	struct rings *r = *state;
	unsigned of_cpu[3] = { 0 };

	merge_free(r->merge);
	r->merge = merge_new(NRING, &apart);
	for (uint64_t us = 4000; us < 404000; us += 100) {
		bool is_tick = us % 4000 == 0;

		put(r, 0, 1000 * us + (is_tick ? us % 3 * 10000 : 37000), is_tick ? 1 : 2);
		if (is_tick)
			put(r, 1, 1000 * us + us % 3 * 100000, 1);
		(void)round_of(r, true);
	}
	for (unsigned i = 0; i < r->nout; i++)
		of_cpu[r->out[i].pid]++;
	/* each tick of the CPU without other timers; of the other at most a 15th more */
	assert_true(of_cpu[1] >= 100);
	assert_in_range(r->nout, 200, 207);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* A sampler's record has both in one. */
static void a_private_state_of_the_sampler_is_counted(void **state)
{
	const struct perf_format sampler = { .user_cx = true, .sampler = true, .state = true };
	static struct rings r;
	struct wr w = { 0 };

	(void)state;
	r.merge = merge_new(NRING, &sampler);
	wr_u32(&w, PERF_RECORD_SAMPLE);
	wr_u16(&w, 1);
	wr_u16(&w, 24 + 40 + 8 + 18 * 8);
	wr_u32(&w, 5);
	wr_u32(&w, 6);
	wr_u64(&w, 777);
	wr_u32(&w, 36);
	wr_u64(&w, PERF_PRIVATE_MAGIC);
	wr_u64(&w, 0x7fff0000);
	wr_u64(&w, 0x401000);
	wr_u64(&w, 0);
	wr_u32(&w, 0);
	wr_u64(&w, PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < 18; i++)
		wr_u64(&w, 0x401000);
	put_bytes(&r, 0, w.p, w.n);
	wr_free(&w);
	(void)round_of(&r, true);
	assert_int_equal(r.nout, 1);
	assert_int_equal(r.out[0].sample.pc, 0x401000);
	assert_false(r.out[0].sample.has_state);
	assert_int_equal(merge_counts(r.merge)->private, 1);
	merge_free(r.merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_round_lets_out_what_the_round_before_has_seen),
		TEST(the_last_round_holds_nothing_back),
		TEST(equal_times_go_by_ring),
		TEST(a_late_record_gets_the_last_time),
		TEST(nothing_is_lost_or_disordered_over_many_rounds),
		TEST(unknown_records_are_skipped_and_counted),
		TEST(a_malformed_ring_is_skipped_to_its_head_and_goes_on),
		TEST(memory_goes_to_the_sample_it_is_of),
		TEST(a_guarded_state_needs_its_leave),
		cmocka_unit_test(a_private_state_of_the_sampler_is_counted),
		TEST(a_rest_leaves_only_memory_whose_sample_may_come),
		TEST(registers_do_not_wait),
		TEST(samples_between_ticks_are_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
