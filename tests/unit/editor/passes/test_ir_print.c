/* test_ir_print.c - what is printed of an annotated program, word by word */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "editor/passes/ir_print.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/irtext.h"

/* As it is printed, but for the order of each function. */
static const char text[] =
	"fn f\n"
	"  b0 size 20 insns 4 samples 7.000 call g -> b1 b2\n"
	"  b1 size 12 insns 3 icall -> ret\n"
	"  b2 size 20 insns 4 -> table b0 b1 b2 out\n"
	"  b3 size 8 insns 2 pinned -> trap\n"
	"  seen b0 b2 60.000\n"
	"  seen call b0 g 30.000\n"
	"fn g\n"
	"  b0 size 12 insns 3 -> jmp b1\n"
	"  b1 size 12 insns 3 call f\n"
	"  .cold\n"
	"  b2 size 12 insns 3 call g -> ret\n";

static void what_is_read_is_printed(void **state)
{
	struct arena *a = arena_new();
	char *want = arena_printf(a, "%srun none\n", text), *got = NULL, *line, *end = NULL;
	struct irtext t;
	struct err err;
	size_t n;

	(void)state;
	struct bytes b = { (const uint8_t *)want, strlen(want) };
	if (irtext_parse(b, a, &t, &err) < 0)
		fail_msg("%s", err.text);
	FILE *f = open_memstream(&got, &n);
	ir_print(&t.prog, f);
	(void)fclose(f);
	const char *at = text;
	for (line = strtok_r(got, "\n", &end); line; line = strtok_r(NULL, "\n", &end)) {
		size_t m = strlen(line);

		if (strncmp(line, "  order b0 b1 b2", 16) == 0)
			continue;
		if (strncmp(at, line, m) != 0 || at[m] != '\n')
			fail_msg("'%s', not '%.40s'", line, at);
		at += m + 1;
	}
	assert_string_equal(at, "");
	free(got);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_printed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
