/* test_behindtraps.c - a function in which data may stand behind a trap is not moved
 *
 * The Editor leaves such functions; here it is told that it need not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/verify/untrue.h"

static void what_stands_behind_a_trap_stays_there(void **state)
{
	static const char *const flags[] = { "-shared", "-static -no-pie" };
	static const char *const refused[] = { "told", "numbered", "nopped", "seeming",
					       "prefixed" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		untrue_expect((struct untrue){ .source = "behindtraps", .flags = flags[i] },
			      NULL);
		for (int k = 0; k < 5; k++)
			untrue_expect((struct untrue){ .source = "behindtraps",
						       .flags = flags[i],
						       .moved = refused[k] },
				      "data may stand behind it");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_behind_a_trap_stays_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
