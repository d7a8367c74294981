/* test_job.c - jobs: what they get, what they cannot do, how they end
 *
 * The test is its own morph-edit and morph-verify: started as one, it does what its input
 * says. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "manager/parent/job.h"

#define SELF "/proc/self/exe"

/* --- the morph-edit and morph-verify of this test --- */

static int play(int argc, char **argv)
{
	char what[64] = "", out[256];
	struct rlimit r;
	int n = 0;

	if (read(3, what, sizeof(what) - 1) < 0)
		return 1;
	bool prints = strcmp(what, "args printed") == 0;
	if (prints || strcmp(what, "args") == 0) {
		for (int i = 1; i < argc; i++)
			n += snprintf(out + n, sizeof(out) - (size_t)n, "%s ", argv[i]);
		int to = 1;
		for (int i = 3; i < argc && to == 1 && !prints; i++)
			if (strcmp(argv[i - 1], "-o") == 0 ||
			    (i == argc - 1 && strncmp(argv[i], "fd:", 3) == 0))
				to = atoi(argv[i] + 3);
		if (to != 1 && strcmp(argv[1], "inherit") == 0 && write(1, "told", 4) != 4)
			return 1;
		return write(to, out, (size_t)n) == n ? 0 : 1;
	}
	if (strcmp(what, "descriptors") == 0) {
		for (int fd = 0; fd < 1024; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				n += snprintf(out + n, sizeof(out) - (size_t)n, "%d ", fd);
		return write(1, out, (size_t)n) == n ? 0 : 1;
	}
	if (strcmp(what, "limits") == 0) {
		(void)getrlimit(RLIMIT_AS, &r);
		n = snprintf(out, sizeof(out), "%llu", (unsigned long long)r.rlim_max);
		(void)getrlimit(RLIMIT_CORE, &r);
		n += snprintf(out + n, sizeof(out) - (size_t)n, " %llu %d",
			      (unsigned long long)r.rlim_max, getpriority(PRIO_PROCESS, 0));
		return write(1, out, (size_t)n) == n ? 0 : 1;
	}
	if (strcmp(what, "refuse") == 0) {
		(void)fprintf(stderr, "a warning\nmorph-edit: 'x': bad\033[31m luck\n");
		return 3;
	}
	if (strcmp(what, "flood") == 0 || strcmp(what, "gush") == 0) {
		for (int i = 0; i < (what[0] == 'g' ? 20000 : 100000); i++)
			(void)fprintf(stderr, "line %d of very many\n", i);
		(void)fprintf(stderr, "the last one\n");
		return 1;
	}
	if (strcmp(what, "spin") == 0)
		for (;;)
			;
	if (strcmp(what, "crash") == 0)
		__builtin_trap();	/* the first of a namespace ignores what it sends */
	if (strcmp(what, "lib") == 0 || strcmp(what, "usage") == 0) {
		(void)fprintf(stderr, "%s\n", what);
		return what[0] == 'l' ? 127 : 2;
	}
	/* leaves a child behind that keeps everything open */
	if (strcmp(what, "fork") == 0) {
		if (fork() == 0)
			(void)sleep(1000);
		return 0;
	}
	return 1;
}

/* --- the tests --- */

static int input(const char *what)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, what, strlen(what)), strlen(what));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* `nin` inputs, the first of which says what is to be done. */
static struct job_result run_asked(struct job_spec *spec, const char *what, unsigned wall_s)
{
	static const char *const more[] = { "second", "original" };
	struct job_result result;
	struct err err = { 0 };
	struct pollfd p[2];

	spec->morph_edit = spec->morph_verify = SELF;
	spec->memory_bytes = (uint64_t)4096 << 20;
	spec->file_bytes = 1 << 20;
	spec->cpu_s = 20;
	spec->wall_s = wall_s;
	for (int i = 0; i < spec->nin; i++)
		spec->in[i] = input(i ? more[i - 1] : what);
	struct job *j = job_start(spec, &err);
	if (!j)
		fail_msg("%s", err.text);
	while (!job_step(j, &result)) {
		int timeout = job_poll(j, p);

		(void)poll(p, 2, timeout);
	}
	job_free(j);
	for (int i = 0; i < spec->nin; i++)
		close(spec->in[i]);
	return result;
}

static struct job_result run(enum job_kind kind, const char *what, unsigned wall_s)
{
	struct job_spec spec = { .kind = kind, .nin = 1, .b = 64,
				 .a = kind == JOB_VERIFY ? 0 : 4096 };

	if (kind == JOB_OPTIMIZE || kind == JOB_VERIFY || kind == JOB_INSTRUMENT)
		spec.nin = 2;
	if (kind == JOB_INTERPRET || kind == JOB_INHERIT)
		spec.nin = 3;
	return run_asked(&spec, what, wall_s);
}

static const char *text_of(struct job_result *r)
{
	static char text[256];

	assert_int_equal(r->exit_code, 0);
	assert_true(r->nout >= 1);
	ssize_t n = pread(r->out[0], text, sizeof(text) - 1, 0);
	assert_true(n >= 0);
	text[n] = '\0';
	job_result_close(r);
	return text;
}

/* Its last output is what it prints. */
static void an_inheriting_job_has_a_file_and_a_text(void **state)
{
	struct job_result r = run(JOB_INHERIT, "args", 60);
	char text[8] = "";

	(void)state;
	assert_int_equal(r.nout, 2);
	assert_int_equal(pread(r.out[1], text, sizeof(text), 0), 4);
	assert_string_equal(text, "told");
	assert_string_equal(text_of(&r),
			    "inherit fd:3 --signature fd:4 --profile fd:5 -o fd:6 ");
}

static void a_job_gets_its_command_line(void **state)
{
	struct job_result r = run(JOB_DISASSEMBLE, "args", 60);

	(void)state;
	assert_string_equal(text_of(&r), "disassemble fd:3 --start=0x1000 --size=64 ");
	r = run(JOB_INTERPRET, "args", 60);
	assert_string_equal(text_of(&r), "interpret fd:3 fd:4 --original fd:5 -o fd:6 ");
	r = run(JOB_OPTIMIZE, "args", 60);
	assert_string_equal(text_of(&r),
			    "optimize fd:3 --profile fd:4 -o fd:5 --map fd:6 --stats fd:7 "
			    "--generation=4096 --keep-pointers --text-at=0x40 ");
	r = run(JOB_INSTRUMENT, "args", 60);
	assert_string_equal(text_of(&r),
			    "instrument fd:3 --profile fd:4 --private --text-at=0x40 "
			    "--uncertain=4096 -o fd:5 --counts fd:6 --stats fd:7 ");
	r = run(JOB_SIGNATURE, "args", 60);
	assert_string_equal(text_of(&r), "analyze fd:3 --signature fd:4 ");
	r = run(JOB_MAP, "args", 60);
	assert_string_equal(text_of(&r), "extract-map fd:3 fd:4 ");
	r = run(JOB_VERIFY, "args", 60);
	assert_string_equal(text_of(&r), "fd:3 fd:4 ");
}

static const struct {
	enum job_kind kind;
	int nin;
	uint64_t a, b;
	const char *passes, *want;
} told[] = {
	{ JOB_ANALYZE, 1, 0, 0, NULL, "analyze fd:3 --table fd:4 " },
	{ JOB_OPTIMIZE, 2, 7, 0, "align,split",
	  "optimize fd:3 --profile fd:4 -o fd:5 --map fd:6 --stats fd:7 "
	  "--generation=7 --passes=align,split " },
	{ JOB_OPTIMIZE, 3, 7, 1, NULL,
	  "optimize fd:3 --profile fd:4 --counted fd:5 -o fd:6 --map fd:7 "
	  "--stats fd:8 --generation=7 --keep-pointers " },
	{ JOB_OPTIMIZE, 2, 7, 2, NULL,
	  "optimize fd:3 --profile fd:4 -o fd:5 --map fd:6 --stats fd:7 "
	  "--generation=7 --keep-pointers --text-at=0x2 " },
	{ JOB_VERIFY, 2, 1, 0, NULL, "--counting fd:3 fd:4 " },
	{ JOB_VERIFY, 2, 2, 0, NULL, "--live fd:3 fd:4 " },
	{ JOB_VERIFY, 2, 3, 0, NULL, "--counting --live fd:3 fd:4 " },
	{ JOB_SYMBOLS, 1, 0, 0, NULL, "symbols fd:3 " },
	{ JOB_SYMBOLS, 2, 0, 0, NULL, "symbols fd:3 --debug fd:4 " },
	{ JOB_PLACED, 3, 0, 0, NULL, "placed fd:3 fd:4 fd:5 -o fd:6 " },
	{ JOB_EXPLAIN, 1, 0, 0, NULL, "analyze fd:3 " },
	{ JOB_EXPLAIN, 2, 0, 0, NULL, "analyze fd:3 --profile fd:4 " },
	{ JOB_DERIVED, 3, 0, 0, NULL, "derived fd:3 fd:4 fd:5 " },
	{ JOB_COUNTS, 2, 0, 0, NULL, "counts fd:3 fd:4 -o fd:5 " },
	{ JOB_INSTRUMENT, 2, 4, 0, NULL,
	  "instrument fd:3 --profile fd:4 --private --uncertain=4 -o fd:5 "
	  "--counts fd:6 --stats fd:7 " },
	{ JOB_EXECUTIONS, 2, 0, 0, NULL, "interpret fd:3 fd:4 --executions -o fd:5 " },
	{ JOB_EXECUTIONS, 3, 0, 0, NULL,
	  "interpret fd:3 fd:4 --original fd:5 --executions -o fd:6 " },
	{ JOB_BUILD_ID, 1, 0, 0, NULL, "build-id fd:3 " },
	{ JOB_CATCHES, 1, 0, 0, NULL, "catches fd:3 " },
	{ JOB_PLACES, 2, 0, 0, NULL, "places fd:3 fd:4 -o fd:5 " },
	{ JOB_PLACES, 3, 0, 0, NULL, "places fd:3 fd:4 --debug fd:5 -o fd:6 " },
	{ JOB_CODE_NAMES, 2, 0, 0, NULL, "code-names fd:3 fd:4 -o fd:5 " },
	{ JOB_EXPORT, 2, JOB_YAML, 0, NULL,
	  "export fd:3 --profile fd:4 --format=yaml -o fd:5 " },
	{ JOB_EXPORT, 3, JOB_FLOW_DOT_PLACED, 0x40, NULL,
	  "export fd:3 --profile fd:4 --counted fd:5 --format=flowdot-placed "
	  "--function=0x40 -o fd:6 " },
	{ JOB_FOREIGN, 2, 0, 0, NULL, "foreign fd:3 fd:4 -o fd:5 " },
	{ JOB_ANNOTATE, 2, 16, 5, NULL,
	  "annotate fd:3 fd:4 --function=0x10 --cycles=5 -o fd:5 " },
	{ JOB_ANNOTATE, 3, 16, 5, NULL,
	  "annotate fd:3 fd:4 --counts fd:5 --function=0x10 --cycles=5 -o fd:6 " },
	{ JOB_ANNOTATE, 3, 16, JOB_COUNTED_BESIDE, NULL,
	  "annotate fd:3 fd:4 --counted fd:5 --function=0x10 -o fd:6 " },
	{ JOB_PICTURE, 2, 9, 0, NULL, "picture fd:3 fd:4 --functions=9 -o fd:5 " },
	{ JOB_PICTURE, 3, 9, 0, NULL,
	  "picture fd:3 fd:4 --counts fd:5 --functions=9 -o fd:6 " },
	{ JOB_PICTURE, 3, 9, 1, NULL,
	  "picture fd:3 fd:4 --generation fd:5 --functions=9 -o fd:6 " },
	{ JOB_UNWIND_ROWS, 1, 0, 0, NULL, "unwind-rows fd:3 -o fd:4 " },
	{ JOB_UNWIND, 2, 0, 0, NULL, "unwind fd:3 fd:4 -o fd:5 " },
};

/* Those of its command line that are no inputs, and what it prints. */
static int outputs_of(const char *line, int nin, bool printed)
{
	int n = 0;

	for (const char *at = line; (at = strstr(at, "fd:")) != NULL; at++)
		n++;
	return n - nin + printed;
}

static void the_command_line_depends_on_what_is_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		struct job_spec spec = { .kind = told[i].kind, .nin = told[i].nin,
					 .a = told[i].a, .b = told[i].b,
					 .passes = told[i].passes };
		bool has_file = strstr(told[i].want, "-o fd:") ||
				strstr(told[i].want, "--table fd:");
		struct job_result r =
			run_asked(&spec, has_file ? "args" : "args printed", 60);
		int nout = r.nout;

		assert_string_equal(text_of(&r), told[i].want);
		assert_int_equal(nout, outputs_of(told[i].want, told[i].nin, !has_file));
	}
}

static void a_job_can_be_waited_for_at_the_usual_priority(void **state)
{
	struct job_spec spec = { .kind = JOB_SYMBOLS, .morph_edit = SELF, .morph_verify = SELF,
				 .memory_bytes = UINT64_MAX, .file_bytes = 1 << 20, .cpu_s = 20,
				 .wall_s = 60, .nin = 1, .prompt = true };
	int out[JOB_MAX_OUT];
	char text[64] = "", *priority;
	struct err err;

	(void)state;
	spec.in[0] = input("limits");
	assert_int_equal(job_run(&spec, out, &err), 0);
	assert_true(pread(out[0], text, sizeof(text) - 1, 0) > 0);
	priority = strrchr(text, ' ');
	assert_non_null(priority);
	assert_int_equal(atoi(priority), getpriority(PRIO_PROCESS, 0));
	close(out[0]);
	close(spec.in[0]);
	spec.in[0] = input("refuse");
	assert_int_equal(job_run(&spec, out, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_string_equal(err.text, "'x': bad?[31m luck");
	close(spec.in[0]);
}

static void a_job_holds_only_its_own_descriptors(void **state)
{
	int other = open("/dev/null", O_RDONLY);	/* not even close-on-exec */
	struct job_result r = run(JOB_SYMBOLS, "descriptors", 60);

	(void)state;
	assert_string_equal(text_of(&r), "0 1 2 3 ");
	close(other);
}

static void a_job_has_its_limits_and_low_priority(void **state)
{
	struct job_result r = run(JOB_SYMBOLS, "limits", 60);

	(void)state;
	assert_string_equal(text_of(&r), "4294967296 1 19");
}

static void the_last_line_is_the_reason(void **state)
{
	struct job_result r = run(JOB_ANALYZE, "refuse", 60);

	(void)state;
	assert_int_equal(r.exit_code, 3);
	assert_string_equal(r.reason, "'x': bad?[31m luck");
	assert_int_equal(r.nout, 0);
}

static void a_flood_of_messages_is_taken_in_and_cut(void **state)
{
	struct job_result r = run(JOB_ANALYZE, "flood", 60);

	(void)state;
	assert_int_equal(r.exit_code, 1);
	assert_string_equal(r.reason, "the last one");
}

static void a_job_that_does_not_end_is_ended(void **state)
{
	struct job_result r = run(JOB_ANALYZE, "spin", 1);

	(void)state;
	assert_int_equal(r.exit_code, 1);
	assert_non_null(strstr(r.reason, "took too long"));
}

static struct job *start_spinning(unsigned cpu_s, unsigned wall_s)
{
	struct job_spec spec = { .kind = JOB_ANALYZE,
				 .morph_edit = SELF, .morph_verify = SELF,
				 .memory_bytes = (uint64_t)4096 << 20, .file_bytes = 1 << 20,
				 .cpu_s = cpu_s, .wall_s = wall_s, .nin = 1,
				 .background = true };
	struct err err = { 0 };

	spec.in[0] = input("spin");
	struct job *j = job_start(&spec, &err);
	if (!j)
		fail_msg("%s", err.text);
	close(spec.in[0]);
	return j;
}

/* State and CPU time in clock ticks, from /proc. */
static char state_of(pid_t pid, unsigned long *ticks)
{
	char path[64], text[512], what = '?';
	unsigned long user = 0, system = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	assert_int_equal(sscanf(strrchr(text, ')'),
				") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &what,
				&user, &system),
			 3);
	*ticks = user + system;
	return what;
}

static struct job_result end_of(struct job *j)
{
	struct job_result result;
	struct pollfd p[2];

	while (!job_step(j, &result)) {
		int timeout = job_poll(j, p);

		(void)poll(p, 2, timeout);
	}
	job_free(j);
	return result;
}

/* Who is late to look finds all of it. */
static void the_last_line_is_found_behind_as_much_as_a_pipe_holds(void **state)
{
	struct job_spec spec = { .kind = JOB_ANALYZE, .morph_edit = SELF, .morph_verify = SELF,
				 .memory_bytes = (uint64_t)4096 << 20, .file_bytes = 1 << 20,
				 .cpu_s = 20, .wall_s = 60, .nin = 1,
				 .in = { input("gush") } };
	struct err err = { 0 };
	struct pollfd p[2];
	siginfo_t ended;

	(void)state;
	struct job *j = job_start(&spec, &err);
	if (!j)
		fail_msg("%s", err.text);
	close(spec.in[0]);
	(void)job_poll(j, p);
	/* one of them is where it talks */
	assert_true(fcntl(p[0].fd, F_SETPIPE_SZ, 1 << 20) > 0 ||
		    fcntl(p[1].fd, F_SETPIPE_SZ, 1 << 20) > 0);
	assert_int_equal(waitid(P_PID, (id_t)job_process(j), &ended, WEXITED | WNOWAIT), 0);
	struct job_result r = end_of(j);
	assert_int_equal(r.exit_code, 1);
	assert_string_equal(r.reason, "the last one");
}

/* Longer than its wall-clock limit; then it has all of what is left, and no more. */
static void time_in_which_a_job_is_stopped_does_not_count(void **state)
{
	struct job *j = start_spinning(60, 2);
	unsigned long before, after;
	struct job_result r;
	struct pollfd p[2];

	(void)state;
	job_stop(j);
	job_stop(j);			/* once is enough */
	for (int i = 0; i < 500 && state_of(job_process(j), &before) != 'T'; i++)
		(void)poll(NULL, 0, 10);
	assert_int_equal(job_poll(j, p), -1);	/* no time at which something must be done */
	(void)poll(NULL, 0, 2200);
	assert_int_equal(state_of(job_process(j), &after), 'T');
	assert_int_equal(after, before);
	assert_int_equal(job_step(j, &r), 0);
	job_go_on(j);
	int left = job_poll(j, p);
	assert_true(left > 100 && left <= 2000);	/* 100: it is being ended */
	r = end_of(j);
	assert_non_null(strstr(r.reason, "took too long"));
}

/* As when the daemon is stopped, or the machine paused: who ended meanwhile has ended in
 * time, and who did not has time left. */
static void time_in_which_nobody_looked_hardly_counts(void **state)
{
	struct job *slow = start_spinning(60, 3), *fast;
	struct job_spec spec = { .kind = JOB_ANALYZE, .morph_edit = SELF, .morph_verify = SELF,
				 .memory_bytes = (uint64_t)4096 << 20, .file_bytes = 1 << 20,
				 .cpu_s = 60, .wall_s = 1, .nin = 1 };
	struct job_result r;
	struct pollfd p[2];
	struct err err = { 0 };

	(void)state;
	spec.in[0] = input("refuse");
	fast = job_start(&spec, &err);
	close(spec.in[0]);
	assert_non_null(fast);
	(void)poll(NULL, 0, 3300);
	assert_int_equal(job_step(fast, &r), 1);
	assert_int_equal(r.exit_code, 3);
	job_free(fast);
	assert_int_equal(job_step(slow, &r), 0);
	assert_in_range(job_poll(slow, p), 101, 1000);	/* 100: it is being ended */
	r = end_of(slow);
	assert_non_null(strstr(r.reason, "took too long"));
}

static void cpu_time_of_a_job_counts_on_when_it_was_stopped(void **state)
{
	struct job *j = start_spinning(1, 600);

	(void)state;
	job_stop(j);
	(void)poll(NULL, 0, 100);
	job_hurry(j);
	/* On a busy machine a job's priority would give it that second within minutes. */
	(void)setpriority(PRIO_PROCESS, (id_t)job_process(j), 0);
	struct job_result r = end_of(j);
	assert_int_equal(r.exit_code, 1);
	assert_non_null(strstr(r.reason, "was ended by signal"));
	assert_true(r.cpu_ms >= 500);
}

static void a_stopped_job_can_be_ended(void **state)
{
	struct job *j = start_spinning(60, 60);
	pid_t pid = job_process(j);

	(void)state;
	job_stop(j);
	job_free(j);
	assert_int_equal(kill(pid, 0), -1);
}

/* Also when that ends before the job has seen to it: orphans come to this process. */
static void a_job_ends_with_who_started_it(void **state)
{
	enum { TIMES = 60, WAIT_MS = 5000 };
	int left = 0, waited = 0;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (int i = 0; i < TIMES; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			(void)start_spinning(20, 60);
			(void)usleep(50 * (useconds_t)i);
			_exit(0);
		}
		left += 2;		/* it, and the job */
	}
	while (left && waited < WAIT_MS) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		left -= pid > 0;
		if (pid == 0) {
			(void)usleep(1000);
			waited++;
		}
		if (pid < 0)
			break;
	}
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	assert_int_equal(left, 0);
}

static void a_crash_is_named(void **state)
{
	struct job_result r = run(JOB_ANALYZE, "crash", 60);

	(void)state;
	assert_int_equal(r.exit_code, 1);
	assert_int_equal(r.nout, 0);
	assert_true(r.reason[0] != '\0');
}

/* It is not the file's fault, which must not be refused for it. */
static void a_program_that_cannot_run_is_told_from_a_file_that_fails(void **state)
{
	static const char *const what[] = { "lib", "usage", "silent" };

	(void)state;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		struct job_result r = run(JOB_ANALYZE, what[i], 60);

		assert_int_equal(r.exit_code, JOB_NOT_RUN);
		assert_int_equal(job_err_kind(&r), ERR_SYS);
		assert_int_equal(job_proof_kind(&r), ERR_SYS);
		assert_true(r.reason[0] != '\0');
	}
	struct job *j = start_spinning(60, 60);
	assert_int_equal(kill(job_process(j), SIGKILL), 0);	/* as for memory */
	struct job_result killed = end_of(j);
	assert_int_equal(killed.exit_code, JOB_NOT_RUN);
	struct job_result crash = run(JOB_ANALYZE, "crash", 60);
	struct job_result refuse = run(JOB_ANALYZE, "refuse", 60);
	assert_int_equal(job_err_kind(&crash), ERR_INPUT);
	assert_int_equal(job_proof_kind(&crash), ERR_REFUSED);
	assert_int_equal(job_err_kind(&refuse), ERR_REFUSED);
}

static void outputs_cannot_change_any_more(void **state)
{
	struct job_result r = run(JOB_SYMBOLS, "fork", 60);

	(void)state;
	assert_int_equal(r.exit_code, 0);
	assert_int_equal(write(r.out[0], "x", 1), -1);
	assert_int_equal(errno, EPERM);
	job_result_close(&r);
}

static bool is_told(enum job_kind kind, int nin)
{
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (told[i].kind == kind && told[i].nin == nin)
			return true;
	return false;
}

static void refused(const struct job_spec *spec)
{
	struct err err = { 0 };

	assert_null(job_start(spec, &err));
	assert_non_null(strstr(err.text, "wrong kind or number of inputs"));
}

/* Of the kinds in the table above it has every number. */
static void a_wrong_number_of_inputs_is_refused(void **state)
{
	struct job_spec spec = { .kind = JOB_VERIFY, .nin = 1, .morph_verify = SELF };

	(void)state;
	refused(&spec);
	spec.kind = NJOB;
	refused(&spec);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		for (spec.nin = told[i].nin - 1; spec.nin <= told[i].nin + 1; spec.nin += 2) {
			spec.kind = told[i].kind;
			if (!is_told(spec.kind, spec.nin))
				refused(&spec);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_gets_its_command_line),
		cmocka_unit_test(the_command_line_depends_on_what_is_asked_for),
		cmocka_unit_test(an_inheriting_job_has_a_file_and_a_text),
		cmocka_unit_test(a_job_can_be_waited_for_at_the_usual_priority),
		cmocka_unit_test(a_job_holds_only_its_own_descriptors),
		cmocka_unit_test(a_job_has_its_limits_and_low_priority),
		cmocka_unit_test(the_last_line_is_the_reason),
		cmocka_unit_test(a_flood_of_messages_is_taken_in_and_cut),
		cmocka_unit_test(the_last_line_is_found_behind_as_much_as_a_pipe_holds),
		cmocka_unit_test(a_job_that_does_not_end_is_ended),
		cmocka_unit_test(time_in_which_a_job_is_stopped_does_not_count),
		cmocka_unit_test(time_in_which_nobody_looked_hardly_counts),
		cmocka_unit_test(cpu_time_of_a_job_counts_on_when_it_was_stopped),
		cmocka_unit_test(a_stopped_job_can_be_ended),
		cmocka_unit_test(a_job_ends_with_who_started_it),
		cmocka_unit_test(a_crash_is_named),
		cmocka_unit_test(a_program_that_cannot_run_is_told_from_a_file_that_fails),
		cmocka_unit_test(outputs_cannot_change_any_more),
		cmocka_unit_test(a_wrong_number_of_inputs_is_refused),
	};

	if (strcmp(argv[0], "morph-edit") == 0 || strcmp(argv[0], "morph-verify") == 0)
		return play(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
