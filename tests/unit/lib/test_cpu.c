/* test_cpu.c - which processors mind jumps across lines */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "lib/cpu.h"

static void those_of_one_vendor_and_time_do(void **state)
{
	static const struct {
		struct cpu cpu;
		bool minds;
	} row[] = {
		{ { true, 6, 0x5e, 3 }, true },		/* Skylake */
		{ { true, 6, 0x55, 4 }, true },		/* for servers */
		{ { true, 6, 0x55, 7 }, true },		/* Cascade Lake */
		{ { true, 6, 0x55, 11 }, false },	/* Cooper Lake */
		{ { true, 6, 0x9e, 13 }, true },	/* Coffee Lake */
		{ { true, 6, 0x4f, 1 }, false },	/* Broadwell, older */
		{ { true, 6, 0x6a, 6 }, false },	/* Ice Lake, newer */
		{ { true, 15, 0x55, 4 }, false },
		{ { false, 6, 0x55, 4 }, false },	/* another vendor's */
		{ { false, 0, 0, 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (cpu_decodes_jumps_by_line(&row[i].cpu) != row[i].minds)
			fail_msg("row %zu", i);
}

static unsigned number_of(const char *field)
{
	char line[256], format[64];
	unsigned n = 0;
	FILE *f = fopen("/proc/cpuinfo", "r");

	assert_non_null(f);
	(void)snprintf(format, sizeof(format), "%s : %%u", field);
	while (fgets(line, sizeof(line), f) && sscanf(line, format, &n) != 1)
		;
	(void)fclose(f);
	return n;
}

static void the_one_here_is_what_the_kernel_says(void **state)
{
	struct cpu cpu = cpu_here();

	(void)state;
	assert_int_equal(cpu.family, number_of("cpu family"));
	assert_int_equal(cpu.model, number_of("model"));
	assert_int_equal(cpu.stepping, number_of("stepping"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_one_vendor_and_time_do),
		cmocka_unit_test(the_one_here_is_what_the_kernel_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
