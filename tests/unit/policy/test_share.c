/* test_share.c - whose use may show in the layout of a file that others read */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/share.h"

enum { ANNA = 1000, BEN, CARA, DAN };
#define JUDGE(owner, least, ...) JUDGE_AGREED(NULL, owner, least, __VA_ARGS__)
#define JUDGE_AGREED(agreed, owner, least, ...) \
	share_judge((const struct share_use[]){ __VA_ARGS__ }, agreed, \
		    sizeof((const struct share_use[]){ __VA_ARGS__ }) / \
			    sizeof(struct share_use), owner, least)

static void one_is_enough_where_nobody_is_kept_apart(void **state)
{
	(void)state;
	assert_true(JUDGE(0, 1, { ANNA, 1e6 }).enough);
	assert_true(JUDGE(0, 1, { SHARE_UNKNOWN, 1e6 }).enough);
	assert_true(share_judge(NULL, NULL, 0, 0, 1).enough);
}

static void what_the_owner_or_the_system_does_is_nobody_elses(void **state)
{
	(void)state;
	struct share s = JUDGE(ANNA, 3, { SHARE_SYSTEM, 500 }, { ANNA, 1e6 });
	assert_false(s.shared);
	assert_true(s.enough);
	assert_true(JUDGE(0, 3, { SHARE_SYSTEM, 1e6 }).enough);
	assert_true(share_judge(NULL, NULL, 0, 0, 3).enough);
	/* Root's file is everybody's: that only one runs it makes it worse. */
	assert_false(JUDGE(0, 2, { ANNA, 1e6 }).enough);
	assert_false(JUDGE(ANNA, 2, { ANNA, 1e6 }, { BEN, 1 }).enough);
}

/* He hides others as everybody does. */
static void who_has_agreed_may_show(void **state)
{
	static const bool first[] = { true, false, false }, both[] = { true, true, false };

	(void)state;
	assert_true(JUDGE_AGREED(first, 0, 3, { ANNA, 1e6 }).enough);
	assert_false(JUDGE_AGREED(first, 0, 3, { ANNA, 1e6 }, { BEN, 100 }).enough);
	assert_true(JUDGE_AGREED(both, 0, 3, { ANNA, 1e6 }, { BEN, 100 }).enough);
	assert_false(JUDGE_AGREED(both, 0, 3, { ANNA, 100 }, { BEN, 100 },
				  { SHARE_UNKNOWN, 1 }).enough);
	assert_true(JUDGE_AGREED(both, 0, 3, { ANNA, 100 }, { BEN, 100 },
				 { CARA, 100 }).enough);
}

static void so_many_people_are_enough_and_not_one_less(void **state)
{
	(void)state;
	struct share s = JUDGE(0, 3, { SHARE_SYSTEM, 1e6 }, { ANNA, 100 }, { BEN, 100 });
	assert_true(s.shared);
	assert_int_equal(s.people, 2);
	assert_false(s.enough);
	assert_true(JUDGE(0, 3, { ANNA, 100 }, { BEN, 100 }, { CARA, 100 }).enough);
	assert_true(JUDGE(0, 3, { ANNA, 100 }, { BEN, 100 }, { CARA, 100 }, { DAN, 1 }).enough);
}

static void who_does_next_to_nothing_hides_nobody(void **state)
{
	(void)state;
	assert_false(JUDGE(0, 3, { ANNA, 1e6 }, { BEN, 100 }, { CARA, 100 }).enough);
	assert_false(JUDGE(0, 3, { ANNA, 19 }, { BEN, 19 }, { CARA, 19 }).enough);
	assert_false(JUDGE(0, 2, { ANNA, 1000 }, { BEN, 120 }).enough);
	assert_true(JUDGE(0, 2, { ANNA, 1000 }, { BEN, 160 }).enough);
}

static void who_is_not_known_is_nobody_who_hides_others(void **state)
{
	(void)state;
	assert_false(JUDGE(0, 2, { ANNA, 1000 }, { SHARE_UNKNOWN, 1000 }).enough);
	assert_false(JUDGE(0, 2, { SHARE_UNKNOWN, 1000 }).enough);
	/* He may be the one that it is mostly of. */
	assert_false(JUDGE(0, 2, { ANNA, 100 }, { BEN, 100 }, { SHARE_UNKNOWN, 1000 }).enough);
	assert_true(JUDGE(0, 2, { ANNA, 100 }, { BEN, 100 }, { SHARE_UNKNOWN, 100 }).enough);
	assert_true(JUDGE(ANNA, 2, { ANNA, 100 }, { SHARE_UNKNOWN, 1 }).shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_enough_where_nobody_is_kept_apart),
		cmocka_unit_test(what_the_owner_or_the_system_does_is_nobody_elses),
		cmocka_unit_test(who_has_agreed_may_show),
		cmocka_unit_test(so_many_people_are_enough_and_not_one_less),
		cmocka_unit_test(who_does_next_to_nothing_hides_nobody),
		cmocka_unit_test(who_is_not_known_is_nobody_who_hides_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
