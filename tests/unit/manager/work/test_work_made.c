/* test_work_made.c - names of code that programs made: who is asked, how often, for how much */
#include "tests/unit/manager/work/workscene.h"

#include "manager/samples/madeset.h"

enum { ANNA = 1000, MIB = 1 << 20 };

static unsigned asked, jobs;
static uint64_t file_bytes, most_asked, clock_ms, takes_ms;
static const char *whose;		/* NULL: there is no file */

static uint64_t test_clock(void)
{
	return clock_ms;
}

static bool gives(const struct msg *q, struct msg *r)
{
	if (q->type != MSG_MADE_CODE)
		return false;
	asked++;
	clock_ms += takes_ms;
	most_asked = q->num[MSG_MADE_CODE_max_bytes];
	if (!whose || file_bytes > most_asked) {
		r->num[MSG_REPLY_status] = ERR_REFUSED;
		strcpy(r->text, "no");
		return true;
	}
	strcpy(r->text, whose);
	r->fd[r->nfd++] = text_file("");
	assert_int_equal(ftruncate(r->fd[0], (off_t)file_bytes), 0);
	return true;
}

static void names(const struct msg *q, struct msg *r)
{
	char places[64] = "";

	assert_int_equal(q->num[MSG_RUN_JOB_kind], JOB_CODE_NAMES);
	assert_int_equal(q->nfd, 2);
	jobs++;
	assert_true(pread(q->fd[1], places, sizeof(places) - 1, 0) > 0);
	assert_string_equal(places, "0x7000\n0x8000\n");
	r->num[MSG_REPLY_cpu_ms] = 2000;
	r->fd[r->nfd++] = text_file("function\t0x0\t0\trun\nplace\t0x0\t0x0\t0\n"
				    "place\t0x0\t0x0\t-\n");
	assert_int_equal(lseek(r->fd[0], 0, SEEK_SET), 0);
}

static void begin(void)
{
	asked = jobs = 0;
	file_bytes = 100;
	takes_ms = 1;
	whose = "1000";
	also = gives;
	run_job = names;
	w.now_ms = test_clock;
	work_made_begin(&w);
}

/* Does it get its name? */
static bool is_named(uint32_t pid, uint64_t samples, const char *dump)
{
	static const uint64_t pc[] = { 0x7000, 0x8000 };
	const struct madeset_question q = { "/usr/bin/node", dump, pid, 5, samples, pc, 2 };
	struct madeset_answer a = { 0 };

	work_made(&w, &q, &a);
	bool named = a.nname == 1;
	if (named) {
		assert_true(a.known && a.uid == strtoul(whose, NULL, 10));
		assert_string_equal(a.name[0], "run");
		assert_true(a.of[0] == 1 && a.of[1] == 0);
	}
	madeset_answer_free(&a);
	return named;
}

static void a_process_is_asked_once(void **state)
{
	(void)state;
	begin();
	assert_true(is_named(10, 100, ""));
	assert_true(is_named(10, 50, ""));
	assert_int_equal(asked, 1);
	assert_int_equal(jobs, 2);
	assert_true(is_named(10, 50, "/home/anna/jit-10.dump"));	/* it has one since */
	assert_true(is_named(11, 50, ""));
	assert_int_equal(asked, 3);
	work_made_end(&w);
	work_made_begin(&w);
	assert_true(is_named(10, 100, ""));
	assert_int_equal(asked, 4);
	work_made_end(&w);
}

static void who_has_nothing_is_asked_again_for_more(void **state)
{
	(void)state;
	begin();
	whose = NULL;
	for (unsigned file = 0; file < 10; file++)
		for (uint32_t pid = 100; pid < 200; pid++)
			assert_false(is_named(pid, 20, ""));
	assert_int_equal(asked, 100);
	whose = "1000";
	assert_true(is_named(10, 20, ""));		/* whose turn comes */
	assert_false(is_named(100, 19, ""));
	assert_true(is_named(100, 21, ""));
	assert_true(is_named(101, 20, "/home/anna/jit-101.dump"));
	assert_int_equal(asked, 103);
	work_made_end(&w);
	work_made_begin(&w);
	assert_true(is_named(102, 20, ""));
	work_made_end(&w);
}

static void a_file_is_no_larger_than_its_samples_are_worth(void **state)
{
	(void)state;
	begin();
	assert_false(is_named(10, 3, ""));		/* not worth a job */
	assert_int_equal(asked, 0);
	file_bytes = 5 * MIB;
	assert_false(is_named(10, 4, ""));
	assert_int_equal(most_asked, 4 * MIB);
	assert_true(is_named(10, 5, ""));
	assert_false(is_named(10, 4, ""));		/* as it is known to be by now */
	assert_int_equal(asked, 2);
	file_bytes = 1;
	assert_true(is_named(11, 1000000, ""));
	assert_int_equal(most_asked, 64 * MIB);
	work_made_end(&w);
}

static void a_drain_has_its_bounds(void **state)
{
	unsigned named = 0;

	(void)state;
	w.policy->owner_cpu_per_day_s = 100000;
	begin();
	file_bytes = 64 * MIB;
	for (uint32_t pid = 10; pid < 20; pid++)
		named += is_named(pid, 1000, "");
	assert_int_equal(named, 4);			/* 256 MiB */
	work_made_end(&w);
	begin();
	for (uint32_t pid = 10; pid < 100; pid++)
		named += is_named(pid, 1000, "");
	assert_int_equal(named, 4 + 32);
	assert_int_equal(asked, 32);
	work_made_end(&w);
	begin();
	for (uint32_t i = 0; i < 300; i++)
		named += is_named(10, 1000, "");
	assert_int_equal(named, 4 + 32 + 256);
	assert_int_equal(jobs, 256);
	work_made_end(&w);
	begin();
	whose = NULL;
	for (uint32_t pid = 10; pid < 1000; pid++)
		assert_false(is_named(pid, 1000, ""));
	assert_int_equal(asked, 128);
	work_made_end(&w);
	begin();
	whose = NULL;
	takes_ms = 5000;				/* none ever comes */
	for (uint32_t pid = 10; pid < 100; pid++)
		assert_false(is_named(pid, 1000, ""));
	assert_int_equal(asked, 3);
	work_made_end(&w);
}

static unsigned named_of(unsigned n)
{
	unsigned named = 0;

	for (unsigned i = 0; i < n; i++)
		named += is_named(10, 1000, "");
	return named;
}

static void jobs_are_within_the_user_s_budget(void **state)
{
	const struct store_cost spent = { .owner = ANNA, .cpu_s = 234 };
	struct err err;

	(void)state;
	begin();
	w.policy->owner_cpu_per_day_s = 240;
	assert_int_equal(store_spent_add(w.store, &spent, store_now_ns(), &err), 0);
	assert_int_equal(named_of(10), 3);		/* a job takes two */
	work_made_end(&w);
}

/* Who asks for reports over and over leaves others theirs. */
static void names_have_half_of_it_hour_by_hour(void **state)
{
	const uint64_t hour_ms = 3600000;

	(void)state;
	begin();
	takes_ms = 0;
	w.policy->owner_cpu_per_day_s = 240;
	assert_int_equal(named_of(20), 5);		/* 10 s in two hours */
	work_made_end(&w);
	work_made_begin(&w);
	assert_int_equal(named_of(20), 0);
	clock_ms += hour_ms;
	assert_int_equal(named_of(20), 3);		/* 5 s, and one that goes beyond */
	clock_ms += hour_ms / 5;
	assert_int_equal(named_of(20), 0);
	clock_ms += 100 * hour_ms;
	assert_int_equal(named_of(20), 5);
	work_made_end(&w);
	begin();
	whose = "1001";					/* another user, who has his own */
	assert_int_equal(named_of(20), 5);
	work_made_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_is_asked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(who_has_nothing_is_asked_again_for_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_is_no_larger_than_its_samples_are_worth,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_drain_has_its_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_are_within_the_user_s_budget, setup,
						teardown),
		cmocka_unit_test_setup_teardown(names_have_half_of_it_hour_by_hour, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
