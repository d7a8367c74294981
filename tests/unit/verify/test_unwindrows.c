/* test_unwindrows.c - a copy of unwind tables that may mean something else is refused
 *
 * The Editor makes no generation with such tables: both files are changed afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "editor/optimize.h"
#include "lib/digest.h"
#include "binary/dwarf.h"
#include "tests/unit/asm.h"
#include "tests/unit/renewed.h"
#include "verify/verify.h"

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

struct made {
	struct arena *a;
	struct bytes original, generation;	/* as the Editor saw and made them */
	uint8_t *o, *g;				/* copies, to be changed */
};

static struct made make(void)
{
	const struct edit_options options = { .all = true, .generation = 1 };
	struct made m = { .a = arena_new() };
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct err err;

	m.original = asm_build("encodedaddr", "-shared", m.a);
	if (edit_optimize(m.original, NULL, &options, m.a, &made, &map, &stats, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(stats.functions_moved, 1);
	m.o = copy(m.a, m.original);
	m.g = copy(m.a, wr_bytes(&made));
	m.generation = (struct bytes){ copy(m.a, wr_bytes(&made)), made.n };
	wr_free(&made);
	wr_free(&map);
	return m;
}

static int verify(struct made *m, struct err *err)
{
	struct bytes o = { m->o, m->original.n }, g = { m->g, m->generation.n };
	struct digest before = digest_of(m->original), after = digest_of(o);
	struct verify_stats proof;

	assert_true(replace(m->g, g.n, &before, &after, sizeof(before)) > 0);
	renewed_set(o, m->g, g.n);
	int rc = verify_generation(o, g, m->a, &proof, err);
	arena_free(m->a);
	return rc;
}

/* Verifies with that operation in the place of the free one. */
static int verify_with(uint8_t operation, struct err *err)
{
	struct made m = make();
	uint8_t changed[sizeof(expression)];

	memcpy(changed, expression, sizeof(changed));
	changed[0] = operation;
	assert_int_equal(replace(m.o, m.original.n, expression, changed, sizeof(changed)), 1);
	/* the original's record, its copy, that of the image */
	assert_int_equal(replace(m.g, m.generation.n, expression, changed, sizeof(changed)), 3);
	return verify(&m, err);
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

/* It would reach out of its record; what stands there does nothing if it is taken for rules. */
static void an_expression_is_within_its_record(void **state)
{
	static const uint8_t rule[] = { 0x10, 3, 6, FREE, 0x1b, 4, 0, 0, 0 };
	static const uint8_t longer[sizeof(rule)] = { 0x10, 3, 0x7f };
	struct made m = make();
	struct err err;

	(void)state;
	assert_int_equal(replace(m.o, m.original.n, rule, longer, sizeof(rule)), 1);
	assert_int_equal(replace(m.g, m.generation.n, rule, longer, sizeof(rule)), 3);
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "unwind row"))
		fail_msg("%s", err.text);
}

static void letters_that_nobody_knows_may_mean_anything(void **state)
{
	struct made m = make();
	struct err err;

	(void)state;
	assert_int_equal(replace(m.o, m.original.n, "zRS", "zRX", sizeof("zRS")), 1);
	assert_int_equal(replace(m.g, m.generation.n, "zRS", "zRX", sizeof("zRS")), 2);
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "new .eh_frame"))
		fail_msg("%s", err.text);
}

static void what_is_not_moved_keeps_its_rows(void **state)
{
	static const uint8_t offset[] = { 0x0e, 0x70 }, other[] = { 0x0e, 0x68 };
	struct made m = make();
	struct err err;

	(void)state;
	/* in the copy alone */
	assert_int_equal(replace(m.g + m.original.n, m.generation.n - m.original.n, offset,
				 other, sizeof(offset)),
			 1);
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "says something else in the new .eh_frame"))
		fail_msg("%s", err.text);
}

static void tables_that_can_be_written_to_are_not_copied(void **state)
{
	const struct edit_options options = { .all = true, .generation = 1 };
	struct made m = make();
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct image img;
	struct err err;

	(void)state;
	assert_int_equal(image_parse(m.original, m.a, &img, &err), 0);
	const Elf64_Phdr *ph = image_segment(&img, image_section(&img, ".eh_frame")->h.sh_addr);
	Elf64_Phdr changed = *ph;

	changed.p_flags |= PF_W;
	assert_int_equal(replace(m.o, m.original.n, ph, &changed, sizeof(changed)), 1);
	assert_int_equal(replace(m.g, m.generation.n, ph, &changed, sizeof(changed)), 1);
	assert_int_equal(edit_optimize((struct bytes){ m.o, m.original.n }, NULL, &options, m.a,
				       &made, &map, &stats, &err),
			 -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "can be written to"));
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "can be written to"))
		fail_msg("%s", err.text);
}

/* The address of the address of the code; unwinders take it as it is. */
static void an_address_is_not_behind_a_pointer(void **state)
{
	static const uint8_t direct[] = { 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b };
	uint8_t behind[sizeof(direct)];
	struct made m = make();
	struct err err;

	(void)state;
	memcpy(behind, direct, sizeof(behind));
	behind[sizeof(behind) - 1] |= 0x80;
	assert_int_equal(replace(m.o, m.original.n, direct, behind, sizeof(direct)), 1);
	assert_true(replace(m.g, m.generation.n, direct, behind, sizeof(direct)) >= 2);
	assert_int_equal(verify(&m, &err), -1);
	if (!strstr(err.text, "has an unknown form"))
		fail_msg("%s", err.text);
}

/* In the copy alone; the offset stays. */
static void what_is_not_moved_keeps_the_register_of_its_frame(void **state)
{
	static const uint8_t rsp[] = { 0x0c, 7, 0x60 }, rbp[] = { 0x0c, 6, 0x60 };
	struct made m = make();
	struct err err;

	(void)state;
	assert_int_equal(replace(m.g + m.original.n, m.generation.n - m.original.n, rsp, rbp,
				 sizeof(rsp)), 1);
	assert_int_equal(verify(&m, &err), -1);
	if (!strstr(err.text, "says something else in the new .eh_frame"))
		fail_msg("%s", err.text);
}

/* In the image's alone, the last of the three. */
static void an_image_has_the_row_of_its_original(void **state)
{
	struct made m = make();
	uint8_t *last = NULL;
	struct err err;

	(void)state;
	for (uint64_t i = 0; i + sizeof(expression) <= m.generation.n; i++)
		if (memcmp(m.g + i, expression, sizeof(expression)) == 0)
			last = m.g + i;
	assert_non_null(last);
	*last = FREE + 1;
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "the unwind row at 0x") ||
	    !strstr(err.text, " is not that of its original 0x"))
		fail_msg("%s", err.text);
}

/* In the CIE of the image alone, the last: what holds the return address. */
static void an_image_has_the_kind_of_frame_of_its_original(void **state)
{
	static const uint8_t cie[] = { 'z', 'R', 0, 1, 0x78, 0x10, 1 };
	struct made m = make();
	uint8_t *last = NULL;
	struct err err;

	(void)state;
	for (uint64_t i = 0; i + sizeof(cie) <= m.generation.n; i++)
		if (memcmp(m.g + i, cie, sizeof(cie)) == 0)
			last = m.g + i;
	assert_non_null(last);
	last[5] = 0x11;
	assert_int_equal(verify(&m, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, "is of another kind than its original at 0x"))
		fail_msg("%s", err.text);
}

/* One of the two numbers of an entry of the search table: where it leads to, and its record. */
static void the_search_table_lists_the_records(void **state)
{
	(void)state;
	for (unsigned number = 0; number < 2; number++) {
		struct made m = make();
		struct image img;
		struct err err;

		assert_int_equal(image_parse(m.generation, m.a, &img, &err), 0);
		const Elf64_Shdr *h = &image_section(&img, ".eh_frame_hdr")->h;
		enum { HEADER = 12, ENTRY = 8 };

		assert_true(h->sh_size >= HEADER + 3 * ENTRY);
		m.g[h->sh_offset + HEADER + ENTRY + 4 * number] ^= 1;
		assert_int_equal(verify(&m, &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		if (!strstr(err.text, "entry 1 of the new .eh_frame_hdr is not the FDE of"))
			fail_msg("%s", err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_operations_are_the_same_anywhere),
		cmocka_unit_test(an_address_relative_to_the_rule_is_not),
		cmocka_unit_test(an_expression_is_within_its_record),
		cmocka_unit_test(letters_that_nobody_knows_may_mean_anything),
		cmocka_unit_test(an_image_has_the_row_of_its_original),
		cmocka_unit_test(an_image_has_the_kind_of_frame_of_its_original),
		cmocka_unit_test(what_is_not_moved_keeps_its_rows),
		cmocka_unit_test(what_is_not_moved_keeps_the_register_of_its_frame),
		cmocka_unit_test(an_address_is_not_behind_a_pointer),
		cmocka_unit_test(the_search_table_lists_the_records),
		cmocka_unit_test(tables_that_can_be_written_to_are_not_copied),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
