/* test_work_adopt.c - files that look like generations: who has written them pays for what
 * looking into them takes */
#include "tests/unit/manager/work/workscene.h"

#include "manager/work/lookwait.h"

enum { JOB_MS = 2000 };

static unsigned jobs;
static uint32_t owner;

static void no_map(const struct msg *q, struct msg *r)
{
	assert_int_equal(q->num[MSG_RUN_JOB_kind], JOB_MAP);
	jobs++;
	r->num[MSG_REPLY_cpu_ms] = JOB_MS;
	r->num[MSG_REPLY_status] = ERR_INPUT;
	strcpy(r->text, "none");
}

/* A file of a user; of ours, where we cannot give it away. */
static int begin(void)
{
	jobs = 0;
	run_job = no_map;
	w.lookwait = calloc(1, sizeof(*w.lookwait));
	assert_non_null(w.lookwait);
	owner = geteuid() ? geteuid() : 1000;
	put_file(path, "looks like one");
	assert_int_equal(chown(path, owner, (gid_t)-1), 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void end(int fd)
{
	close(fd);
	free(w.lookwait);
	w.lookwait = NULL;
}

static enum module_made adopt(int fd)
{
	struct digest unused;
	struct wr map = { 0 };
	uint32_t number;
	enum module_made rc = work_adopt(&w, path, fd, &unused, &number, &map);

	wr_free(&map);
	return rc;
}

static double spent_by(uint32_t uid)
{
	struct err err = { 0 };
	double cpu_s, written;

	if (store_spent_by(w.store, uid, store_day_before(store_now_ns()), &cpu_s, &written,
			   &err) < 0)
		fail_msg("%s", err.text);
	return cpu_s;
}

static void its_owner_pays_for_what_looking_takes(void **state)
{
	const uint32_t another = owner + 1;
	int fd = begin();

	(void)state;
	assert_int_equal(adopt(fd), MADE_NOT);
	assert_int_equal(jobs, 1);
	assert_float_equal(spent_by(owner), JOB_MS / 1000.0, 1e-9);
	assert_true(lookwait_debt_ms(w.lookwait, owner, w.now_ms()) > 0);
	work_charge(&w, 0, another, 0);
	assert_float_equal(spent_by(another), 0, 1e-9);
	end(fd);
}

static void who_has_spent_his_budget_is_told_later(void **state)
{
	int fd = begin();

	(void)state;
	w.policy->owner_cpu_per_day_s = JOB_MS / 1000;
	assert_int_equal(adopt(fd), MADE_NOT);
	assert_int_equal(adopt(fd), MADE_LATER);
	assert_int_equal(jobs, 1);
	w.asked_by_trusted = true;
	assert_int_equal(adopt(fd), MADE_NOT);
	assert_int_equal(jobs, 2);
	w.asked_by_trusted = false;
	end(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_owner_pays_for_what_looking_takes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(who_has_spent_his_budget_is_told_later, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
