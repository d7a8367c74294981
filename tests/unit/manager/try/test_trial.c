/* test_trial.c - what a trial says of its modules */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "manager/try/trial.h"

static void those_that_are_laid_out_are_named(void **state)
{
	struct trial t = { .nmodule = 4 };

	(void)state;
	t.module[0].path = (char[]){ "/usr/bin/perl" };
	t.module[1].path = (char[]){ "/usr/lib/libstays.so" };
	t.module[1].why.kind = ERR_REFUSED;
	t.module[2].path = (char[]){ "/usr/lib/libc.so.6" };
	t.module[3].path = (char[]){ "/usr/lib/libm.so.6" };
	assert_string_equal(trial_names(&t), "perl, libc.so.6, libm.so.6");
	t.nmodule = 2;
	assert_string_equal(trial_names(&t), "perl");
	t.module[0].why.kind = ERR_REFUSED;
	assert_string_equal(trial_names(&t), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_are_laid_out_are_named),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
