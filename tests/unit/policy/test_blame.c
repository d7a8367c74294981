/* Whose crashes take a generation away, and whose do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/blame.h"

enum { OWNER = 1000, A = 1001, B = 1002, C = 1003, SERVICE = 33 };
static const uint32_t people[] = { A, B, C };

/* An hour of the generation, ten days of the original. */
static const struct blame_about of_root = { 0, 3600, 864000, people, 3 };

static void assert_judged(const struct blame_user *user, uint32_t n,
			  const struct blame_about *about, unsigned blamers, bool goes)
{
	bool decided = !goes;

	assert_int_equal(blame_judge(user, n, about, &decided), blamers);
	assert_int_equal(decided, goes);
}

static void root_decides_alone(void **state)
{
	struct blame_about users = of_root;

	(void)state;
	assert_judged(&(struct blame_user){ 0, 1, 0 }, 1, &of_root, 1, true);
	users.owner = OWNER;
	assert_judged(&(struct blame_user){ 0, 1, 0 }, 1, &users, 1, true);
	assert_judged(NULL, 0, &of_root, 0, false);
}

static void so_does_the_owner_of_the_file(void **state)
{
	struct blame_about users = of_root;

	(void)state;
	users.owner = OWNER;
	assert_judged(&(struct blame_user){ OWNER, 1, 0 }, 1, &users, 1, true);
	assert_judged(&(struct blame_user){ OWNER, 1, 0 }, 1, &of_root, 1, false);
	/* nobody owns what is nobody's */
	users.owner = BLAME_NOBODY;
	assert_judged(&(struct blame_user){ BLAME_NOBODY, 1, 0 }, 1, &users, 1, false);
}

static void others_must_be_three(void **state)
{
	const struct blame_user user[] = { { SERVICE, 64, 0 }, { A, 64, 0 }, { B, 1, 0 } };

	(void)state;
	assert_judged(user, 1, &of_root, 1, false);
	assert_judged(user, 2, &of_root, 2, false);
	assert_judged(user, 3, &of_root, 3, true);
}

static void or_all_people_that_there_are(void **state)
{
	const struct blame_user user[] = { { SERVICE, 1, 0 }, { A, 1, 0 }, { B, 1, 0 } };
	struct blame_about few = of_root;

	(void)state;
	few.nperson = 1;
	assert_judged(user, 1, &few, 1, false);		/* a service is no person */
	assert_judged(user + 1, 1, &few, 1, true);
	assert_judged(user + 2, 1, &few, 1, false);	/* nor is one with another account */
	few.nperson = 2;
	assert_judged(user + 1, 1, &few, 1, false);
	assert_judged(user + 1, 2, &few, 2, true);
	few.nperson = 0;
	assert_judged(user + 1, 2, &few, 2, false);
}

static void each_is_compared_with_himself(void **state)
{
	/* A's original crashed all the time, too; that says nothing of others' */
	const struct blame_user user[] = { { 0, 1, 0 }, { A, 1, 64 }, { B, 0, 64 } };
	struct blame_about few = of_root;

	(void)state;
	assert_true(blame_by(&user[0], &of_root));
	assert_judged(user, 3, &of_root, 1, true);
	few.watched_s = 86400;
	assert_false(blame_by(&user[1], &few));
	assert_judged(user + 1, 2, &few, 0, false);
	few.nperson = 1;
	assert_judged(user + 1, 1, &few, 0, false);
	/* root's own original that crashed as often is as usual */
	assert_judged(&(struct blame_user){ 0, 2, 64 }, 1, &few, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_decides_alone),
		cmocka_unit_test(so_does_the_owner_of_the_file),
		cmocka_unit_test(others_must_be_three),
		cmocka_unit_test(or_all_people_that_there_are),
		cmocka_unit_test(each_is_compared_with_himself),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
