/* test_verify_unwind.c - a copy of an unwind rule that means something else where it stands is refused
 *
 * The Editor makes no generation with such a rule: both files are changed afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "editor/editor.h"
#include "lib/digest.h"
#include "postmorph/dwarf.h"
#include "tests/unit/asm.h"

enum { FREE = 0xf2 };

static const uint8_t expression[] = { FREE, 0x1b, 4, 0, 0, 0 };

static uint8_t *copy(struct arena *a, struct bytes b)
{
	return arena_dup(a, b.p, b.n);
}

/* How often `old` was there; `new` is there then. */
static uint32_t replace(uint8_t *p, uint64_t size, const void *old, const void *new, size_t n)
{
	uint32_t found = 0;

	for (uint64_t i = 0; i + n <= size; i++)
		if (memcmp(p + i, old, n) == 0) {
			memcpy(p + i, new, n);
			found++;
		}
	return found;
}

/* Verifies with that operation in the place of the free one. */
static int verify_with(uint8_t operation, struct err *err)
{
	const struct edit_options options = { .all = true, .generation = 1 };
	struct arena *a = arena_new();
	struct bytes original = asm_build("encodedaddr", "-shared", a);
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct verify_stats proof;
	struct digest before, after;
	uint8_t changed[sizeof(expression)];

	if (edit_optimize(original, NULL, &options, a, &made, &map, &stats, err) < 0)
		fail_msg("%s", err->text);
	assert_int_equal(stats.functions_moved, 1);
	memcpy(changed, expression, sizeof(changed));
	changed[0] = operation;
	uint8_t *o = copy(a, original), *g = copy(a, wr_bytes(&made));
	before = digest_of(original);
	assert_int_equal(replace(o, original.n, expression, changed, sizeof(changed)), 1);
	after = digest_of((struct bytes){ o, original.n });
	/* the original's record, its copy, that of the image */
	assert_int_equal(replace(g, made.n, expression, changed, sizeof(changed)), 3);
	assert_true(replace(g, made.n, &before, &after, sizeof(before)) > 0);
	int rc = verify_generation((struct bytes){ o, original.n }, (struct bytes){ g, made.n }, a,
				   &proof, err);
	wr_free(&made);
	wr_free(&map);
	arena_free(a);
	return rc;
}

static void other_operations_are_the_same_anywhere(void **state)
{
	struct err err;

	(void)state;
	if (verify_with(FREE + 1, &err) < 0)
		fail_msg("%s", err.text);
}

static void an_address_relative_to_the_rule_is_not(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(verify_with(DW_OP_GNU_encoded_addr, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "unwind row") && !strstr(err.text, ".eh_frame"))
		fail_msg("%s", err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_operations_are_the_same_anywhere),
		cmocka_unit_test(an_address_relative_to_the_rule_is_not),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
