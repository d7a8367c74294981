/* test_perf.c - the kernel's events, opened, mapped, switched and closed: on the kernel here
 *
 * Samples are looked for in this process alone, which spins for them; a machine that has no
 * clock for that is skipped.  Counters of cycles, which virtual machines often lack, are stood
 * in for by the kernel's own clock: what was asked for is what is looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/perf.h"
#include "monitor/perf_decode.h"
#include "monitor/perf_sysfs.h"
#include "tests/unit/descriptors.h"

/* Where others sample, too, the tick's tracepoint is passed more often: no upper bound. */
enum { SPIN_MS = 60, SPINS_MAX = 100, SOME = 3, PAGE = 4096 };

/* A processor whose counters are so precise, and the events that it was asked for. */
static struct {
	bool here;
	unsigned precise, refused, n;
	struct perf_event_attr asked[64];
} pmu;

static bool no_bpf;		/* a kernel without */

static long stand_in(struct perf_event_attr attr, long pid, long cpu, long flags)
{
	if (attr.precise_ip > pmu.precise || pmu.n == 64) {
		pmu.refused++;
		errno = EOPNOTSUPP;
		return -1;
	}
	pmu.asked[pmu.n++] = attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.precise_ip = 0;
	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1L, flags);
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);

	const struct perf_event_attr *attr = (const struct perf_event_attr *)a[0];

	if (pmu.here && number == SYS_perf_event_open && attr->type == PERF_TYPE_HARDWARE)
		return stand_in(*attr, (int)a[1], (int)a[2], a[4]);
	if (no_bpf && number == SYS_bpf) {
		errno = EPERM;
		return -1;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time of our own. */
static void spin(void)
{
	uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + SPIN_MS * UINT64_C(1000000);

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

/* Of this process or, when it is given, of another one. */
struct seen {
	unsigned samples, states, execs, crashes, bad;
	uint64_t stack_bytes;
	bool own_pc;		/* a sample's PC is in now_ns() or about */
};

static void look(struct perf_set *set, pid_t pid, struct seen *s)
{
	static uint8_t bounce[PERF_RECORD_BYTES_MAX];
	const struct perf_format *format = perf_format(set);

	for (unsigned i = 0; i < perf_nring(set); i++) {
		struct perf_ring ring = perf_ring(set, i);
		uint64_t pos = ring.tail;

		assert_in_range(ring.head - ring.tail, 0, ring.size);
		while (pos < ring.head) {
			struct bytes b = perf_ring_record(&ring, pos, bounce);
			struct spool_event e = { 0 };

			if (!b.p)
				break;
			enum perf_outcome got = perf_decode(format, b, &e);
			s->bad += got == PERF_UNKNOWN || got == PERF_MALFORMED;
			if (got == PERF_EVENT && e.pid == (uint32_t)pid) {
				s->samples += e.kind == SPOOL_SAMPLE;
				s->execs += e.kind == SPOOL_EXEC;
				s->crashes += e.kind == SPOOL_CRASH &&
					      e.crash.signal == SIGSEGV;
				if (e.kind == SPOOL_SAMPLE && e.sample.has_state) {
					s->states++;
					s->stack_bytes += e.sample.state.stack_bytes;
				}
				s->own_pc |= e.kind == SPOOL_SAMPLE && e.sample.pc != 0;
			}
			pos += b.n;
		}
		assert_true(pos == ring.head);
		perf_ring_consumed(set, i, pos);
		assert_true(perf_ring(set, i).tail == pos);
	}
}

static struct seen spin_and_look(struct perf_set *set)
{
	struct seen s = { 0 };

	spin();
	look(set, getpid(), &s);
	assert_int_equal(s.bad, 0);
	return s;
}

static bool some_samples(const struct seen *s)
{
	return s->samples >= SOME;
}

static bool some_states(const struct seen *s)
{
	return s->states >= SOME;
}

/* Spins until what is wanted came: a virtual CPU's timer may fall behind for a while, and the
 * kernel throttles samples that take long. */
static struct seen spin_until(struct perf_set *set, bool (*wanted)(const struct seen *))
{
	struct seen s = { 0 };

	for (unsigned tries = 0; !wanted(&s) && tries < SPINS_MAX; tries++) {
		spin();
		look(set, getpid(), &s);
	}
	assert_true(wanted(&s));
	assert_int_equal(s.bad, 0);
	return s;
}

static unsigned mapped_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "anon_inode:[perf_event]") != NULL;
	assert_int_equal(fclose(f), 0);
	return n;
}

/* Mapped and enabled. */
static struct perf_set *started(const struct perf_options *o)
{
	struct err err = { 0 };
	struct perf_set *set = geteuid() == 0 ? perf_open(o, &err) : NULL;

	if (!set)
		skip();
	if (perf_map(set, &err) < 0 || perf_enable(set, &err) < 0)
		fail_msg("%s", err.text);
	return set;
}

static const struct perf_options plain = {
	.clock = MONITOR_CLOCK_CPU_CLOCK, .rate_hz = 1000, .pid = PERF_PID_ALL,
};

static void wrong_options_are_refused(void **state)
{
	struct perf_options o = plain;
	struct err err = { 0 };
	unsigned before = descriptors();

	(void)state;
	o.rate_hz = 0;
	assert_null(perf_open(&o, &err));
	assert_string_equal(err.text, "sampling rate 0 is outside 1..50000 1/s");
	o.rate_hz = PERF_RATE_MAX + 1;
	assert_null(perf_open(&o, &err));
	assert_string_equal(err.text, "sampling rate 50001 is outside 1..50000 1/s");
	o = plain;
	o.clock = MONITOR_CLOCK_TICK;
	o.user_only = true;
	assert_null(perf_open(&o, &err));
	assert_non_null(strstr(err.text, "no sampling clock: tick"));
	assert_non_null(strstr(err.text, "needs privileges"));
	o.clock = MONITOR_CLOCK_CPU_CLOCK;
	o.pid = 0x3fffffff;		/* nobody */
	assert_null(perf_open(&o, &err));
	assert_non_null(strstr(err.text, "no sampling clock: cpu-clock"));
	assert_non_null(strstr(err.text, "No such process"));
	assert_int_equal(descriptors(), before);
	perf_close(NULL);
}

/* Who may not sample is told the setting by which he may not. */
static void without_the_right_the_setting_is_told(void **state)
{
	char level[32], want[80];
	struct err err = { 0 };
	int status;

	(void)state;
	assert_int_equal(sysfs_line("/proc/sys/kernel/perf_event_paranoid", level,
				    sizeof(level)), 0);
	if (atoi(level) < 1)
		skip();			/* anybody may */
	(void)snprintf(want, sizeof(want), "(kernel.perf_event_paranoid is %s)", level);
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		_exit(perf_open(&plain, &err) || !strstr(err.text, want));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void clocks_have_names(void **state)
{
	(void)state;
	assert_string_equal(monitor_clock_name(MONITOR_CLOCK_AUTO), "auto");
	assert_string_equal(monitor_clock_name(MONITOR_CLOCK_TICK), "tick");
	assert_string_equal(monitor_clock_name(MONITOR_CLOCK_CPU_CLOCK), "cpu-clock");
	assert_string_equal(monitor_clock_name(MONITOR_CLOCK_CYCLES), "cycles");
}

static void every_cpu_has_a_ring(void **state)
{
	struct perf_options o = plain;
	unsigned before = descriptors();
	struct perf_set *set;
	struct err err = { 0 };

	(void)state;
	o.rate_hz = 97;
	set = started(&o);
	assert_int_equal(perf_nring(set), sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(mapped_rings(), perf_nring(set));
	assert_int_equal(perf_clock(set), MONITOR_CLOCK_CPU_CLOCK);
	/* a prime, so that no loop runs in step with it */
	assert_int_equal(perf_period_ns(set), 10309283);
	for (unsigned i = 0; i < perf_nring(set); i++) {
		assert_true(perf_ring_fd(set, i) >= 0);
		assert_int_equal(perf_ring(set, i).size, PERF_DATA_PAGES * PAGE);
	}
	assert_false(perf_tells_crashes(set) || perf_tells_memory(set) || perf_guards(set));
	assert_string_equal(perf_lacks(set)->note, "");
	/* none came, and all are still on; the kernel's count of the time goes on */
	(void)usleep(20000);
	assert_false(perf_cpu_came(set));
	(void)usleep(20000);
	assert_false(perf_cpu_came(set));
	perf_close(set);
	assert_int_equal(descriptors(), before);
	assert_int_equal(mapped_rings(), 0);
	o.data_pages = 16;
	set = perf_open(&o, &err);
	assert_non_null(set);
	assert_int_equal(perf_map(set, &err), 0);
	assert_int_equal(perf_ring(set, 0).size, 16 * PAGE);
	perf_close(set);
}

/* With each clock that there is here. */
static void samples_come_but_not_in_a_pause(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (enum monitor_clock clock = MONITOR_CLOCK_TICK; clock <= MONITOR_CLOCK_CYCLES;
	     clock++) {
		struct perf_options o = plain;
		struct err err = { 0 };

		o.clock = clock;
		struct perf_set *set = geteuid() == 0 ? perf_open(&o, &err) : NULL;
		if (!set)
			continue;
		perf_close(set);
		tried++;
		set = started(&o);
		assert_int_equal(perf_clock(set), clock);
		struct seen s = spin_until(set, some_samples);
		assert_int_equal(s.states, 0);
		assert_true(s.own_pc);
		assert_int_equal(perf_pause(set, true, &err), 0);
		(void)spin_and_look(set);	/* what was under way */
		assert_int_equal(spin_and_look(set).samples, 0);
		assert_int_equal(perf_pause(set, false, &err), 0);
		(void)spin_until(set, some_samples);
		perf_close(set);
	}
	if (!tried)
		skip();
}

static void states_come_when_they_are_switched_on(void **state)
{
	struct perf_options o = plain;
	struct err err = { 0 };
	unsigned before = descriptors();

	(void)state;
	o.state = PERF_STATE_SWITCHED;
	o.stack_bytes = 256;
	struct perf_set *set = started(&o);
	struct seen s = spin_until(set, some_samples);
	assert_int_equal(s.states, 0);
	assert_int_equal(perf_set_state(set, true, &err), 0);
	(void)spin_and_look(set);
	s = spin_until(set, some_states);
	assert_true(s.states <= s.samples);
	assert_int_equal(s.stack_bytes, s.states * 256);
	assert_int_equal(perf_set_state(set, false, &err), 0);
	(void)spin_and_look(set);
	s = spin_until(set, some_samples);
	assert_int_equal(s.states, 0);
	perf_close(set);
	assert_int_equal(descriptors(), before);
	/* and always */
	o.state = PERF_STATE_ALWAYS;
	o.stack_bytes = 0;
	set = started(&o);
	s = spin_until(set, some_states);
	assert_int_equal(s.stack_bytes, 0);
	perf_close(set);
}

/* Then perf's own events take the samples of ticks. */
static void ticks_are_sampled_without_bpf_as_well(void **state)
{
	struct perf_options o = plain;
	struct err err = { 0 };
	unsigned before = descriptors();

	(void)state;
	o.clock = MONITOR_CLOCK_TICK;
	o.state = PERF_STATE_SWITCHED;
	o.kernel_pcs = true;
	no_bpf = true;
	struct perf_set *set = geteuid() == 0 ? perf_open(&o, &err) : NULL;
	no_bpf = false;
	if (!set)
		skip();
	assert_int_equal(perf_nring(set), sysconf(_SC_NPROCESSORS_ONLN));
	/* as it is where ticks cannot be told */
	if (perf_format(set)->apart_ns == 0)
		assert_non_null(strstr(perf_lacks(set)->note, "samples of ticks by BPF: "
				       "BPF map: Operation not permitted"));
	assert_int_equal(perf_map(set, &err), 0);
	assert_int_equal(perf_enable(set, &err), 0);
	struct seen s = spin_until(set, some_samples);
	assert_int_equal(s.states, 0);
	assert_int_equal(perf_set_state(set, true, &err), 0);
	(void)spin_until(set, some_states);
	assert_int_equal(perf_pause(set, true, &err), 0);
	(void)spin_and_look(set);
	assert_int_equal(spin_and_look(set).samples, 0);
	perf_close(set);
	assert_int_equal(descriptors(), before);
}

/* Samples as precise as the processor can; states never, else the registers are those behind
 * the instruction that the PC names. */
static void cycles_are_as_precise_as_can_be(void **state)
{
	struct perf_options o = plain;

	(void)state;
	o.clock = MONITOR_CLOCK_CYCLES;
	o.state = PERF_STATE_SWITCHED;
	o.stack_bytes = 256;
	pmu.here = true;
	for (unsigned precise = 0; precise <= 2; precise++) {
		pmu.precise = precise;
		pmu.refused = pmu.n = 0;
		struct perf_set *set = started(&o);
		assert_int_equal(perf_clock(set), MONITOR_CLOCK_CYCLES);
		assert_int_equal(pmu.n, 2 * perf_nring(set));
		assert_int_equal(pmu.refused, 2 - precise);	/* what one lacks all lack */
		for (unsigned i = 0; i < pmu.n; i++) {
			const struct perf_event_attr *attr = &pmu.asked[i];
			bool states = i % 2;

			assert_int_equal(attr->config, PERF_COUNT_HW_CPU_CYCLES);
			assert_int_equal(attr->freq, 1);
			assert_int_equal(attr->sample_freq, o.rate_hz);
			assert_int_equal(attr->precise_ip, states ? 0 : precise);
			assert_int_equal(attr->sample_regs_user == PERF_STATE_REGS, states);
			assert_int_equal(!!(attr->sample_type & PERF_SAMPLE_IP), 1);
			assert_int_equal(!!(attr->sample_type & PERF_SAMPLE_STACK_USER),
					 states);
			assert_int_equal(attr->sample_stack_user, states ? 256 : 0);
			assert_int_equal(attr->exclude_idle, 1);
			/* rather than for each sample it wakes us for many */
			assert_int_equal(attr->watermark, 1);
			assert_int_equal(attr->wakeup_watermark, PERF_WATERMARK_BYTES);
			assert_int_equal(attr->use_clockid, 1);
			assert_int_equal(attr->clockid, CLOCK_MONOTONIC);
			assert_int_equal(attr->disabled, 1);
			assert_int_equal(attr->sample_id_all, 1);
			assert_int_equal(attr->exclude_hv, 1);
		}
		perf_close(set);
	}
	pmu.here = false;
}

/* What BPF tells of crashes and memory: on all CPUs, or the reason is said. */
static void crashes_and_memory_are_told_or_lacking(void **state)
{
	struct perf_options o = plain;
	unsigned before = descriptors();

	(void)state;
	o.state = PERF_STATE_SWITCHED;
	o.crashes = o.memory = o.guard = true;
	struct perf_set *set = started(&o);
	const struct lacks *l = perf_lacks(set);
	assert_int_equal(perf_tells_crashes(set), l->why[LACK_CRASHES][0] == '\0');
	assert_int_equal(perf_tells_memory(set), l->why[LACK_MEMORY][0] == '\0');
	assert_int_equal(perf_guards(set), perf_tells_memory(set));
	assert_int_equal(perf_format(set)->crashes, perf_tells_crashes(set));
	assert_int_equal(perf_format(set)->memory, perf_tells_memory(set));
	perf_close(set);
	assert_int_equal(descriptors(), before);
	o.memory = false;		/* only whose samples they are */
	set = started(&o);
	assert_false(perf_tells_memory(set));
	assert_int_equal(perf_guards(set), perf_format(set)->memory);
	perf_close(set);
	assert_int_equal(descriptors(), before);
}

/* A process that a fault kills, or a signal of somebody; on that CPU. */
static pid_t die_on(int cpu, bool fault)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit none = { 0, 0 };
		volatile int *volatile nowhere = (volatile int *)16;
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) < 0 ||
		    setrlimit(RLIMIT_CORE, &none) < 0)
			_exit(1);
		(void)signal(SIGSEGV, SIG_DFL);
		if (fault)
			*nowhere = 0;
		(void)raise(SIGSEGV);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return pid;
}

static void a_fault_is_told_on_every_cpu(void **state)
{
	struct perf_options o = plain;
	unsigned cpu[64];
	struct err err = { 0 };
	int n = sysfs_online(cpu, 64, &err);

	(void)state;
	o.crashes = true;
	struct perf_set *set = started(&o);
	if (!perf_tells_crashes(set)) {
		perf_close(set);
		skip();
	}
	for (int i = 0; i < n; i++) {
		struct seen s = { 0 };

		look(set, die_on((int)cpu[i], true), &s);
		assert_int_equal(s.crashes, 1);
		s = (struct seen){ 0 };
		look(set, die_on((int)cpu[i], false), &s);	/* by its own will */
		assert_int_equal(s.crashes, 0);
	}
	perf_close(set);
}

/* One process, from its exec on: it and nobody else is seen. */
static void one_process_is_sampled_from_its_exec_on(void **state)
{
	struct perf_options o = plain;
	struct err err = { 0 };
	int go[2];
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)read(go[0], &byte, 1);
		execl("/bin/sh", "sh", "-c",
		      "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", (char *)NULL);
		_exit(127);
	}
	o.pid = pid;
	o.user_only = true;
	struct perf_set *set = perf_open(&o, &err);
	if (!set || perf_map(set, &err) < 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		perf_close(set);
		skip();
	}
	struct seen own = { 0 }, its = { 0 };
	spin();
	look(set, getpid(), &own);
	assert_int_equal(write(go[1], &byte, 1), 1);
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	look(set, pid, &its);
	assert_int_equal(own.samples, 0);
	assert_int_equal(its.execs, 1);
	assert_true(its.samples >= SOME);
	assert_int_equal(its.bad, 0);
	perf_close(set);
	close(go[0]);
	close(go[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(without_the_right_the_setting_is_told),
		cmocka_unit_test(clocks_have_names),
		cmocka_unit_test(every_cpu_has_a_ring),
		cmocka_unit_test(samples_come_but_not_in_a_pause),
		cmocka_unit_test(states_come_when_they_are_switched_on),
		cmocka_unit_test(ticks_are_sampled_without_bpf_as_well),
		cmocka_unit_test(cycles_are_as_precise_as_can_be),
		cmocka_unit_test(crashes_and_memory_are_told_or_lacking),
		cmocka_unit_test(a_fault_is_told_on_every_cpu),
		cmocka_unit_test(one_process_is_sampled_from_its_exec_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
