/* test_work_jobs.c - which jobs are not worth to be run: those that cannot be, and those that
 * tell nothing new */
#include "tests/unit/manager/work/workscene.h"

#include "policy/evidence.h"

static uint64_t now_ms;

static uint64_t clock_ms(void)
{
	return now_ms;
}

static void what_cannot_be_run_is_tried_again_and_not_all_the_time(void **state)
{
	struct err err;

	(void)state;
	w.now_ms = clock_ms;
	now_ms = 5000;
	assert_int_equal(work_try_jobs(&w, &err), 0);
	strcpy(ask.not_run, "a library is missing");
	assert_int_equal(work_try_jobs(&w, &err), 0);
	assert_int_equal(work_try_jobs(&w, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);	/* nothing is kept of that */
	assert_string_equal(err.text, "jobs cannot be run: a library is missing");
	now_ms += 599999;
	assert_int_equal(work_try_jobs(&w, NULL), -1);
	now_ms++;
	assert_int_equal(work_try_jobs(&w, &err), 0);
	assert_int_equal(work_try_jobs(&w, &err), -1);
	ask.not_run[0] = '\0';
	assert_int_equal(work_try_jobs(&w, &err), 0);
}

static void registers_are_looked_at_where_they_lack(void **state)
{
	(void)state;
	m.samples = 500;
	m.states = EVIDENCE_ENOUGH - 1;
	w.samples = 0;				/* not known yet */
	assert_true(work_lacks(&w, &m));
	w.samples = 1000;
	assert_true(work_lacks(&w, &m));
	m.states = EVIDENCE_ENOUGH;
	assert_false(work_lacks(&w, &m));
	m.states = 0;
	w.samples = 1000000;			/* too small a share */
	assert_false(work_lacks(&w, &m));
	w.policy->registers = SWITCH_ON;
	assert_true(work_lacks(&w, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_be_run_is_tried_again_and_not_all_the_time),
		TEST(registers_are_looked_at_where_they_lack),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
