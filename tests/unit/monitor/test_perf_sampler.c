/* test_perf_sampler.c - the program that takes the samples of ticks: on the kernel here, and
 * its records byte for byte
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/wr.h"
#include "monitor/kernelnames.h"
#include "monitor/perf.h"
#include "monitor/perf_impl.h"
#include "monitor/perf_memory.h"
#include "monitor/perf_sampler.h"
#include "tests/unit/descriptors.h"

enum { SPIN_MS = 60, SPINS_MAX = 100, SOME = 5 };

static const struct perf_options as_the_monitor = {
	.clock = MONITOR_CLOCK_TICK, .rate_hz = 1000, .pid = PERF_PID_ALL,
	.state = PERF_STATE_SWITCHED, .stack_bytes = 256, .kernel_pcs = true, .memory = true,
	.guard = true,
};

static struct perf_set *started(const struct perf_options *o)
{
	struct err err = { 0 };
	struct perf_set *set = geteuid() == 0 ? perf_open(o, &err) : NULL;

	if (set && !set->sampler) {
		print_message("%s\n", perf_lacks(set)->note);
		perf_close(set);
		set = NULL;
	}
	if (!set)
		skip();
	if (perf_map(set, &err) < 0 || perf_enable(set, &err) < 0)
		fail_msg("%s", err.text);
	return set;
}

/* What there is of this process in the rings: perf's, and the program's own. */
struct seen {
	unsigned perf, own, kernel, named, states, stateless, bad;
	uint64_t last_ns;		/* in the own ring of a CPU */
	uint64_t pc;
};

static void look_at(struct perf_set *set, unsigned i, struct seen *s)
{
	static uint8_t bounce[PERF_RECORD_BYTES_MAX];
	struct perf_ring ring = perf_ring(set, i);

	s->last_ns = 0;
	for (uint64_t pos = ring.tail; pos < ring.head; ) {
		struct bytes b = perf_ring_record(&ring, pos, bounce);
		struct spool_event e = { 0 };

		assert_non_null(b.p);
		enum perf_outcome got = perf_decode(perf_format(set), b, &e);
		s->bad += got == PERF_UNKNOWN || got == PERF_MALFORMED;
		pos += b.n;
		assert_true(e.time_ns == perf_record_time(perf_format(set), b));
		if (i >= set->ncpu) {
			assert_true(e.time_ns > s->last_ns);
			s->last_ns = e.time_ns;
		}
		if (e.kind != SPOOL_SAMPLE || e.pid != (uint32_t)getpid())
			continue;
		assert_int_equal(e.tid, getpid());
		s->perf += i < set->ncpu;
		s->own += i >= set->ncpu;
		s->kernel += e.sample.kernel;
		s->named += e.sample.kernel && perf_names(set) &&
			    kernelnames_at(perf_names(set), e.sample.kernel_pc);
		s->states += e.sample.has_state && e.sample.state.memory_bytes > 8 &&
			     e.sample.state.stack_bytes == 256;
		s->stateless += got == PERF_STATELESS;
		s->pc = e.sample.pc;
	}
	perf_ring_consumed(set, i, ring.head);
	assert_true(perf_ring(set, i).tail == ring.head);
}

static void look(struct perf_set *set, struct seen *s)
{
	for (unsigned i = 0; i < perf_nring(set); i++)
		look_at(set, i, s);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Nothing but additions, and now and then the time. */
static void spin_in_user_mode(void)
{
	uint64_t end = cpu_ns() + SPIN_MS * UINT64_C(1000000);

	while (cpu_ns() < end)
		for (volatile unsigned i = 0; i < 300000; i++)
			;
}

static void spin_in_kernel(void)
{
	static char zeros[1 << 20];
	uint64_t end = cpu_ns() + SPIN_MS * UINT64_C(1000000);
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (cpu_ns() < end)
		assert_int_equal(read(fd, zeros, sizeof(zeros)), sizeof(zeros));
	close(fd);
}

/* Until `counter`, one of *s, is enough: a virtual CPU's timer may fall behind. */
static void spin_until(struct perf_set *set, void (*spin)(void), const unsigned *counter,
		       struct seen *s)
{
	for (unsigned tries = 0; *counter < SOME && tries < SPINS_MAX; tries++) {
		spin();
		look(set, s);
	}
	assert_true(*counter >= SOME);
	assert_int_equal(s->bad, 0);
}

static void a_tick_in_user_mode_goes_into_the_ring_of_its_own(void **state)
{
	unsigned before = descriptors();
	struct perf_set *set = started(&as_the_monitor);
	struct seen s = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(perf_guards(set) && perf_tells_memory(set));
	if (!perf_sampler_has_rings(set->sampler)) {
		perf_close(set);
		skip();
	}
	assert_int_equal(perf_nring(set), 2 * set->ncpu);
	for (unsigned i = 0; i < perf_nring(set); i++)
		assert_int_equal(perf_ring_fd(set, i) >= 0, i < set->ncpu);
	spin_until(set, spin_in_user_mode, &s.own, &s);
	/* the looks at the time, and faults, may have been met */
	assert_true(s.perf <= s.own / 2 + 1);
	assert_true(s.perf == s.kernel);
	assert_int_equal(s.states, 0);
	assert_true(s.pc != 0);
	assert_int_equal(perf_pause(set, true, &err), 0);
	look(set, &s);
	s = (struct seen){ 0 };
	spin_in_user_mode();
	spin_in_kernel();
	look(set, &s);
	assert_int_equal(s.own + s.perf, 0);
	assert_int_equal(perf_pause(set, false, &err), 0);
	spin_until(set, spin_in_user_mode, &s.own, &s);
	perf_close(set);
	assert_int_equal(descriptors(), before);
}

static void what_has_no_room_there_goes_to_perfs(void **state)
{
	struct perf_set *set = started(&as_the_monitor);
	struct seen s = { 0 };

	(void)state;
	if (!perf_sampler_has_rings(set->sampler)) {
		perf_close(set);
		skip();
	}
	/* in front of its records a ring has its positions, in records */
	enum { HEAD, TAIL, HEAD_BYTES = 64, RECORD_BYTES = 32 };
	for (unsigned i = 0; i < set->ncpu; i++) {
		struct perf_ring r = perf_ring(set, set->ncpu + i);
		uint64_t *word = (uint64_t *)(uintptr_t)(r.data - HEAD_BYTES);

		/* as if nobody had read so many */
		word[TAIL] = word[HEAD] - r.size / RECORD_BYTES;
	}
	for (unsigned tries = 0; s.perf - s.kernel < SOME && tries < SPINS_MAX; tries++) {
		spin_in_user_mode();
		for (unsigned i = 0; i < set->ncpu; i++)
			look_at(set, i, &s);
	}
	assert_true(s.perf - s.kernel >= SOME);
	assert_int_equal(s.bad, 0);
	perf_close(set);
}

static void the_kernel_is_told_by_its_chain(void **state)
{
	struct perf_options nameless = as_the_monitor;
	struct perf_set *set = started(&as_the_monitor);
	struct seen s = { 0 };

	(void)state;
	spin_until(set, spin_in_kernel, &s.named, &s);
	assert_true(s.named >= s.kernel - s.kernel / 4);
	perf_close(set);
	nameless.kernel_pcs = false;
	set = started(&nameless);
	s = (struct seen){ 0 };
	spin_until(set, spin_in_kernel, &s.kernel, &s);
	assert_int_equal(s.named, 0);
	perf_close(set);
}

static void a_state_comes_of_whom_may_be_dumped(void **state)
{
	struct perf_set *set = started(&as_the_monitor);
	struct seen s = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(perf_set_state(set, true, &err), 0);
	spin_until(set, spin_in_user_mode, &s.states, &s);
	assert_int_equal(s.stateless, 0);
	/* what was before the switch */
	s.own = 0;
	s.kernel = 0;
	spin_until(set, spin_in_kernel, &s.kernel, &s);
	assert_int_equal(s.own, 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0);
	look(set, &s);
	s = (struct seen){ 0 };
	spin_until(set, spin_in_user_mode, &s.stateless, &s);
	assert_int_equal(s.states, 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
	assert_int_equal(perf_set_state(set, false, &err), 0);
	look(set, &s);
	s = (struct seen){ 0 };
	bool own = perf_sampler_has_rings(set->sampler);
	spin_until(set, spin_in_user_mode, own ? &s.own : &s.perf, &s);
	assert_int_equal(s.states, 0);
	perf_close(set);
}

/* --- records --- */

static const struct perf_format format = { .user_cx = true, .chain = true, .sampler = true,
					   .state = true, .stack = true,
					   .entry_start = 0xffffffff81000df0,
					   .entry_end = 0xffffffff81000e30 };

static struct bytes ended(struct wr *w)
{
	uint16_t n = (uint16_t)w->n;

	memcpy(w->p + 6, &n, sizeof(n));
	return wr_bytes(w);
}

/* One of a task 5, 6 at 777 with `n` raw words, and four bytes of nothing. */
static struct bytes raw(struct wr *w, const uint64_t *word, uint32_t n)
{
	w->n = 0;
	wr_u32(w, PERF_RECORD_SAMPLE);
	wr_u32(w, PERF_RECORD_MISC_KERNEL);
	wr_u32(w, 5);
	wr_u32(w, 6);
	wr_u64(w, 777);
	wr_u32(w, 8 * n + 4);
	for (uint32_t i = 0; i < n; i++)
		wr_u64(w, word[i]);
	wr_u32(w, 0);
	return ended(w);
}

static void a_record_of_perfs_tells_where_a_tick_was(void **state)
{
	const uint64_t user[] = { PERF_SAMPLER_MAGIC, 0x7ff4b78952ad, 0 };
	const uint64_t kthread[] = { PERF_SAMPLER_MAGIC, 0, 0 };
	const uint64_t nameless[] = { PERF_SAMPLER_MAGIC, 0x7ff4b78952ad, 1 };
	const uint64_t kernel[] = { PERF_SAMPLER_MAGIC, 0x7ff4b78952ad, 1,
				    0xffffffff81328052, 0xffffffff81000e06,
				    0xffffffff81d335f2, 0xffffffff816b82eb };
	const uint64_t other = 0x1234567812345678;
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	assert_int_equal(perf_decode(&format, raw(&w, user, 3), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_SAMPLE);
	assert_true(ev.pid == 5 && ev.tid == 6 && ev.time_ns == 777);
	assert_false(ev.sample.kernel || ev.sample.has_state);
	assert_int_equal(ev.sample.pc, 0x7ff4b78952ad);
	assert_int_equal(perf_decode(&format, raw(&w, kthread, 3), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel && ev.sample.pc == 0);
	assert_int_equal(perf_decode(&format, raw(&w, nameless, 3), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel && ev.sample.kernel_pc == 0);
	assert_int_equal(perf_decode(&format, raw(&w, kernel, 7), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel);
	assert_int_equal(ev.sample.kernel_pc, 0xffffffff81d335f2);
	/* where the program has been on a stack of its own: the chain knows better */
	assert_int_equal(perf_decode(&format, raw(&w, kernel, 5), &ev), PERF_EVENT);
	assert_false(ev.sample.kernel);
	assert_int_equal(ev.sample.kernel_pc, 0);
	/* too short, of nobody known, longer than the record */
	assert_int_equal(perf_decode(&format, raw(&w, user, 2), &ev), PERF_MALFORMED);
	assert_int_equal(perf_decode(&format, raw(&w, &other, 1), &ev), PERF_MALFORMED);
	(void)raw(&w, user, 3);
	w.p[24] = 36;
	assert_int_equal(perf_decode(&format, wr_bytes(&w), &ev), PERF_MALFORMED);
	wr_free(&w);
}

/* The task's memory, none of it there, its registers, and 16 bytes of its stack. */
static struct bytes with_state(struct wr *w, uint64_t magic, uint64_t abi, uint64_t reg_ip)
{
	const uint64_t memory[] = { magic, 0x7fff0000, 0x401000, 0 };

	(void)raw(w, memory, 4);
	wr_u64(w, abi);
	for (uint64_t i = 0; abi && i < 18; i++)
		wr_u64(w, i == 8 ? reg_ip : 0x100 + i);
	wr_u64(w, 16);
	wr_u64(w, 0x1111);
	wr_u64(w, 0x2222);
	wr_u64(w, 8);
	return ended(w);
}

static void a_record_has_a_state_unless_it_is_private(void **state)
{
	const uint64_t abi64 = PERF_SAMPLE_REGS_ABI_64;
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	struct bytes b = with_state(&w, PERF_MEMORY_MAGIC, abi64, 0x401000);
	assert_int_equal(perf_decode(&format, b, &ev), PERF_EVENT);
	assert_true(ev.sample.has_state && !ev.sample.kernel && ev.sample.pc == 0x401000);
	assert_int_equal(ev.sample.state.gpr[0], 0x100);
	assert_int_equal(ev.sample.state.rflags, 0x109);
	assert_int_equal(ev.sample.state.stack_bytes, 8);
	assert_int_equal(ev.sample.state.stack[0], 0x11);
	assert_int_equal(ev.sample.state.memory_bytes, 8);
	b.n -= 8;
	assert_int_equal(perf_decode(&format, b, &ev), PERF_MALFORMED);
	b = with_state(&w, PERF_PRIVATE_MAGIC, abi64, 0x401000);
	assert_int_equal(perf_decode(&format, b, &ev), PERF_STATELESS);
	assert_false(ev.sample.has_state);
	assert_int_equal(ev.sample.pc, 0x401000);
	/* of a program of 32 bits, without registers, of another place */
	b = with_state(&w, PERF_MEMORY_MAGIC, PERF_SAMPLE_REGS_ABI_32, 0x401000);
	assert_int_equal(perf_decode(&format, b, &ev), PERF_EVENT);
	assert_false(ev.sample.has_state);
	b = with_state(&w, PERF_MEMORY_MAGIC, PERF_SAMPLE_REGS_ABI_NONE, 0);
	assert_int_equal(perf_decode(&format, b, &ev), PERF_EVENT);
	assert_false(ev.sample.has_state);
	b = with_state(&w, PERF_MEMORY_MAGIC, abi64, 0x401001);
	assert_int_equal(perf_decode(&format, b, &ev), PERF_EVENT);
	assert_false(ev.sample.has_state);
	wr_free(&w);
}

static void a_record_of_its_own_is_a_sample_in_user_mode(void **state)
{
	struct perf_format other = format;
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	wr_u32(&w, PERF_SAMPLER_RECORD);
	wr_u16(&w, 0);
	wr_u16(&w, 32);
	wr_u64(&w, 0x7ff4b78952ad);
	wr_u32(&w, 6);
	wr_u32(&w, 5);
	wr_u64(&w, 777);
	struct bytes b = wr_bytes(&w);
	assert_int_equal(perf_decode(&format, b, &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_SAMPLE);
	assert_true(ev.pid == 5 && ev.tid == 6 && ev.time_ns == 777);
	assert_true(ev.sample.pc == 0x7ff4b78952ad && !ev.sample.kernel);
	assert_false(ev.sample.has_state || ev.sample.kernel_pc || ev.sample.procedure);
	assert_int_equal(perf_record_time(&format, b), 777);
	other.sampler = false;
	assert_int_equal(perf_decode(&other, b, &ev), PERF_UNKNOWN);
	b.n = 24;
	w.p[6] = 24;
	assert_int_equal(perf_decode(&format, b, &ev), PERF_MALFORMED);
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_in_user_mode_goes_into_the_ring_of_its_own),
		cmocka_unit_test(what_has_no_room_there_goes_to_perfs),
		cmocka_unit_test(the_kernel_is_told_by_its_chain),
		cmocka_unit_test(a_state_comes_of_whom_may_be_dumped),
		cmocka_unit_test(a_record_of_perfs_tells_where_a_tick_was),
		cmocka_unit_test(a_record_has_a_state_unless_it_is_private),
		cmocka_unit_test(a_record_of_its_own_is_a_sample_in_user_mode),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
