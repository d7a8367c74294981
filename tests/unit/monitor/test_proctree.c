/* test_proctree.c - whose records a log gets: some processes and all that descends from them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/perf_decode.h"
#include "monitor/proctree.h"

/* Recorded on Linux 6.18, from the ring of a CPU that was sampled as a whole: a command and
 * another process of the same user, taking turns. */
enum { OTHER = 8740, COMMAND = 8742, ITS_CHILD = 8775, OTHERS_CHILD = 8783 };
static const uint8_t recorded[] = {
	/* fork, other */
	7, 0, 0, 0, 0, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x22, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x22,
	0x22, 0, 0, 0x97, 0x95, 0x8d, 0x65, 0x3c, 3, 0, 0, 0x22, 0x22, 0, 0, 0x22, 0x22, 0, 0,
	0x10, 0x94, 0x8d, 0x65, 0x3c, 3, 0, 0,
	/* fork, command */
	7, 0, 0, 0, 0, 0, 0x30, 0, 0x26, 0x22, 0, 0, 0x22, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x22,
	0x22, 0, 0, 0x10, 0xda, 0x8e, 0x65, 0x3c, 3, 0, 0, 0x22, 0x22, 0, 0, 0x22, 0x22, 0, 0,
	0xd9, 0xd8, 0x8e, 0x65, 0x3c, 3, 0, 0,
	/* sample, other */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x99, 0xfd, 0xb1, 0x65,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* sample, command */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x61, 0x1e, 0xe1, 0x65,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8f, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* exec, command */
	3, 0, 0, 0, 0, 0x20, 0x28, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x65, 0x78, 0x65, 0,
	0, 0, 0, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x17, 0xbd, 0x11, 0x67, 0x3c, 3, 0, 0,
	/* mmap, command */
	0x0a, 0, 0, 0, 2, 0, 0x70, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0, 0x70, 0x4f, 0x72,
	0x3f, 0x56, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0xfe, 0, 0, 0,
	0, 0, 0, 0, 0x10, 0x80, 0x11, 0, 0, 0, 0, 0, 0x8b, 0x8b, 0x66, 0xe8, 0, 0, 0, 0, 5, 0,
	0, 0, 2, 0, 0, 0, 0x2f, 0x76, 0x61, 0x72, 0x2f, 0x74, 0x6d, 0x70, 0x2f, 0x6d, 0x6f,
	0x6e, 0x2f, 0x72, 0x61, 0x77, 0x64, 0x75, 0x6d, 0x70, 0, 0, 0, 0, 0x26, 0x22, 0, 0,
	0x26, 0x22, 0, 0, 0xda, 0x30, 0x12, 0x67, 0x3c, 3, 0, 0,
	/* fork, command (thread) */
	7, 0, 0, 0, 0, 0, 0x30, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x30, 0x22, 0, 0, 0x26,
	0x22, 0, 0, 0xdf, 0x77, 0x1b, 0x67, 0x3c, 3, 0, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0,
	0x8a, 0x76, 0x1b, 0x67, 0x3c, 3, 0, 0,
	/* sample, command (thread) */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x26, 0x22, 0, 0, 0x30, 0x22, 0, 0, 0x11, 0x8a, 0x2e, 0x67,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 6, 0x70, 0x4f, 0x3d, 0x55, 0x7f, 0, 0, 0x81,
	0x73, 0x4f, 0x72, 0x3f, 0x56, 0, 0,
	/* sample, other */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0xf4, 0x17, 0xd5, 0x67,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8f, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* exit, command (thread) */
	4, 0, 0, 0, 0, 0, 0x30, 0, 0x26, 0x22, 0, 0, 0x22, 0x22, 0, 0, 0x30, 0x22, 0, 0, 0x22,
	0x22, 0, 0, 0x4b, 0xe7, 0x6e, 0x6b, 0x3c, 3, 0, 0, 0x26, 0x22, 0, 0, 0x30, 0x22, 0, 0,
	0x11, 0xe5, 0x6e, 0x6b, 0x3c, 3, 0, 0,
	/* fork, its child */
	7, 0, 0, 0, 0, 0, 0x30, 0, 0x47, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0x26,
	0x22, 0, 0, 0xbd, 0xde, 0xf4, 0x6b, 0x3c, 3, 0, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0,
	0x5f, 0xdd, 0xf4, 0x6b, 0x3c, 3, 0, 0,
	/* sample, its child */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0x22, 0x63, 0x1b, 0x6c,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x81, 0x73, 0x4f, 0x72,
	0x3f, 0x56, 0, 0,
	/* sample, other */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x2a, 0x23, 0x58, 0x6c,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* exec, its child */
	3, 0, 0, 0, 0, 0x20, 0x28, 0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0x74, 0x72, 0x75,
	0x65, 0, 0, 0, 0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0xe4, 0xca, 0x16, 0x6e, 0x3c, 3,
	0, 0,
	/* mmap, its child */
	0x0a, 0, 0, 0, 2, 0, 0x68, 0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0, 0xb0, 0x6f, 0xda,
	0xc8, 0x55, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0xfe, 0, 0, 0,
	0, 0, 0, 0, 0x4b, 0xc9, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0,
	0, 0x2f, 0x75, 0x73, 0x72, 0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x74, 0x72, 0x75, 0x65, 0, 0,
	0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0x7c, 0x27, 0x17, 0x6e, 0x3c, 3, 0, 0,
	/* sample, its child */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0xec, 0x7d, 0x18, 0x6e,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x25, 0x2d, 0x51, 0x7c, 0xfe, 0, 0, 0xb0,
	0x94, 0x97, 0x28, 0x3e, 0x7f, 0, 0,
	/* sample, other */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x72, 0x32, 0x7b, 0x6e,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8f, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* exit, its child */
	4, 0, 0, 0, 0, 0, 0x30, 0, 0x47, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x47, 0x22, 0, 0, 0x26,
	0x22, 0, 0, 0x0c, 0xfa, 0xd6, 0x6e, 0x3c, 3, 0, 0, 0x47, 0x22, 0, 0, 0x47, 0x22, 0, 0,
	0x31, 0xf7, 0xd6, 0x6e, 0x3c, 3, 0, 0,
	/* exit, command */
	4, 0, 0, 0, 0, 0, 0x30, 0, 0x26, 0x22, 0, 0, 0x22, 0x22, 0, 0, 0x26, 0x22, 0, 0, 0x22,
	0x22, 0, 0, 0xb5, 0x85, 0xd8, 0x6e, 0x3c, 3, 0, 0, 0x26, 0x22, 0, 0, 0x26, 0x22, 0, 0,
	0xee, 0x82, 0xd8, 0x6e, 0x3c, 3, 0, 0,
	/* sample, other */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0xdc, 0xf3, 0xf4, 0x6e,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8f, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* fork, other's child */
	7, 0, 0, 0, 0, 0, 0x30, 0, 0x4f, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x4f, 0x22, 0, 0, 0x24,
	0x22, 0, 0, 0x3c, 0x43, 0xf7, 0x6e, 0x3c, 3, 0, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0,
	0x1a, 0x42, 0xf7, 0x6e, 0x3c, 3, 0, 0,
	/* sample, other's child */
	9, 0, 0, 0, 1, 0, 0x30, 0, 0x4f, 0x22, 0, 0, 0x4f, 0x22, 0, 0, 0x14, 0x95, 0x0c, 0x6f,
	0x3c, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0xe3, 0xf8, 0x12,
	0x26, 0x56, 0, 0,
	/* exit, other's child */
	4, 0, 0, 0, 0, 0, 0x30, 0, 0x4f, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x4f, 0x22, 0, 0, 0x24,
	0x22, 0, 0, 0x1a, 0xce, 0xbc, 0x70, 0x3c, 3, 0, 0, 0x4f, 0x22, 0, 0, 0x4f, 0x22, 0, 0,
	0xa8, 0xca, 0xbc, 0x70, 0x3c, 3, 0, 0,
	/* exit, other */
	4, 0, 0, 0, 0, 0, 0x30, 0, 0x24, 0x22, 0, 0, 0x22, 0x22, 0, 0, 0x24, 0x22, 0, 0, 0x22,
	0x22, 0, 0, 0x5f, 0x41, 0xd4, 0x70, 0x3c, 3, 0, 0, 0x24, 0x22, 0, 0, 0x24, 0x22, 0, 0,
	0x98, 0x3e, 0xd4, 0x70, 0x3c, 3, 0, 0,
};
static const struct perf_format tick = { .user_cx = true };

static void of_a_cpu_only_the_command_is_taken_from_its_exec_on(void **state)
{
	static const struct {
		enum spool_kind kind;
		uint32_t pid;
	} want[] = {
		{ SPOOL_EXEC, COMMAND },     { SPOOL_MMAP, COMMAND },
		{ SPOOL_FORK, COMMAND },     { SPOOL_SAMPLE, COMMAND },
		{ SPOOL_EXIT, COMMAND },     { SPOOL_FORK, ITS_CHILD },
		{ SPOOL_SAMPLE, ITS_CHILD }, { SPOOL_EXEC, ITS_CHILD },
		{ SPOOL_MMAP, ITS_CHILD },   { SPOOL_SAMPLE, ITS_CHILD },
		{ SPOOL_EXIT, ITS_CHILD },   { SPOOL_EXIT, COMMAND },
	};
	const unsigned nwant = sizeof(want) / sizeof(want[0]);
	struct proctree *t = proctree_new();
	unsigned n = 0, others = 0;
	uint16_t size;

	(void)state;
	proctree_add_at_exec(t, COMMAND);
	for (size_t at = 0; at < sizeof(recorded); at += size) {
		struct spool_event ev;

		memcpy(&size, recorded + at + 6, sizeof(size));
		assert_int_equal(perf_decode(&tick, (struct bytes){ recorded + at, size }, &ev),
				 PERF_EVENT);
		if (!proctree_event(t, &ev)) {
			others++;
			continue;
		}
		assert_true(n < nwant);
		assert_int_equal(ev.kind, want[n].kind);
		assert_int_equal(ev.pid, want[n].pid);
		n++;
	}
	assert_int_equal(n, nwant);
	assert_int_equal(others, 12);	/* two of them the command's, before its exec */
	proctree_free(t);
}

/* One event at time `now`; true: it is of the tree. */
static uint64_t now = 1;

static bool tell(struct proctree *t, enum spool_kind kind, uint32_t pid, uint32_t tid,
		 uint32_t parent)
{
	struct spool_event ev = { .kind = kind, .pid = pid, .tid = tid, .time_ns = now };

	if (kind == SPOOL_FORK)
		ev.fork.parent_pid = parent;
	return proctree_event(t, &ev);
}

static bool has(struct proctree *t, uint32_t pid)
{
	return tell(t, SPOOL_SAMPLE, pid, pid, 0);
}

static void processes_and_their_children_are_known(void **state)
{
	struct proctree *t = proctree_new();

	(void)state;
	proctree_add(t, 10);
	proctree_add(t, 11);
	assert_true(tell(t, SPOOL_SAMPLE, 10, 12, 0));
	assert_false(has(t, 20));
	assert_true(tell(t, SPOOL_FORK, 20, 20, 11));
	assert_true(tell(t, SPOOL_FORK, 21, 21, 20));
	assert_false(tell(t, SPOOL_FORK, 30, 30, 29));
	assert_true(tell(t, SPOOL_EXEC, 21, 21, 0));
	assert_true(tell(t, SPOOL_MMAP, 21, 21, 0));
	assert_true(tell(t, SPOOL_EXIT, 21, 21, 0));
	assert_false(has(t, 21));
	assert_false(has(t, 30));
	assert_true(has(t, 20));
	assert_false(tell(t, SPOOL_LOST, 10, 10, 0));
	assert_false(tell(t, SPOOL_SAMPLE, 0, 0, 0));
	proctree_free(t);
}

static void a_command_begins_with_its_own_exec(void **state)
{
	struct proctree *t = proctree_new();

	(void)state;
	proctree_add_at_exec(t, 10);
	assert_false(has(t, 10));
	assert_false(tell(t, SPOOL_EXEC, 11, 11, 0));
	assert_false(has(t, 11));
	assert_false(tell(t, SPOOL_FORK, 12, 12, 10));
	assert_true(tell(t, SPOOL_EXEC, 10, 10, 0));
	assert_true(has(t, 10));
	assert_false(has(t, 12));
	proctree_free(t);
}

static void a_number_used_anew_by_others_is_out(void **state)
{
	struct proctree *t = proctree_new();

	(void)state;
	proctree_add(t, 10);
	assert_true(tell(t, SPOOL_FORK, 20, 20, 10));
	/* its exit was lost, somebody else's now */
	assert_false(tell(t, SPOOL_FORK, 20, 20, 99));
	assert_false(has(t, 20));
	assert_false(tell(t, SPOOL_FORK, 21, 21, 20));
	assert_false(has(t, 21));
	assert_true(has(t, 10));
	proctree_free(t);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	struct proctree *t = proctree_new();

	(void)state;
	proctree_add(t, 10);
	assert_true(tell(t, SPOOL_FORK, 20, 20, 10));
	assert_true(tell(t, SPOOL_FORK, 20, 21, 20));
	assert_true(tell(t, SPOOL_FORK, 20, 22, 20));
	assert_true(tell(t, SPOOL_EXIT, 20, 21, 0));
	assert_true(tell(t, SPOOL_EXIT, 20, 20, 0));	/* the main thread before the last */
	assert_true(tell(t, SPOOL_SAMPLE, 20, 22, 0));
	assert_true(tell(t, SPOOL_EXIT, 20, 22, 0));
	assert_false(has(t, 20));
	/* A thread executes: it becomes the main one, the main one and the others end. */
	assert_true(tell(t, SPOOL_FORK, 30, 30, 10));
	assert_true(tell(t, SPOOL_FORK, 30, 31, 30));
	assert_true(tell(t, SPOOL_EXIT, 30, 30, 0));
	assert_true(tell(t, SPOOL_EXEC, 30, 30, 0));
	assert_true(tell(t, SPOOL_FORK, 30, 32, 30));
	assert_true(tell(t, SPOOL_EXIT, 30, 32, 0));
	assert_true(has(t, 30));
	assert_true(tell(t, SPOOL_EXIT, 30, 30, 0));
	assert_false(has(t, 30));
	proctree_free(t);
}

static void many_come_and_go(void **state)
{
	enum { N = 20000, ALIVE = 3000 };
	struct proctree *t = proctree_new();

	(void)state;
	proctree_add(t, 7);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(tell(t, SPOOL_FORK, 1000 + i, 1000 + i, 7));
		if (i >= ALIVE)
			assert_true(tell(t, SPOOL_EXIT, 1000 + i - ALIVE, 1000 + i - ALIVE, 0));
	}
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(has(t, 1000 + i), i >= N - ALIVE);
	assert_true(has(t, 7));
	proctree_free(t);
}

/* A child with a child of its own; both end when `hold` is closed. */
static void make_descent(pid_t *child, pid_t *grandchild, int *hold)
{
	int tell_fd[2], hold_fd[2];
	char byte;

	assert_int_equal(pipe(tell_fd), 0);
	assert_int_equal(pipe(hold_fd), 0);
	*child = fork();
	if (*child == 0) {
		pid_t pid = fork();

		close(hold_fd[1]);
		if (pid && write(tell_fd[1], &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
			_exit(1);
		_exit(read(hold_fd[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(hold_fd[0]);
	assert_true(*child > 0);
	assert_int_equal(read(tell_fd[0], grandchild, sizeof(*grandchild)),
			 sizeof(*grandchild));
	close(tell_fd[0]);
	close(tell_fd[1]);
	*hold = hold_fd[1];
}

/* What a loss leaves uncertain is asked of the kernel: these are, for once, real processes. */
static void after_a_loss_those_stay_that_still_descend(void **state)
{
	struct proctree *t = proctree_new();
	pid_t child, grandchild;
	uint32_t gone = 4194303, self = (uint32_t)getpid();
	int hold;

	(void)state;
	make_descent(&child, &grandchild, &hold);
	now = 100;
	proctree_add(t, self);
	assert_true(tell(t, SPOOL_FORK, (uint32_t)child, (uint32_t)child, self));
	assert_true(tell(t, SPOOL_FORK, gone, gone, self));	/* and its exit was lost */
	proctree_doubt(t, self, 200);
	now = 200;		/* still what had happened before */
	assert_true(has(t, gone));
	now = 201;
	assert_false(has(t, gone));
	assert_true(has(t, self));
	assert_true(has(t, (uint32_t)child));
	assert_true(has(t, (uint32_t)grandchild));	/* its fork was lost */
	assert_false(has(t, (uint32_t)getppid()));
	/* What is born after that is beyond doubt. */
	assert_true(tell(t, SPOOL_FORK, gone, gone, self));
	now = 1000;
	assert_true(has(t, gone));
	close(hold);
	assert_int_equal(waitpid(child, NULL, 0), child);
	proctree_free(t);
}

static void children_that_are_there_are_found(void **state)
{
	struct proctree *t = proctree_new();
	pid_t child, grandchild;
	int hold;

	(void)state;
	make_descent(&child, &grandchild, &hold);
	proctree_add(t, (uint32_t)getpid());
	assert_false(has(t, (uint32_t)child));
	proctree_add_children(t);
	assert_true(has(t, (uint32_t)child));
	assert_true(has(t, (uint32_t)grandchild));
	assert_false(has(t, (uint32_t)getppid()));
	close(hold);
	assert_int_equal(waitpid(child, NULL, 0), child);
	proctree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_cpu_only_the_command_is_taken_from_its_exec_on),
		cmocka_unit_test(processes_and_their_children_are_known),
		cmocka_unit_test(a_command_begins_with_its_own_exec),
		cmocka_unit_test(a_number_used_anew_by_others_is_out),
		cmocka_unit_test(a_process_ends_with_its_last_thread),
		cmocka_unit_test(many_come_and_go),
		cmocka_unit_test(after_a_loss_those_stay_that_still_descend),
		cmocka_unit_test(children_that_are_there_are_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
