/* monitor_driver.c - the Monitor without the daemon around it, for tests and measurements
 *
 *   monitor_driver run DIR CLOCK[+STATE] DRAIN_S [-n]   sample the machine into DIR; commands
 *                                                       on standard
 *                                        input, a line each: flush, pause, resume, stop (the
 *                                        same as end of file), freeze and thaw (stop draining);
 *                                        answers are lines "NAME VALUE".  -n: not the driver
 *                                        either.  STATE: registers, memory (registers and what
 *                                        they point to), or off (as memory, but not switched
 *                                        on)
 *   monitor_driver record LOG CLOCK RATE COMMAND...
 *   monitor_driver dump FILE...          events as text
 *   monitor_driver sum FILE...           counts by kind, bytes, bytes a sample
 *   monitor_driver spin PERCENT MS       two loops, PERCENT of MS in the first; prints the
 *                                        ranges
 *   monitor_driver rests                 a tenth of the time at work, without end
 *   monitor_driver forks N               N processes that end at once
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "monitor/monitor.h"
#include "monitor/record.h"

static const char *const kinds[] = { "", "sample", "exec", "mmap", "fork", "exit", "lost",
				     "throttle", "gap", "killed", "crash", "branches" };

static int fail(const struct err *err)
{
	(void)fprintf(stderr, "monitor_driver: %s\n", err->text);
	return err_exit_code(err);
}

static int clock_named(const char *name, enum monitor_clock *out)
{
	for (unsigned i = MONITOR_CLOCK_AUTO; i <= MONITOR_CLOCK_CYCLES; i++)
		if (strcmp(monitor_clock_name(i), name) == 0) {
			*out = i;
			return 0;
		}
	(void)fprintf(stderr, "monitor_driver: no clock '%s'\n", name);
	return -1;
}

static int monitor_child(struct perf_set *set, int sock, int dirfd, unsigned drain_s,
			 bool parent_too, bool switched, bool registers)
{
	uint32_t own = (uint32_t)getppid();
	struct monitor_options o = { .command_fd = sock,
				     .spool_dirfd = dirfd, .drain_s = drain_s,
				     .spool_max_bytes = 64 << 20, .own_pid = &own,
				     .nown_pid = parent_too, .switched = switched,
				     .registers = registers,
				     .states_max_bytes = 64 << 20 };
	struct monitor_counts c = { 0 };
	struct err err;

	if (monitor_run(set, &o, &c, &err) < 0)
		return fail(&err);
	printf("kernel %" PRIu64 "\nown %" PRIu64 "\nunknown %" PRIu64 "\nmalformed %" PRIu64
	       "\nlate %" PRIu64 "\nwrite_errors %" PRIu64 "\nprocesses_missed %" PRIu64 "\n",
	       c.kernel, c.own, c.unknown, c.malformed, c.late, c.write_errors,
	       c.processes_missed);
	(void)fflush(stdout);
	return 0;
}

/* Prints what comes until the answer that ends with `last`; -1 when the monitor has ended. */
static int answers(int sock, enum msg_type last)
{
	struct msg m = { 0 };
	struct err err;

	do {
		if (msg_receive(sock, MSG_ROLE_MONITOR, MSG_ROLE_PARENT, &m, &err) <= 0)
			return -1;
		if (m.type == MSG_MONITOR_COUNTS)
			printf("clock %s\nsamples %" PRIu64 "\nevents %" PRIu64
			       "\nlost %" PRIu64 "\nthrottled %" PRIu64 "\nbytes %" PRIu64
			       "\npaused %" PRIu64 "\n",
			       m.text, m.num[MSG_MONITOR_COUNTS_samples],
			       m.num[MSG_MONITOR_COUNTS_events], m.num[MSG_MONITOR_COUNTS_lost],
			       m.num[MSG_MONITOR_COUNTS_throttled],
			       m.num[MSG_MONITOR_COUNTS_spool_bytes],
			       m.num[MSG_MONITOR_COUNTS_paused]);
		else if (m.type == MSG_FLUSHED)
			printf("flushed %" PRIu64 " %s\n", m.num[MSG_FLUSHED_status], m.text);
	} while (m.type != last);
	(void)fflush(stdout);
	return 0;
}

static void memory_of(pid_t pid)
{
	char path[64], line[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "Rss", 3) == 0 || strncmp(line, "VmRSS", 5) == 0)
			printf("%s", line);
	if (f)
		(void)fclose(f);	/* only read */
}

static int command_monitor(int sock, pid_t pid, const char *line)
{
	struct msg m = { 0 };
	struct err err;

	if (strcmp(line, "freeze") == 0)
		return kill(pid, SIGSTOP);
	if (strcmp(line, "thaw") == 0)
		return kill(pid, SIGCONT);
	if (strcmp(line, "memory") == 0) {
		memory_of(pid);
		return 0;
	}
	if (strcmp(line, "flush") == 0) {
		m.type = MSG_FLUSH;
	} else if (strcmp(line, "stop") == 0) {
		m.type = MSG_END;
	} else {
		m.type = MSG_SET_PAUSE;
		m.num[MSG_SET_PAUSE_on] = strcmp(line, "pause") == 0;
	}
	if (msg_send(sock, &m, &err) < 0)
		return -1;
	return answers(sock, m.type == MSG_SET_PAUSE ? MSG_MONITOR_COUNTS : MSG_FLUSHED);
}

/* "CLOCK" or "CLOCK+STATE"; *on: with registers from the beginning. */
static int options_of(const char *text, struct perf_options *o, bool *on)
{
	char clock[32];
	const char *plus = strchr(text, '+'), *state = plus ? plus + 1 : "";

	(void)snprintf(clock, sizeof(clock), "%.*s",
		       plus ? (int)(plus - text) : (int)strlen(text), text);
	*on = *state && strcmp(state, "off") != 0;
	o->memory = *state && strcmp(state, "registers") != 0;
	if (*state)
		o->state = PERF_STATE_SWITCHED;
	return clock_named(clock, &o->clock);
}

static int run(const char *dir, const char *clock, unsigned drain_s, bool parent_too)
{
	struct perf_options o = { .rate_hz = 1009, .pid = PERF_PID_ALL, .guard = true,
				  .kernel_pcs = true };
	bool registers;
	char line[64];
	struct err err;
	int pair[2], status;

	if (options_of(clock, &o, &registers) < 0)
		return 2;
	struct perf_set *set = perf_open(&o, &err);
	if (!set)
		return fail(&err);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		perror(dir);
		return 1;
	}
	printf("note %s\n", perf_lacks(set)->note);
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		_exit(monitor_child(set, pair[1], dirfd, drain_s, parent_too,
				    o.state == PERF_STATE_SWITCHED, registers));
	}
	close(pair[1]);
	perf_close(set);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (command_monitor(pair[0], pid, line) < 0 || strcmp(line, "stop") == 0)
			break;
	}
	close(pair[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_event(const struct spool_event *ev)
{
	printf("%" PRIu64 " %s %u %u", ev->time_ns, kinds[ev->kind], ev->pid, ev->tid);
	switch (ev->kind) {
	case SPOOL_SAMPLE:
		printf(" %" PRIx64 "%s", ev->sample.pc, ev->sample.kernel ? " kernel" : "");
		if (!ev->sample.has_state)
			break;
		printf(" state %" PRIx64, ev->sample.state.rflags);
		for (unsigned i = 0; i < SPOOL_NGPR; i++)
			printf(" %" PRIx64, ev->sample.state.gpr[i]);
		printf(" stack %u", ev->sample.state.stack_bytes);
		break;
	case SPOOL_EXEC:
		printf(" %s", ev->exec.comm);
		break;
	case SPOOL_MMAP:
		printf(" %" PRIx64 " %" PRIx64 " %" PRIx64 " %u:%u %" PRIu64 " %" PRIu64 " %s",
		       ev->mmap.addr, ev->mmap.len, ev->mmap.pgoff, ev->mmap.dev_major,
		       ev->mmap.dev_minor, ev->mmap.inode, ev->mmap.inode_generation,
		       ev->mmap.path);
		break;
	case SPOOL_FORK:
		printf(" %u", ev->fork.parent_pid);
		break;
	case SPOOL_LOST:
	case SPOOL_THROTTLE:
	case SPOOL_GAP:
		printf(" %" PRIu64, ev->lost);
		break;
	case SPOOL_KILLED:
		printf(" %" PRIu32, ev->signal);
		break;
	case SPOOL_CRASH:
		printf(" %" PRIu32 " %" PRIu32 " %" PRIx64, ev->crash.signal, ev->crash.uid,
		       ev->crash.pc);
		break;
	case SPOOL_BRANCHES:
		printf(" %" PRIu32, ev->branches.n);
		break;
	case SPOOL_EXIT:
		break;
	}
	putchar('\n');
}

static int read_files(char **path, int n, bool dump)
{
	uint64_t count[SPOOL_BRANCHES + 1] = { 0 }, states = 0, bytes = 0, bad = 0;
	uint64_t backwards = 0, span_ns = 0;

	for (int i = 0; i < n; i++) {
		struct spool_event ev;
		struct stat st;
		struct err err;
		uint64_t last = 0;
		int fd = open(path[i], O_RDONLY | O_CLOEXEC);
		struct spool_reader *r = fd < 0 ? NULL : spool_reader_open(fd, &err);

		if (!r || fstat(fd, &st) < 0) {
			(void)fprintf(stderr, "monitor_driver: '%s': %s\n", path[i],
				      fd < 0 ? strerror(errno) : err.text);
			return 1;
		}
		while (spool_read(r, &ev)) {
			count[ev.kind]++;
			states += ev.kind == SPOOL_SAMPLE && ev.sample.has_state;
			backwards += ev.time_ns < last;
			last = ev.time_ns;
			if (dump)
				print_event(&ev);
		}
		if (last > spool_reader_start_ns(r))
			span_ns += last - spool_reader_start_ns(r);
		bytes += (uint64_t)st.st_size;
		bad += spool_reader_bad_blocks(r);
		spool_reader_free(r);
		close(fd);
	}
	for (int k = SPOOL_SAMPLE; !dump && k <= SPOOL_BRANCHES; k++)
		printf("%s %" PRIu64 "\n", kinds[k], count[k]);
	if (!dump)
		printf("state %" PRIu64 "\nbytes %" PRIu64 "\nbad_blocks %" PRIu64
		       "\nbackwards %" PRIu64 "\nspan_ms %" PRIu64 "\nbytes_a_sample %.2f\n",
		       states, bytes, bad, backwards, span_ns / 1000000,
		       count[SPOOL_SAMPLE] ? (double)bytes / (double)count[SPOOL_SAMPLE] : 0.0);
	return 0;
}

/* Only its own clock decides how long each loop runs, so that the shares are known.  It is
 * looked at every 10 ms or so: looking, the kernel may give the CPU to somebody else.  Who
 * looks more often than the tick comes is on a busy machine always off the CPU when it
 * comes, and in no sample of it. */
static uint64_t turns = 200000;

#define LOOP(name)								\
static __attribute__((noinline)) void name(uint64_t cpu_ns)			\
{										\
	struct timespec ts;							\
	uint64_t end = 0, before = 0, now;					\
	do {									\
		for (volatile uint64_t i = 0; i < turns; i++)			\
			;							\
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);		\
		now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;	\
		if (!end)							\
			end = now + cpu_ns;					\
		else if (now < before + 5000000)				\
			turns *= 2;						\
		before = now;							\
	} while (now < end);							\
}
LOOP(first_loop)
LOOP(second_loop)

static int spin(uint64_t percent, uint64_t ms)
{
	printf("pid %d\nfirst %" PRIxPTR "\nsecond %" PRIxPTR "\n", (int)getpid(),
	       (uintptr_t)first_loop, (uintptr_t)second_loop);
	(void)fflush(stdout);
	for (uint64_t i = 0; i < 5; i++) {
		first_loop(ms * 2000 * percent);
		second_loop(ms * 2000 * (100 - percent));
	}
	return 0;
}

/* It may be asked for samples, and others should have the CPU. */
static _Noreturn void rests(void)
{
	printf("pid %d\n", (int)getpid());
	(void)fflush(stdout);
	for (;;) {
		first_loop(UINT64_C(10000000));
		(void)usleep(100000);
	}
}

static int forks(int n)
{
	printf("pid %d\n", (int)getpid());
	(void)fflush(stdout);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "run") == 0 && (argc == 5 || argc == 6))
		return run(argv[2], argv[3], (unsigned)atoi(argv[4]), argc == 6);
	if (strcmp(what, "record") == 0 && argc > 5) {
		struct record_options o = { .log_path = argv[2], .argv = argv + 5 };
		struct record_result result;
		struct err err;

		o.rate_hz = (unsigned)atoi(argv[4]);
		if (clock_named(argv[3], &o.clock) < 0)
			return 2;
		if (record_command(&o, &result, &err) < 0)
			return fail(&err);
		return result.exit_status;
	}
	if (strcmp(what, "dump") == 0 || strcmp(what, "sum") == 0)
		return read_files(argv + 2, argc - 2, what[0] == 'd');
	if (strcmp(what, "spin") == 0 && argc == 4)
		return spin((uint64_t)atoi(argv[2]), (uint64_t)atoi(argv[3]));
	if (strcmp(what, "rests") == 0 && argc == 2)
		rests();
	if (strcmp(what, "forks") == 0 && argc == 3)
		return forks(atoi(argv[2]));
	(void)fprintf(stderr, "usage: see the top of monitor_driver.c\n");
	return 2;
}
