/* test_perf_decode.c - records of a perf ring, byte for byte as the kernel wrote them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>

#include "lib/wr.h"
#include "lib/statememory.h"
#include "monitor/perf_decode.h"
#include "monitor/perf_crash.h"
#include "monitor/perf_memory.h"

static const struct perf_format tick = { .ip = false, .user_cx = true };
static const struct perf_format timer = { .ip = true, .user_cx = false };

static uint8_t bounce[PERF_RECORD_BYTES_MAX];

/* Recorded on Linux 6.18: a tick in user mode, one in a read(2), one in a kernel thread. */
static const uint8_t tick_user[] = {
	9,    0,    0,	  0,	1,    0,    48,	  0,	0xd7, 0x1c, 0,	  0,
	0xd8, 0x1c, 0,	  0,	0x00, 0x10, 0x5e, 0x6c, 0x83, 0x03, 0,	  0,
	2,    0,    0,	  0,	0,    0,    0,	  0,	0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0x7f, 0x50, 0x1a, 0x77, 0x0a, 0x45, 0x56, 0,	  0,
};
static const uint8_t tick_syscall[] = {
	9, 0, 0, 0, 1, 0, 48, 0, 0xd6, 0x1c, 0, 0, 0xd6, 0x1c, 0, 0,
	0x00, 0x20, 0x5e, 0x6c, 0x83, 0x03, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
	0xad, 0x52, 0x89, 0xb7, 0xf4, 0x7f, 0, 0, 0xad, 0x52, 0x89, 0xb7, 0xf4, 0x7f, 0, 0,
};
static const uint8_t tick_kthread[] = {
	9, 0, 0, 0, 1, 0, 32, 0, 17, 0, 0, 0, 17, 0, 0, 0,
	0x00, 0x30, 0x5e, 0x6c, 0x83, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

static enum perf_outcome decode(const struct perf_format *f, const void *p, size_t n,
				struct spool_event *ev)
{
	return perf_decode(f, (struct bytes){ p, n }, ev);
}

static void a_tick_tells_user_system_call_and_kernel_thread_apart(void **state)
{
	struct spool_event ev;

	(void)state;
	assert_int_equal(decode(&tick, tick_user, sizeof(tick_user), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_SAMPLE);
	assert_int_equal(ev.pid, 7383);
	assert_int_equal(ev.tid, 7384);
	assert_int_equal(ev.time_ns, 0x03836c5e1000);
	assert_int_equal(ev.sample.pc, 0x56450a771a50);
	assert_false(ev.sample.kernel);
	assert_int_equal(decode(&tick, tick_syscall, sizeof(tick_syscall), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.pc, 0x7ff4b78952ad);
	assert_true(ev.sample.kernel);
	assert_int_equal(decode(&tick, tick_kthread, sizeof(tick_kthread), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.pc, 0);
	assert_true(ev.sample.kernel);
}

static void head(struct wr *w, uint32_t type, uint16_t misc)
{
	w->n = 0;
	wr_u32(w, type);
	wr_u16(w, misc);
	wr_u16(w, 0);
}

static struct bytes ended(struct wr *w)
{
	uint16_t n;

	wr_align(w, 8);
	n = (uint16_t)w->n;
	memcpy(w->p + 6, &n, sizeof(n));
	return wr_bytes(w);
}

static void sample_id(struct wr *w, uint32_t pid, uint32_t tid, uint64_t time)
{
	wr_align(w, 8);
	wr_u32(w, pid);
	wr_u32(w, tid);
	wr_u64(w, time);
}

static void timer_sample(struct wr *w, uint16_t misc, bool regs)
{
	head(w, PERF_RECORD_SAMPLE, misc);
	wr_u64(w, 0x1111);
	wr_u32(w, 5);
	wr_u32(w, 6);
	wr_u64(w, 777);
	wr_u64(w, regs ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	if (regs)
		wr_u64(w, 0x2222);
}

static void a_timer_sample_has_the_interrupted_pc_in_user_mode_only(void **state)
{
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	timer_sample(&w, PERF_RECORD_MISC_USER, true);
	assert_int_equal(perf_decode(&timer, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.pc, 0x1111);
	assert_false(ev.sample.kernel);
	assert_int_equal(ev.time_ns, 777);
	assert_int_equal(perf_record_time(&timer, wr_bytes(&w)), 777);
	assert_int_equal(ev.sample.kernel_pc, 0);
	timer_sample(&w, PERF_RECORD_MISC_KERNEL, true);
	assert_int_equal(perf_decode(&timer, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.pc, 0x2222);
	assert_true(ev.sample.kernel);
	assert_int_equal(ev.sample.kernel_pc, 0x1111);
	/* a guest's addresses are not ours */
	timer_sample(&w, PERF_RECORD_MISC_GUEST_KERNEL, true);
	assert_int_equal(perf_decode(&timer, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.kernel_pc, 0);
	timer_sample(&w, PERF_RECORD_MISC_KERNEL, false);
	assert_int_equal(perf_decode(&timer, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.sample.pc, 0);
	wr_free(&w);
}

/* As the kernel lays it out: raw data of 4 zeros, and n branches. */
static void branch_sample(struct wr *w, const struct perf_format *f, uint64_t n)
{
	head(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	if (f->ip)
		wr_u64(w, 0x1111);
	wr_u32(w, 5);
	wr_u32(w, 6);
	wr_u64(w, 777);
	wr_u32(w, 4);
	wr_u32(w, 0);
	wr_u64(w, n);
	for (uint64_t i = 0; i < n; i++) {
		wr_u64(w, 0x1000 + i);
		wr_u64(w, i ? 0x2000 : UINT64_MAX);
		/* predicted, 9 cycles, conditional; of each kind that does not count one */
		wr_u64(w, 2 | 9 << 4 | 1 << 20 | (i == 1) << 0 | (i == 2) << 2 | (i == 3) << 3 |
				  (uint64_t)(i == 4 ? 1 : 3) << 24);
	}
}

static void branch_stacks_are_told_apart_from_registers(void **state)
{
	static const unsigned flags[] = { 0, SPOOL_BRANCH_MISPREDICTED, SPOOL_BRANCH_IN_TX,
					  SPOOL_BRANCH_ABORTED, SPOOL_BRANCH_WRONG_PATH, 0 };
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		struct perf_format f = kind & 1 ? timer : tick;

		f.state = f.stack = kind & 2;
		f.crashes = f.memory = f.branches = true;
		branch_sample(&w, &f, 6);
		assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_EVENT);
		assert_int_equal(ev.kind, SPOOL_BRANCHES);
		assert_true(ev.pid == 5 && ev.tid == 6 && ev.time_ns == 777);
		assert_int_equal(perf_record_time(&f, wr_bytes(&w)), 777);
		assert_int_equal(ev.branches.n, 6);
		for (uint32_t i = 0; i < 6; i++) {
			struct spool_branch b = spool_branch_at(&ev, i);

			assert_int_equal(b.from, 0x1000 + i);
			assert_int_equal(b.to, i ? 0x2000 : UINT64_MAX);
			assert_int_equal(b.flags, flags[i]);
		}
		branch_sample(&w, &f, 0);
		assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_IGNORED);
		branch_sample(&w, &f, SPOOL_BRANCHES_MAX + 5);
		assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_EVENT);
		assert_int_equal(ev.branches.n, SPOOL_BRANCHES_MAX);
		branch_sample(&w, &f, 2);
		memset(w.p + w.n - 2 * SPOOL_BRANCH_BYTES - 8, 0xff, 8);	/* so many */
		assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_MALFORMED);
		branch_sample(&w, &f, 2);
		wr_u64(&w, 0);			/* more than it says */
		assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_MALFORMED);
	}
	/* samples of the clock stay what they are */
	struct perf_format f = tick;
	f.branches = true;
	assert_int_equal(decode(&f, tick_user, sizeof(tick_user), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_SAMPLE);
	assert_int_equal(decode(&f, tick_kthread, sizeof(tick_kthread), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel);
	wr_free(&w);
}

/* A sample with all registers, each 0x100 + its number in the kernel; IP and CX as given. */
static void state_sample(struct wr *w, const struct perf_format *f, uint16_t misc, uint64_t abi,
			 uint64_t ip, uint64_t cx)
{
	head(w, PERF_RECORD_SAMPLE, misc);
	if (f->ip)
		wr_u64(w, ip);
	wr_u32(w, 5);
	wr_u32(w, 6);
	wr_u64(w, 777);
	wr_u64(w, abi);
	for (uint64_t reg = 0; reg < 24 && abi != PERF_SAMPLE_REGS_ABI_NONE; reg++)
		if (PERF_STATE_REGS >> reg & 1)
			wr_u64(w, reg == 8 ? ip : reg == 2 ? cx : 0x100 + reg);
}

static void registers_come_in_the_order_of_machine_code(void **state)
{
	static const struct perf_format format[] = {
		{ .user_cx = true, .state = true }, { .ip = true, .state = true },
	};
	/* rax rcx rdx rbx rsp rbp rsi rdi r8.. by the kernel's numbers */
	static const unsigned number[] = { 0,  2,  3,  1,  7,  6,  4,  5,
					   16, 17, 18, 19, 20, 21, 22, 23 };
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		state_sample(&w, &format[i], PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64,
			     0x5555, 0x102);
		assert_int_equal(perf_decode(&format[i], ended(&w), &ev), PERF_EVENT);
		assert_int_equal(ev.sample.pc, 0x5555);
		assert_false(ev.sample.kernel);
		assert_true(ev.sample.has_state);
		assert_int_equal(ev.sample.state.rflags, 0x109);
		for (unsigned r = 0; r < SPOOL_NGPR; r++)
			assert_int_equal(ev.sample.state.gpr[r], 0x100 + number[r]);
		assert_int_equal(ev.sample.state.stack_bytes, 0);
		/* The other kind of sample in the same ring. */
		state_sample(&w, &format[i], PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_NONE,
			     0x5555, 0);
		wr_u64(&w, 0x5555);
		if (format[i].user_cx)
			wr_u64(&w, 0x5555);
		w.p[format[i].ip ? 32 : 24] = PERF_SAMPLE_REGS_ABI_64;
		assert_int_equal(perf_decode(&format[i], ended(&w), &ev), PERF_EVENT);
		assert_int_equal(ev.sample.pc, 0x5555);
		assert_false(ev.sample.has_state);
	}
	wr_free(&w);
}

static void registers_that_are_not_those_at_the_pc_are_not_told(void **state)
{
	static const struct perf_format by_tick = { .user_cx = true, .state = true };
	static const struct perf_format by_timer = { .ip = true, .state = true };
	static const struct {
		const struct perf_format *format;
		uint16_t misc;
		uint64_t abi, cx;
		bool kernel;
	} c[] = {
		{ &by_tick, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_64, 0x5555, true },
		{ &by_tick, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_NONE, 0, true },
		{ &by_tick, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_32, 1, false },
		{ &by_timer, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_64, 1, true },
		{ &by_timer, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_32, 1, false },
	};
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		state_sample(&w, c[i].format, c[i].misc, c[i].abi, 0x5555, c[i].cx);
		assert_int_equal(perf_decode(c[i].format, ended(&w), &ev), PERF_EVENT);
		assert_int_equal(ev.sample.kernel, c[i].kernel);
		assert_false(ev.sample.has_state);
	}
	/* For stacks, those with which it went into the kernel are as good. */
	struct perf_format stacks = by_timer;
	stacks.kernel_state = true;
	state_sample(&w, &stacks, PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_64, 0x5555, 1);
	assert_int_equal(perf_decode(&stacks, ended(&w), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel && ev.sample.has_state);
	assert_int_equal(ev.sample.pc, 0x5555);
	/* An IP that skidded away from the registers. */
	state_sample(&w, &by_timer, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, 0x5555, 1);
	w.p[8]++;
	assert_int_equal(perf_decode(&by_timer, ended(&w), &ev), PERF_EVENT);
	assert_false(ev.sample.has_state);
	wr_free(&w);
}

static void the_valid_part_of_a_stack_is_told(void **state)
{
	static const struct perf_format f = { .user_cx = true, .state = true, .stack = true };
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (uint64_t valid = 0; valid <= 40; valid += 8) {
		state_sample(&w, &f, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, 0x5555, 1);
		wr_u64(&w, 32);
		for (uint64_t i = 0; i < 4; i++)
			wr_u64(&w, 0xaa00 + i);
		wr_u64(&w, valid);
		enum perf_outcome want = valid <= 32 ? PERF_EVENT : PERF_MALFORMED;
		assert_int_equal(perf_decode(&f, ended(&w), &ev), want);
		if (want == PERF_MALFORMED)
			continue;
		assert_int_equal(ev.sample.state.stack_bytes, valid);
		for (uint64_t i = 0; i < valid / 8; i++)
			assert_int_equal(ev.sample.state.stack[8 * i], i);
	}
	/* A kernel thread has neither registers nor stack, but its size. */
	state_sample(&w, &f, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
	wr_u64(&w, 0);
	assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_EVENT);
	assert_true(ev.sample.kernel);
	assert_false(ev.sample.has_state);
	/* Longer than the record. */
	state_sample(&w, &f, PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, 0x5555, 1);
	wr_u64(&w, UINT64_MAX - 7);
	wr_u64(&w, 0);
	assert_int_equal(perf_decode(&f, ended(&w), &ev), PERF_MALFORMED);
	wr_free(&w);
}

static void mmap2(struct wr *w, const char *path)
{
	head(w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	wr_u32(w, 10);
	wr_u32(w, 11);
	wr_u64(w, 0x7f0000001000);
	wr_u64(w, 0x2000);
	wr_u64(w, 0x3000);
	wr_u32(w, 254);
	wr_u32(w, 1);
	wr_u64(w, 12345);
	wr_u64(w, 678);
	wr_u32(w, 5);
	wr_u32(w, 2);
	wr_str(w, path);
	sample_id(w, 10, 11, 99);
}

/* What perf_memory.h writes, with `n` bytes of memory of which the mask counts one slot. */
static void memory_record(struct wr *w, const struct perf_format *f, uint64_t mask, uint32_t n)
{
	uint32_t raw = 24 + n;

	head(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	if (f->ip)
		wr_u64(w, 0xffff);
	wr_u32(w, 5);
	wr_u32(w, 6);
	wr_u64(w, 777);
	wr_u32(w, raw + 4);
	wr_u64(w, PERF_MEMORY_MAGIC);
	wr_u64(w, 0x7ffd00);
	wr_u64(w, 0x5555);
	wr_u64(w, mask);
	(void)wr_reserve(w, n - 8 + 4);
}

static void memory_is_of_the_sample_behind_it(void **state)
{
	static const struct perf_format format[] = {
		{ .user_cx = true, .state = true, .memory = true },
		{ .ip = true, .state = true, .stack = true, .memory = true, .crashes = true },
	};
	const uint32_t one = 8 + STATEMEMORY_REACH;
	struct spool_event ev;
	struct wr w = { 0 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		memory_record(&w, &format[i], 1, one);
		assert_int_equal(perf_decode(&format[i], ended(&w), &ev), PERF_MEMORY);
		assert_int_equal(ev.pid, 5);
		assert_int_equal(ev.tid, 6);
		assert_int_equal(ev.time_ns, 777);
		assert_int_equal(ev.sample.pc, 0x5555);
		assert_int_equal(ev.sample.state.gpr[4], 0x7ffd00);
		assert_int_equal(ev.sample.state.memory_bytes, one);
		assert_int_equal(ev.sample.state.memory[0], 1);
		assert_ptr_equal(ev.sample.state.memory + one + 4, w.p + w.n);
		/* Fewer bytes than the mask says, or more than padding makes of them. */
		memory_record(&w, &format[i], 3, one);
		assert_int_equal(perf_decode(&format[i], ended(&w), &ev), PERF_MALFORMED);
		memory_record(&w, &format[i], 1, one + 8);
		assert_int_equal(perf_decode(&format[i], ended(&w), &ev), PERF_MALFORMED);
	}
	struct perf_format without = format[1];
	without.memory = false;
	memory_record(&w, &without, 1, one);
	assert_int_not_equal(perf_decode(&without, ended(&w), &ev), PERF_MEMORY);
	wr_free(&w);
}

static void a_mapping_has_file_identity_and_place(void **state)
{
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	mmap2(&w, "/usr/bin/perl");
	assert_int_equal(perf_decode(&tick, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_MMAP);
	assert_int_equal(ev.pid, 10);
	assert_int_equal(ev.tid, 11);
	assert_int_equal(ev.time_ns, 99);
	assert_int_equal(ev.mmap.addr, 0x7f0000001000);
	assert_int_equal(ev.mmap.len, 0x2000);
	assert_int_equal(ev.mmap.pgoff, 0x3000);
	assert_int_equal(ev.mmap.dev_major, 254);
	assert_int_equal(ev.mmap.dev_minor, 1);
	assert_int_equal(ev.mmap.inode, 12345);
	assert_int_equal(ev.mmap.inode_generation, 678);
	assert_string_equal(ev.mmap.path, "/usr/bin/perl");
	wr_free(&w);
}

static void only_a_comm_by_exec_is_an_exec(void **state)
{
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (int exec = 0; exec < 2; exec++) {
		head(&w, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		wr_u32(&w, 3);
		wr_u32(&w, 4);
		wr_str(&w, "fifteen-letters");
		sample_id(&w, 3, 4, 50);
		assert_int_equal(perf_decode(&tick, ended(&w), &ev),
				 exec ? PERF_EVENT : PERF_IGNORED);
	}
	assert_int_equal(ev.kind, SPOOL_EXEC);
	assert_int_equal(ev.pid, 3);
	assert_string_equal(ev.exec.comm, "fifteen-letters");
	wr_free(&w);
}

static void forks_exits_and_losses_are_told(void **state)
{
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (uint32_t type = PERF_RECORD_EXIT; type <= PERF_RECORD_FORK; type++) {
		if (type != PERF_RECORD_EXIT && type != PERF_RECORD_FORK)
			continue;
		head(&w, type, 0);
		wr_u32(&w, 20);
		wr_u32(&w, 19);
		wr_u32(&w, 21);
		wr_u32(&w, 19);
		wr_u64(&w, 1000);
		sample_id(&w, 19, 19, 1000);
		assert_int_equal(perf_decode(&tick, ended(&w), &ev), PERF_EVENT);
		assert_int_equal(ev.pid, 20);
		assert_int_equal(ev.tid, 21);
		assert_int_equal(ev.time_ns, 1000);
		assert_int_equal(ev.kind, type == PERF_RECORD_FORK ? SPOOL_FORK : SPOOL_EXIT);
		if (type == PERF_RECORD_FORK)
			assert_int_equal(ev.fork.parent_pid, 19);
	}
	head(&w, PERF_RECORD_LOST, 0);
	wr_u64(&w, 42);
	wr_u64(&w, 4321);
	sample_id(&w, 1, 2, 2000);
	assert_int_equal(perf_decode(&tick, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_LOST);
	assert_int_equal(ev.lost, 4321);
	assert_int_equal(ev.time_ns, 2000);
	head(&w, PERF_RECORD_THROTTLE, 0);
	for (int i = 0; i < 3; i++)
		wr_u64(&w, 9);
	sample_id(&w, 1, 2, 3000);
	assert_int_equal(perf_decode(&tick, ended(&w), &ev), PERF_EVENT);
	assert_int_equal(ev.kind, SPOOL_THROTTLE);
	assert_int_equal(ev.lost, 1);
	head(&w, 4242, 0);
	sample_id(&w, 1, 2, 3000);
	assert_int_equal(perf_decode(&tick, ended(&w), &ev), PERF_UNKNOWN);
	wr_free(&w);
}

/* Whatever the length says, nothing beyond it is read (the sanitizer build watches). */
static void a_record_of_a_wrong_length_is_malformed(void **state)
{
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (uint16_t n = 0; n < sizeof(tick_user); n++) {
		uint8_t *p = test_malloc(n ? n : 1);

		memcpy(p, tick_user, n);
		if (n >= 8)
			memcpy(p + 6, &n, sizeof(n));
		assert_int_equal(decode(&tick, p, n, &ev), PERF_MALFORMED);
		(void)perf_record_time(&tick, (struct bytes){ p, n });
		test_free(p);
	}
	uint8_t longer[sizeof(tick_user) + 8] = { 0 };
	memcpy(longer, tick_user, sizeof(tick_user));
	longer[6] = sizeof(longer);
	assert_int_equal(decode(&tick, longer, sizeof(longer), &ev), PERF_MALFORMED);
	mmap2(&w, "/usr/bin/perl");
	uint16_t whole = (uint16_t)ended(&w).n;
	for (uint16_t n = 8; n < whole - 24; n += 8) {
		memcpy(w.p + 6, &n, sizeof(n));
		enum perf_outcome got = decode(&tick, w.p, n, &ev);

		assert_true(got == PERF_MALFORMED || n >= 72 + 8 + 16);
	}
	wr_free(&w);
}

static void a_path_without_an_end_is_malformed(void **state)
{
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	mmap2(&w, "/1234567");
	w.n -= 16 + 8;		/* the last piece of the path with its NUL, the sample id */
	sample_id(&w, 0x41414141, 5, 99);	/* whose zero bytes are no end of the path */
	assert_int_equal(perf_decode(&tick, ended(&w), &ev), PERF_MALFORMED);
	wr_free(&w);
}

static void a_record_may_wrap_anywhere(void **state)
{
	enum { SIZE = 128 };

	(void)state;
	for (uint64_t at = 0; at < 3 * SIZE; at += 8) {
		uint8_t data[SIZE];
		struct perf_ring ring = { data, SIZE, at, at + sizeof(tick_user) };
		struct spool_event ev;

		for (size_t i = 0; i < sizeof(tick_user); i++)
			data[(at + i) % SIZE] = tick_user[i];
		struct bytes rec = perf_ring_record(&ring, at, bounce);
		assert_int_equal(rec.n, sizeof(tick_user));
		assert_int_equal(perf_decode(&tick, rec, &ev), PERF_EVENT);
		assert_int_equal(ev.sample.pc, 0x56450a771a50);
	}
}

static void a_ring_that_lies_about_lengths_gives_no_record(void **state)
{
	uint8_t data[128] = { 0 };
	struct perf_ring ring = { data, sizeof(data), 0, 64 };
	uint16_t size;

	(void)state;
	static const uint16_t wrong[] = { 0, 1, 7, 9, 12, 72, 65535 };
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		size = wrong[i];
		memcpy(data + 6, &size, sizeof(size));
		assert_null(perf_ring_record(&ring, 0, bounce).p);
	}
	size = 64;
	memcpy(data + 6, &size, sizeof(size));
	assert_non_null(perf_ring_record(&ring, 0, bounce).p);
	assert_null(perf_ring_record(&ring, 4, bounce).p);	/* not at a multiple of 8 */
	ring.head = 0;
	assert_null(perf_ring_record(&ring, 0, bounce).p);
	ring.head = 1024;					/* more than the ring holds */
	assert_null(perf_ring_record(&ring, 0, bounce).p);
}

/* What perf_crash.h writes. */
static void a_crash_is_told_with_its_signal_place_and_user(void **state)
{
	static const struct perf_format format[] = {
		{ .user_cx = true, .crashes = true },
		{ .ip = true, .state = true, .memory = true, .crashes = true },
	};
	struct wr w = { 0 };
	struct spool_event ev;

	(void)state;
	for (uint32_t i = 0; i < 2 * 67; i++) {
		const struct perf_format *f = &format[i % 2];
		uint32_t signal = i / 2;

		for (uint32_t longer = 0; longer <= 16; longer += 8) {
			head(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
			if (f->ip)
				wr_u64(&w, 0xffff);
			wr_u32(&w, 1234);
			wr_u32(&w, 1235);
			wr_u64(&w, 99);
			wr_u32(&w, 36 + longer - 8);
			wr_u64(&w, PERF_CRASH_MAGIC);
			wr_u64(&w, 0x401000);
			wr_u32(&w, signal);
			wr_u32(&w, 1);
			wr_u32(&w, 64001);
			(void)wr_reserve(&w, longer);
			enum perf_outcome got = perf_decode(f, ended(&w), &ev);
			bool good = signal && signal <= 64 && longer == 8;
			assert_int_equal(got, good ? PERF_EVENT : PERF_MALFORMED);
			if (good) {
				assert_int_equal(ev.kind, SPOOL_CRASH);
				assert_int_equal(ev.pid, 1234);
				assert_int_equal(ev.tid, 1235);
				assert_int_equal(ev.crash.signal, signal);
				assert_int_equal(ev.crash.pc, 0x401000);
				assert_int_equal(ev.crash.uid, 64001);
			}
			/* Where nobody asked for them, such a record is a sample with
			 * impossible registers. */
			assert_int_not_equal(perf_decode(&tick, ended(&w), &ev), PERF_EVENT);
			w.n = 0;
		}
	}
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branch_stacks_are_told_apart_from_registers),
		cmocka_unit_test(a_tick_tells_user_system_call_and_kernel_thread_apart),
		cmocka_unit_test(a_timer_sample_has_the_interrupted_pc_in_user_mode_only),
		cmocka_unit_test(registers_come_in_the_order_of_machine_code),
		cmocka_unit_test(registers_that_are_not_those_at_the_pc_are_not_told),
		cmocka_unit_test(the_valid_part_of_a_stack_is_told),
		cmocka_unit_test(a_crash_is_told_with_its_signal_place_and_user),
		cmocka_unit_test(memory_is_of_the_sample_behind_it),
		cmocka_unit_test(a_mapping_has_file_identity_and_place),
		cmocka_unit_test(only_a_comm_by_exec_is_an_exec),
		cmocka_unit_test(forks_exits_and_losses_are_told),
		cmocka_unit_test(a_record_of_a_wrong_length_is_malformed),
		cmocka_unit_test(a_path_without_an_end_is_malformed),
		cmocka_unit_test(a_record_may_wrap_anywhere),
		cmocka_unit_test(a_ring_that_lies_about_lengths_gives_no_record),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
