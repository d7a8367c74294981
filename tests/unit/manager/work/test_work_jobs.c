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

static void counts(double weight, const char *profile)
{
	struct store_counted c = { .original = m.original, .runs = 16, .weight = weight };
	struct err err;

	wr_text(&c.profile, profile);
	assert_int_equal(store_counted_put(w.store, m.id, &c, &err), 0);
	store_counted_free(&c);
}

static void what_has_been_counted_lacks_none(void **state)
{
	struct store_count use = { 0, 1000 * STORE_UNIT };
	const struct store_profile p = { .ncount = 1, .count = &use };
	struct err err = { 0 };

	(void)state;
	m.samples = w.samples = 1000;
	assert_true(work_lacks(&w, &m));
	counts(1, "");				/* it was tried */
	assert_true(work_lacks(&w, &m));
	counts(1, "block 0 1\n");
	assert_false(work_lacks(&w, &m));
	counts(0.24, "block 0 1\n");		/* too old to be used */
	assert_true(work_lacks(&w, &m));
	counts(1, "block 0 1\n");
	m.original.b[0] ^= 1;		/* of what was there before */
	assert_true(work_lacks(&w, &m));
	m.original.b[0] ^= 1;
	/* and for it alone none are taken */
	static const char text[] = "modules: {include: [\"/var/tmp/*\"]}\n";
	policy_free(w.policy);
	w.policy = policy_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, "test",
				&err);
	assert_non_null(w.policy);
	assert_int_equal(store_profile_put(w.store, m.id, &p, 0, &err), 0);
	assert_int_equal(work_registers(&w, &err), 0);
	assert_string_equal(w.registers_why, "off: no busy module lacks the evidence");
	assert_int_equal(store_counted_delete(w.store, m.id, &err), 0);
	assert_int_equal(work_registers(&w, &err), 0);
	assert_non_null(strstr(w.registers_why, "on: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_be_run_is_tried_again_and_not_all_the_time),
		TEST(registers_are_looked_at_where_they_lack),
		TEST(what_has_been_counted_lacks_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
