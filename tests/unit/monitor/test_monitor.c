/* test_monitor.c - the Monitor's loop over a ring made here; what the parent says waits */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "monitor/mono.h"
#include "monitor/monitor.h"
#include "tests/unit/monitor/madering.h"

/* --- a Monitor --- */

enum { SECOND = 1000000000 };
enum { SOMEBODY = 1 };		/* is there, and none of ours */

struct scene {
	struct perf_set set;
	struct monitor_options options;
	struct monitor_counts counts;
	struct err err;
	char dir[32];
	int parent, monitor;		/* the ends of the socket */
	unsigned confined;
};

/* After all that needs privileges, before anything is written. */
static int confine(void *ctx, struct err *err)
{
	struct scene *s = ctx;
	DIR *d = opendir(s->dir);

	(void)err;
	s->confined++;
	assert_true(s->set.enabled);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)); )
		assert_int_equal(e->d_name[0], '.');
	closedir(d);
	return 0;
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	int pair[2];

	assert_non_null(s);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	s->parent = pair[0];
	s->monitor = pair[1];
	assert_int_equal(fcntl(s->parent, F_SETFL, O_NONBLOCK), 0);
	strcpy(s->dir, "/tmp/morph-monitor.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	s->set.format = (struct perf_format){ .user_cx = true, .crashes = true };
	s->set.ring_fd = eventfd(0, EFD_CLOEXEC);
	next_ns = mono_now_ns(mono_shift_ns()) + SECOND;
	s->options = (struct monitor_options){
		.command_fd = s->monitor, .drain_s = 3600, .spool_max_bytes = 64 << 20,
		.spool_dirfd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.states_max_bytes = 1 << 20, .confine = confine, .confine_ctx = s,
	};
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	DIR *d = opendir(s->dir);

	for (struct dirent *e; d && (e = readdir(d)); )
		if (e->d_name[0] != '.')
			assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
	if (d)
		closedir(d);
	(void)rmdir(s->dir);
	close(s->options.spool_dirfd);
	close(s->set.ring_fd);
	if (s->parent >= 0)
		close(s->parent);
	close(s->monitor);
	free(s);
	return 0;
}

static void say(struct scene *s, enum msg_type type, uint64_t num)
{
	struct msg m = { .type = type, .num = { num } };

	assert_int_equal(msg_send(s->parent, &m, &s->err), 0);
}

static void half_full(struct scene *s)
{
	uint64_t one = 1;

	assert_int_equal(write(s->set.ring_fd, &one, sizeof(one)), sizeof(one));
}

static int run(struct scene *s)
{
	return monitor_run(&s->set, &s->options, &s->counts, &s->err);
}

/* The next one that the parent was told. */
static struct msg told(struct scene *s, enum msg_type type)
{
	struct msg m = { 0 };

	assert_int_equal(msg_receive(s->parent, MSG_ROLE_MONITOR, MSG_ROLE_PARENT, &m,
				     &s->err), 1);
	assert_string_equal(msg_name(m.type), msg_name(type));
	return m;
}

static void nothing_more(struct scene *s)
{
	struct msg m = { 0 };

	assert_int_equal(msg_receive(s->parent, MSG_ROLE_MONITOR, MSG_ROLE_PARENT, &m,
				     &s->err), 0);
}

/* --- what was written --- */

struct written {
	unsigned samples, states, maps, own, kinds[SPOOL_BRANCHES + 1];
	uint64_t last_map_ns, first_sample_ns;
};

static void read_spool(int fd, struct written *out)
{
	struct err err;
	struct spool_reader *r = spool_reader_open(fd, &err);
	struct spool_event ev;

	assert_non_null(r);
	while (spool_read(r, &ev)) {
		out->kinds[ev.kind]++;
		out->own += ev.pid == (uint32_t)getpid();
		if (ev.kind == SPOOL_MMAP)
			out->last_map_ns = ev.time_ns;
		if (ev.kind != SPOOL_SAMPLE)
			continue;
		if (!out->samples++)
			out->first_sample_ns = ev.time_ns;
		out->states += ev.sample.has_state;
	}
	assert_int_equal(spool_reader_bad_blocks(r), 0);
	spool_reader_free(r);
	close(fd);
}

static struct written written(const struct scene *s)
{
	struct written w = { 0 };
	DIR *d = opendir(s->dir);

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)); )
		if (e->d_name[0] != '.')
			read_spool(openat(dirfd(d), e->d_name, O_RDONLY), &w);
	closedir(d);
	return w;
}

/* --- tests --- */

static void what_the_parent_asks_is_answered_in_order(void **state)
{
	struct scene *s = *state;

	lack_add(&s->set.lacks, LACK_CRASHES, "no such thing");
	put_sample(&s->set, SOMEBODY, false);
	put_sample(&s->set, SOMEBODY, true);
	put_sample(&s->set, (uint32_t)getpid(), false);
	put_count(&s->set, PERF_RECORD_LOST, 7);
	put_count(&s->set, PERF_RECORD_THROTTLE, 0);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	assert_int_equal(s->confined, 1);
	struct msg m = told(s, MSG_WATCHING);
	assert_int_equal(m.num[MSG_WATCHING_crashes], 1);
	assert_non_null(strstr(m.text, "\nno such thing\n"));
	m = told(s, MSG_MONITOR_COUNTS);
	assert_string_equal(m.text, "tick");
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_samples], 2);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_lost], 7);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_throttled], 1);
	m = told(s, MSG_FLUSHED);
	assert_int_equal(m.num[MSG_FLUSHED_status], 0);
	assert_int_equal(m.nfd, 0);
	(void)told(s, MSG_MONITOR_COUNTS);
	(void)told(s, MSG_FLUSHED);
	nothing_more(s);
	assert_true(s->set.paused);
	assert_int_equal(s->counts.own, 1);
	assert_int_equal(s->counts.kernel, 1);
	assert_int_equal(s->set.tail, s->set.head);
}

/* Each is told once, with another number than the others. */
static void every_figure_has_its_place(void **state)
{
	struct scene *s = *state;
	struct wr odd = begun(4711, 0);

	s->set.format.state = s->set.guards = s->options.switched = true;
	s->set.format.branches = s->options.registers = true;
	s->set.branches_hz = 100;
	for (int i = 0; i < 2; i++)
		put_state(&s->set, SOMEBODY);
	for (int i = 0; i < 3; i++)
		put_branches(&s->set, SOMEBODY);
	for (int i = 0; i < 4; i++)
		put_count(&s->set, PERF_RECORD_THROTTLE, 0);
	wr_u64(&odd, 0);
	wr_u64(&odd, next_ns++);
	put(&s->set, &odd);
	put_broken(&s->set);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	(void)told(s, MSG_WATCHING);
	struct msg m = told(s, MSG_MONITOR_COUNTS);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_samples], 2);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_states], 2);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_stacks_private], 3);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_throttled], 4);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_unknown], 1);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_malformed], 1);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_branches_hz], 100);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_registers], 1);
	assert_true(m.num[MSG_MONITOR_COUNTS_events] >= 6);
	(void)told(s, MSG_FLUSHED);
	m = told(s, MSG_MONITOR_COUNTS);
	assert_true(m.num[MSG_MONITOR_COUNTS_spool_bytes] > 0);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_registers], 1);
}

static void running_processes_come_before_what_is_sampled(void **state)
{
	struct scene *s = *state;

	put_sample(&s->set, SOMEBODY, false);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	struct written w = written(s);
	assert_int_equal(w.samples, 1);
	assert_int_equal(w.own, 0);
	if (geteuid() == 0)		/* else there is nobody else's to be read */
		assert_true(w.kinds[SPOOL_MMAP] > 0);
	assert_true(w.last_map_ns < w.first_sample_ns);
}

/* By the finished-round rule it waits for the next drain, unless there is none. */
static void what_comes_during_a_look_is_not_lost(void **state)
{
	struct scene *s = *state;

	put_sample(&s->set, SOMEBODY, false);
	s->set.late = SOMEBODY;
	say(s, MSG_FLUSH, 0);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	(void)told(s, MSG_WATCHING);
	struct msg m = told(s, MSG_MONITOR_COUNTS);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_samples], 1);
	assert_int_equal(written(s).samples, 2);
}

static void the_last_drain_holds_nothing_back(void **state)
{
	struct scene *s = *state;

	put_sample(&s->set, SOMEBODY, false);
	s->set.late = SOMEBODY;
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	assert_int_equal(s->counts.samples, 2);
}

static void a_pause_is_the_kernel_s_and_is_told(void **state)
{
	struct scene *s = *state;

	s->options.paused = true;
	say(s, MSG_SET_PAUSE, 0);
	say(s, MSG_SET_PAUSE, 1);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	(void)told(s, MSG_WATCHING);
	struct msg m = told(s, MSG_MONITOR_COUNTS);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_paused], 0);
	m = told(s, MSG_MONITOR_COUNTS);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_paused], 1);
}

static void a_pause_that_fails_ends_it(void **state)
{
	struct scene *s = *state;

	say(s, MSG_SET_PAUSE, 1);
	s->set.cannot_pause = true;
	assert_int_equal(run(s), -1);
	assert_string_equal(s->err.text, "no pause");
	s->options.paused = true;	/* likewise at the beginning: then nothing is told */
	s->confined = 0;
	assert_int_equal(run(s), -1);
	assert_int_equal(s->confined, 0);
}

static void states_go_to_memory_alone(void **state)
{
	struct scene *s = *state;

	s->set.format.state = s->set.guards = s->options.switched = true;
	put_state(&s->set, SOMEBODY);
	say(s, MSG_SET_REGISTERS, 1);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_SET_REGISTERS, 1);	/* as it is */
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	assert_string_equal(s->set.state, "10");
	(void)told(s, MSG_WATCHING);
	struct msg m = told(s, MSG_MONITOR_COUNTS);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_registers], 1);
	(void)told(s, MSG_MONITOR_COUNTS);
	m = told(s, MSG_FLUSHED);
	assert_int_equal(m.nfd, 1);
	struct written w = { 0 };
	read_spool(m.fd[0], &w);
	assert_int_equal(w.states, 1);
	w = written(s);
	assert_int_equal(w.samples, 1);
	assert_int_equal(w.states, 0);
}

static void without_room_for_states_there_are_none_until_they_are_fetched(void **state)
{
	struct scene *s = *state;

	s->set.format.state = s->set.guards = s->options.switched = true;
	s->options.registers = true;
	s->options.states_max_bytes = 0;
	put_state(&s->set, SOMEBODY);
	half_full(s);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	assert_string_equal(s->set.state, "1010");
	assert_int_equal(s->counts.states_dropped, 1);
	assert_int_equal(s->counts.samples, 1);
}

/* Where the kernel does not tell whose can be told; of root's nothing can. */
static void nobody_s_secrets_are_kept(void **state)
{
	struct scene *s = *state;

	s->set.format.state = s->options.switched = s->options.registers = true;
	s->set.format.branches = true;
	s->set.branches_hz = 100;
	put_state(&s->set, SOMEBODY);
	put_branches(&s->set, SOMEBODY);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	assert_int_equal(s->counts.states, 0);
	assert_int_equal(s->counts.states_private, 1);
	assert_int_equal(s->counts.stacks_private, 1);
	struct written w = written(s);
	assert_int_equal(w.samples, 1);
	assert_int_equal(w.kinds[SPOOL_BRANCHES], 0);
}

static void a_crash_is_told_at_once(void **state)
{
	struct scene *s = *state;

	put_crash(&s->set, SOMEBODY);
	put_sample(&s->set, SOMEBODY, false);
	half_full(s);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	(void)told(s, MSG_WATCHING);
	(void)told(s, MSG_CRASHED);
	(void)told(s, MSG_MONITOR_COUNTS);	/* unasked */
	(void)told(s, MSG_MONITOR_COUNTS);
	(void)told(s, MSG_FLUSHED);
	nothing_more(s);
	assert_int_equal(written(s).kinds[SPOOL_CRASH], 1);
}

static void what_is_due_is_drained_unasked(void **state)
{
	struct scene *s = *state;

	s->options.drain_s = 0;
	put_sample(&s->set, SOMEBODY, false);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	(void)told(s, MSG_WATCHING);
	struct msg m = told(s, MSG_MONITOR_COUNTS);
	assert_int_equal(m.num[MSG_MONITOR_COUNTS_samples], 1);
	(void)told(s, MSG_MONITOR_COUNTS);
	(void)told(s, MSG_FLUSHED);
	nothing_more(s);
}

static void a_cpu_that_comes_ends_it_and_nothing_is_lost(void **state)
{
	struct scene *s = *state;

	put_sample(&s->set, SOMEBODY, false);
	half_full(s);
	s->set.came = true;
	assert_int_equal(run(s), 0);
	assert_true(s->counts.cpu_came);
	assert_int_equal(written(s).samples, 1);
}

static void without_a_parent_it_ends_and_nothing_is_lost(void **state)
{
	struct scene *s = *state;

	put_sample(&s->set, SOMEBODY, false);
	say(s, MSG_FLUSH, 0);
	(void)shutdown(s->parent, SHUT_WR);
	assert_int_equal(run(s), 0);
	assert_false(s->counts.cpu_came);
	assert_int_equal(written(s).samples, 1);
}

static void what_is_no_message_of_the_parent_s_ends_it(void **state)
{
	struct scene *s = *state;

	assert_int_equal(send(s->parent, "no message", 10, 0), 10);
	assert_int_equal(run(s), -1);
	assert_non_null(strstr(s->err.text, "from the parent"));
}

static int take_the_folder_away(void *ctx, struct err *err)
{
	struct scene *s = ctx;

	(void)err;
	return rmdir(s->dir);
}

/* Once for what was lost; it goes on. */
static void a_spool_that_cannot_be_written_is_said(void **state)
{
	struct scene *s = *state;

	s->options.confine = take_the_folder_away;
	put_sample(&s->set, SOMEBODY, false);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_FLUSH, 0);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), 0);
	assert_true(s->counts.write_errors > 0);
	(void)told(s, MSG_WATCHING);
	(void)told(s, MSG_MONITOR_COUNTS);
	struct msg m = told(s, MSG_FLUSHED);
	assert_int_equal(m.num[MSG_FLUSHED_status], 1);
	assert_true(m.text[0] != 0);
	(void)told(s, MSG_MONITOR_COUNTS);
	m = told(s, MSG_FLUSHED);
	assert_int_equal(m.num[MSG_FLUSHED_status], 0);
	assert_string_equal(m.text, "");
}

static int refuse(void *ctx, struct err *err)
{
	(void)ctx;
	return err_set(err, ERR_SYS, "cannot be confined");
}

static void without_its_cage_it_reads_and_writes_nothing(void **state)
{
	struct scene *s = *state;

	s->options.confine = refuse;
	put_sample(&s->set, SOMEBODY, false);
	say(s, MSG_END, 0);
	assert_int_equal(run(s), -1);
	assert_string_equal(s->err.text, "cannot be confined");
	nothing_more(s);
	assert_int_equal(s->set.tail, 0);
	assert_int_equal(written(s).samples, 0);
}

static void without_events_it_says_why(void **state)
{
	struct scene *s = *state;
	char why[2048];

	memset(why, 'y', sizeof(why) - 1);
	why[sizeof(why) - 1] = 0;
	assert_int_equal(monitor_tell_failure(s->monitor, why, &s->err), 0);
	struct msg m = told(s, MSG_WATCHING);
	assert_int_equal(m.num[MSG_WATCHING_crashes], 0);
	assert_int_equal(strspn(m.text, "y"), 999);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_the_parent_asks_is_answered_in_order),
		T(every_figure_has_its_place),
		T(running_processes_come_before_what_is_sampled),
		T(what_comes_during_a_look_is_not_lost),
		T(the_last_drain_holds_nothing_back),
		T(a_pause_is_the_kernel_s_and_is_told),
		T(a_pause_that_fails_ends_it),
		T(states_go_to_memory_alone),
		T(without_room_for_states_there_are_none_until_they_are_fetched),
		T(nobody_s_secrets_are_kept),
		T(a_crash_is_told_at_once),
		T(what_is_due_is_drained_unasked),
		T(a_cpu_that_comes_ends_it_and_nothing_is_lost),
		T(without_a_parent_it_ends_and_nothing_is_lost),
		T(what_is_no_message_of_the_parent_s_ends_it),
		T(a_spool_that_cannot_be_written_is_said),
		T(without_its_cage_it_reads_and_writes_nothing),
		T(without_events_it_says_why),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
