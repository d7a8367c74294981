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

/* A table of another function leads behind a trap, as far as comparisons show. */
static void a_case_behind_a_trap_is_shown_by_the_comparison(void **state)
{
	static const char *const shown[] = { "-shared", "-static -no-pie",
					     "-shared -Wa,--defsym,MOST=3",
					     "-shared -Wa,--defsym,STAY=1" };
	static const char *const not_shown[] = {
		"-shared -Wa,--defsym,MOST=0", "-shared -Wa,--defsym,MOST=2",
		"-shared -Wa,--defsym,MOST=6", "-shared -Wa,--defsym,STAY=1,--defsym,MOST=2",
	};
	/* what the editor takes for cases all the same */
	static const char *const doubtful[] = {
		"-shared -Wa,--defsym,STAY=1,--defsym,ALSO=1",
		"-shared -Wa,--defsym,STAY=1,--defsym,ANYWHERE=1",
		"-shared -Wa,--defsym,OTHER=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		untrue_expect((struct untrue){ .source = "coldcases", .flags = shown[i] },
			      NULL);
	for (size_t i = 0; i < sizeof(not_shown) / sizeof(not_shown[0]); i++)
		untrue_expect((struct untrue){ .source = "coldcases", .flags = not_shown[i],
					       .moved = "cold" },
			      "data may stand behind it");
	for (size_t i = 0; i < sizeof(doubtful) / sizeof(doubtful[0]); i++)
		untrue_expect((struct untrue){ .source = "coldcases", .flags = doubtful[i] },
			      "data may stand behind it");
	untrue_expect((struct untrue){ .source = "coldcases",
				       .flags = "-shared -Wa,--defsym,STAY=1,--defsym,NEAR=1",
				       .moved = "cold" },
		      "inside an entry jump");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_behind_a_trap_stays_there),
		cmocka_unit_test(a_case_behind_a_trap_is_shown_by_the_comparison),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
