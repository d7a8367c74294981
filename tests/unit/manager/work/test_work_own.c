/* test_work_own.c - what Morph itself takes is counted once, whoever counts */
#include "tests/unit/manager/work/workscene.h"

#include <math.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/bootid.h"
#include "lib/procstat.h"
#include "manager/store/store_saved.h"

static double own[STORE_NOWN];

static void account(uint64_t samples)
{
	struct attribution a = { .newest_ns = 0 };
	uint64_t begin;
	struct err err;

	a.counter[COUNTER_KNOWN] = samples;
	a.counter[COUNTER_KERNEL] = 2 * samples;
	a.counter[COUNTER_LOST] = 1000000;		/* no samples */
	work_account(&w, &a);
	assert_int_equal(store_own_get(w.store, 0, own, &begin, &err), 0);
}

static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void work_for(double s)
{
	for (double end = cpu_s() + s; cpu_s() < end; )
		;
}

static void samples_jobs_and_its_own_time_are_counted_once(void **state)
{
	(void)state;
	ask.cost_ms[ASK_OTHERS] = 1500;
	ask.cost_ms[ASK_PROOFS] = 250;
	account(10);
	assert_true(own[STORE_OWN_SAMPLES] == 30);
	assert_true(own[STORE_OWN_JOBS] == 1.5);
	assert_true(own[STORE_OWN_MONITOR] == 0);
	double before = own[STORE_OWN_MANAGER], now_s = cpu_s();
	assert_true(before > 0 && before < now_s + 0.1);
	work_for(0.1);
	ask.cost_ms[ASK_OTHERS] = 1700;
	account(1);
	assert_true(own[STORE_OWN_SAMPLES] == 33);
	assert_true(fabs(own[STORE_OWN_JOBS] - 1.7) < 1e-9);
	assert_true(own[STORE_OWN_PROOFS] == 0.25 && own[STORE_OWN_LAYOUTS] == 0);
	double took = own[STORE_OWN_MANAGER] - before;
	assert_true(took > 0.09 && took < cpu_s() - now_s + 0.1);
}

/* A process that has used so much, and waits. */
static pid_t other(double s)
{
	int pipe_of[2];
	char c;

	assert_int_equal(pipe(pipe_of), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);		/* also of a test that fails */
		work_for(s);
		(void)!write(pipe_of[1], "x", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(pipe_of[0], &c, 1), 1);
	close(pipe_of[0]);
	close(pipe_of[1]);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_role_is_counted_by_process_across_managers(void **state)
{
	(void)state;
	pid_t pid = other(0.2);
	ask.roles.num[MSG_ROLES_monitor_pid] = (uint64_t)pid;
	account(0);
	double first = own[STORE_OWN_MONITOR];
	assert_true(first > 0.15 && first < 1);
	memset(&w.own, 0, sizeof(w.own));	/* as in a new Manager */
	account(0);
	assert_true(own[STORE_OWN_MONITOR] == first);
	end(pid);
	account(0);
	assert_true(own[STORE_OWN_MONITOR] == first);
	pid = other(0.1);			/* the next one, whatever its number */
	ask.roles.num[MSG_ROLES_monitor_pid] = (uint64_t)pid;
	account(0);
	assert_true(own[STORE_OWN_MONITOR] > first + 0.05);
	assert_true(own[STORE_OWN_PARENT] == 0);
	end(pid);
}

static void one_of_another_boot_is_another_one(void **state)
{
	char text[STORE_READING_MAX], boot[BOOTID_MAX];
	struct procstat p;
	struct err err;

	(void)state;
	pid_t pid = other(0.1);
	assert_true(procstat_read(pid, &p));
	bootid_read(boot);
	assert_int_equal(strlen(boot), 36);
	ask.roles.num[MSG_ROLES_parent_pid] = (uint64_t)pid;
	(void)snprintf(text, sizeof(text), "%s %d %llu %llu", boot, (int)pid,
		       (unsigned long long)p.start, (unsigned long long)p.cpu_ticks);
	assert_int_equal(store_own_last_put(w.store, STORE_OWN_PARENT, text, &err), 0);
	account(0);
	assert_true(own[STORE_OWN_PARENT] == 0);	/* nothing since */
	text[0] = text[0] == 'a' ? 'b' : 'a';
	assert_int_equal(store_own_last_put(w.store, STORE_OWN_PARENT, text, &err), 0);
	account(0);
	assert_true(own[STORE_OWN_PARENT] > 0.05);
	assert_int_equal(store_own_last_put(w.store, STORE_OWN_PARENT, "nonsense", &err), 0);
	account(0);					/* as if it had never been read */
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_jobs_and_its_own_time_are_counted_once),
		TEST(a_role_is_counted_by_process_across_managers),
		TEST(one_of_another_boot_is_another_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
