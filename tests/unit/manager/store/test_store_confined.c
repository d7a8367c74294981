/* test_store_confined.c - a large store in a Manager's cage: nothing of it needs another folder
 *
 * What SQLite sorts, and what it keeps to take a statement back, goes to files where temporary
 * ones are kept once there is much of it, if nobody forbids that; and there the Manager may
 * not write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/confine.h"
#include "manager/store/store_ran.h"
#include "tests/unit/storefixture.h"

enum { HOURS = 192, NOT_HERE = 77 };	/* as many as are kept apart */

static const uint64_t hour_ns = UINT64_C(3600000000000);

/* As many programs as are told apart, others in each hour. */
static void add(struct store *s, uint32_t hour)
{
	struct attribution a = { 0 };
	struct err err;
	char program[64];

	for (int i = 0; i < STORE_RAN_ROWS; i++) {
		(void)snprintf(program, sizeof(program), "/home/anna/bin/tool-%u-%d", hour, i);
		attribution_ran(&a, program, &(struct attribute_ran){ hour, NULL, -2, 3 });
	}
	if (store_ran_add(s, &a, &err) < 0)
		fail_msg("%s", err.text);
	attribution_free(&a);
}

static bool count(void *ctx, const struct store_ran *r)
{
	uint64_t *samples = ctx;

	*samples += r->samples;
	return true;
}

/* What the Manager does; the exit code. */
static int tell_and_thin(uint32_t hours)
{
	const struct store_ran_span span = { 0, 0, true };
	uint64_t samples = 0;
	struct err err = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    confine_role(CONFINE_MANAGER, dir, NULL, &err) < 0)
		return NOT_HERE;
	struct store *s = store_open(dir, &err);
	if (!s || store_ran_each(s, &span, count, &samples, &err) < 0 ||
	    store_ran_thin(s, (uint64_t)hours * 30 * hour_ns, &err) < 0)
		dprintf(2, "# %s\n", err.text);
	else if (samples == (uint64_t)HOURS * STORE_RAN_ROWS * 3)
		return 0;
	return 1;
}

static void a_large_one_needs_no_other_folder(void **state)
{
	struct store *s = open_store();
	struct err err;
	int status;

	(void)state;
	assert_int_equal(store_begin(s, &err), 0);
	for (uint32_t i = 0; i < HOURS; i++)
		add(s, 1000 + i);
	assert_int_equal(store_commit(s, &err), 0);
	store_close(s);
	pid_t pid = fork();
	if (pid == 0)
		_exit(tell_and_thin(1000 + HOURS));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_HERE)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_large_one_needs_no_other_folder, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
