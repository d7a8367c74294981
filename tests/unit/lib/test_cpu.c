/* test_cpu.c - which processors mind jumps across lines, and what lines cost each family */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpu.h"

static void those_of_one_vendor_and_time_do(void **state)
{
	static const struct {
		struct cpu cpu;
		bool minds;
	} row[] = {
		{ { true, 6, 0x5e, 3, false }, true },		/* Skylake */
		{ { true, 6, 0x55, 4, false }, true },		/* for servers */
		{ { true, 6, 0x55, 7, false }, true },		/* Cascade Lake */
		{ { true, 6, 0x55, 11, false }, false },	/* Cooper Lake */
		{ { true, 6, 0x9e, 13, false }, true },	/* Coffee Lake */
		{ { true, 6, 0x4f, 1, false }, false },	/* Broadwell, older */
		{ { true, 6, 0x6a, 6, false }, false },	/* Ice Lake, newer */
		{ { true, 15, 0x55, 4, false }, false },
		{ { false, 6, 0x55, 4, false }, false },	/* another vendor's */
		{ { false, 0, 0, 0, false }, false },
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

static void each_family_has_its_costs(void **state)
{
	static const struct {
		struct cpu cpu;
		const char *name;
	} row[] = {
		{ { true, 6, 0x5e, 3, false }, "skylake" },
		{ { true, 6, 0x55, 11, false }, "cooper-lake" },
		{ { true, 6, 0x6a, 6, false }, "sunny-cove" },
		{ { true, 6, 0xa7, 1, false }, "sunny-cove" },
		{ { true, 6, 0x8f, 8, false }, "golden-cove" },
		{ { true, 6, 0xbd, 1, false }, "lion-cove" },
		{ { true, 6, 0x4f, 1, false }, "unknown" },	/* older than the table */
		{ { true, 19, 1, 0, false }, "unknown" },
		{ { false, 0x17, 0x31, 0, true }, "zen2" },
		{ { false, 0x17, 0x01, 2, true }, "unknown" },	/* Zen 1 */
		{ { false, 0x19, 0x01, 1, true }, "zen3" },
		{ { false, 0x19, 0x11, 1, true }, "zen4" },
		{ { false, 0x19, 0x21, 0, true }, "zen3" },
		{ { false, 0x19, 0x61, 2, true }, "zen4" },
		{ { false, 0x1a, 0x44, 0, true }, "zen5" },
		{ { false, 6, 0x8f, 8, false }, "unknown" },	/* another vendor's */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct cpu_costs *c = cpu_costs(&row[i].cpu);

		assert_string_equal(c->name, row[i].name);
		assert_ptr_equal(c, cpu_costs_named(row[i].name));
		assert_true(c->line > 0 && c->nop > 0 && c->dispatch > 0);
		assert_int_equal(c->jump > 0, cpu_decodes_jumps_by_line(&row[i].cpu));
	}
	assert_null(cpu_costs_named("zen"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_one_vendor_and_time_do),
		cmocka_unit_test(each_family_has_its_costs),
		cmocka_unit_test(the_one_here_is_what_the_kernel_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
