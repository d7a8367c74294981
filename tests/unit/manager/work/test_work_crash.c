/* test_work_crash.c - which crashes make the Manager ask its parent for the original back, and
 * what it keeps of them, with a parent made up here; and the budgets of users
 */
#include <malloc.h>

#include "tests/unit/manager/work/workscene.h"

static void have_accounts(const char *text)
{
	char at[80];

	(void)snprintf(at, sizeof(at), "%s/etc", dir);
	(void)mkdir(at, 0700);			/* it may be there */
	(void)snprintf(at, sizeof(at), "%s/etc/passwd", dir);
	put_file(at, text);
	accounts_read(&w.accounts, dir);
}

static void crashes(uint32_t uid, uint32_t generation)
{
	struct attribute_crash c = { (uint64_t)m.id, generation, 4711, 11, uid };

	work_crashes(&w, &(struct attribution){ .ncrash = 1, .crash = &c });
}

/* --- the tests --- */

static void what_root_meets_brings_the_original_back(void **state)
{
	(void)state;
	crashes(0, 1);
	assert_int_equal(restores, 1);
	assert_int_equal(now().generation, 0);
	assert_non_null(strstr(now().refusal, "process 4711 of generation 1 was killed by "
			       "signal 11"));
	assert_non_null(strstr(last_event(), "not again for this original"));
	crashes(0, 1);				/* one that was on its way */
	assert_int_equal(restores, 1);
}

static void one_of_many_users_does_not(void **state)
{
	struct store_module got;

	(void)state;
	have_accounts("a:x:1001:1::/:\nb:x:1002:1::/:\nc:x:1003:1::/:\nd:x:1004:1::/:\n");
	for (int i = 0; i < 100; i++)
		crashes(1001, 1);
	assert_int_equal(restores, 0);
	assert_non_null(strstr(last_event(), "of user 1001; others decide too: 1 of 3"));
	for (uint32_t uid = 100000; uid < 100100; uid++)
		crashes(uid, 1);
	assert_int_equal(restores, 0);
	got = now();
	assert_true(got.generation == 1 && !got.refusal[0]);
	crashes(1003, 1);
	assert_int_equal(restores, 1);
}

/* The Manager runs for months; sqlite3 has a cache, which is full after a while. */
static void looking_at_who_blames_it_keeps_no_memory(void **state)
{
	enum { USERS = 200, TIMES = 100, MOST = TIMES * USERS * 4 };
	char text[USERS * 16] = "a:x:1001:1::/:\nb:x:1002:1::/:\n";
	size_t n = strlen(text);

	(void)state;
	for (int uid = 1; uid <= USERS; uid++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "s:x:%d:1::/:\n", uid);
	have_accounts(text);
	for (uint32_t uid = 1; uid <= USERS; uid++)
		crashes(uid, 0);		/* all have met crashes of the original */
	for (int i = 0; i < TIMES; i++)
		crashes(1001, 1);
	size_t before = mallinfo2().uordblks;
	for (int i = 0; i < TIMES; i++)
		crashes(1001, 1);
	assert_true(mallinfo2().uordblks < before + MOST);
	assert_int_equal(restores, 0);
}

static void the_only_person_does(void **state)
{
	(void)state;
	have_accounts("root:x:0:0::/:\na:x:1001:1::/:\nwww:x:33:1::/:\n");
	crashes(33, 1);
	assert_int_equal(restores, 0);
	crashes(1001, 1);
	assert_int_equal(restores, 1);
}

static void what_the_original_did_before_is_compared(void **state)
{
	(void)state;
	have_accounts("a:x:1001:1::/:\n");
	for (int i = 0; i < 20; i++)
		crashes(1001, 0);
	assert_int_equal(restores, 0);
	crashes(0, 1);				/* root's never did */
	assert_int_equal(restores, 1);
}

static void a_generation_that_is_not_there_is_not_taken_back(void **state)
{
	(void)state;
	crashes(0, 2);
	crashes(0, 0);
	assert_int_equal(restores, 0);
	assert_int_equal(now().generation, 1);
}

/* A process that counts for a while is not what is at the path: that stays, but it is not
 * counted again. */
static void a_crash_while_it_counts_ends_counting(void **state)
{
	struct store_generation *g = calloc(1, sizeof(*g));
	const struct bytes map = { (const uint8_t *)"m", 1 };
	struct err err;
	bool crashed;

	(void)state;
	*g = (struct store_generation){ .module = m.id, .number = 2, .original = m.original,
					.state = STATE_BURST };
	g->digest.b[0] = 9;
	strcpy(g->passes, "counting");
	assert_int_equal(store_generation_add(w.store, g, map, NULL, &err), 0);
	have_accounts("a:x:1001:1::/:\nb:x:1002:1::/:\nc:x:1003:1::/:\nd:x:1004:1::/:\n");
	crashes(1001, 2);			/* one of many users */
	assert_int_equal(store_generation_crashed(w.store, m.id, &crashed, &err), 0);
	assert_false(crashed);
	crashes(0, 2);
	assert_int_equal(store_generation_crashed(w.store, m.id, &crashed, &err), 0);
	assert_true(crashed);
	assert_non_null(strstr(last_event(), "it is not counted again"));
	assert_int_equal(restores, 0);
	assert_true(now().generation == 1 && !now().refusal[0]);
	/* of what is laid out it says nothing */
	assert_int_equal(store_generation_newest_layout(w.store, m.id, &m.original, g, &err),
			 1);
	assert_int_equal(g->number, 1);
	free(g);
}

static void what_the_parent_refuses_is_tried_again(void **state)
{
	(void)state;
	refuses = true;
	crashes(0, 1);
	assert_true(now().generation == 1 && !now().refusal[0]);
	refuses = false;
	crashes(0, 1);
	assert_int_equal(restores, 1);
	assert_true(now().refusal[0]);
}

static void a_users_day_has_its_budgets(void **state)
{
	struct err err = { 0 };

	(void)state;
	w.policy->owner_cpu_per_day_s = 10;
	w.policy->owner_disk_per_day_mib = 2;
	ask.job_cpu_ms = 4000;
	work_charge(&w, m.id, 1001, 1 << 20);
	assert_int_equal(work_budget(&w, 1001, 1 << 20, &err), 0);
	assert_int_equal(work_budget(&w, 1001, (1 << 20) + 1, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "for user 1001 1 of 2 MiB were written"));
	assert_non_null(strstr(err.text, "users.disk_per_day_mib"));
	ask.job_cpu_ms = 10000;
	work_charge(&w, 0, 1002, 0);		/* only what came since */
	assert_int_equal(work_budget(&w, 1001, 0, &err), 0);
	ask.job_cpu_ms = 16000;
	work_charge(&w, 0, 1001, 0);
	assert_int_equal(work_budget(&w, 1001, 0, &err), -1);
	assert_non_null(strstr(err.text, "user 1001 has used 10.0 of 10 s"));
	assert_non_null(strstr(err.text, "users.cpu_per_day_s"));
	assert_int_equal(work_budget(&w, 1002, 0, &err), 0);
	assert_int_equal(work_budget(&w, 0, UINT32_MAX, &err), 0);	/* root has none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_root_meets_brings_the_original_back),
		TEST(one_of_many_users_does_not),
		TEST(looking_at_who_blames_it_keeps_no_memory),
		TEST(the_only_person_does),
		TEST(what_the_original_did_before_is_compared),
		TEST(a_generation_that_is_not_there_is_not_taken_back),
		TEST(a_crash_while_it_counts_ends_counting),
		TEST(what_the_parent_refuses_is_tried_again),
		TEST(a_users_day_has_its_budgets),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
