/* test_frames.c - where unwind rows begin: by each form of a distance (tests/asm/advances.s) */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/asm.h"
#include "verify/parts.h"

static const uint8_t cie[] = { 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b };
enum { CODE_ALIGN = 3, FDE_ENCODING = 7 };

/* The original, with another byte at that place of its CIE. */
static int read_with(struct verify *v, unsigned place, uint8_t byte)
{
	static struct verify_stats stats;
	static struct err err;
	unsigned found = 0;

	*v = (struct verify){ .a = arena_new(), .err = &err, .stats = &stats };
	struct bytes file = asm_build("advances", "-shared", v->a);
	uint8_t *copy = arena_dup(v->a, file.p, file.n);
	for (uint64_t i = 0; i + sizeof(cie) <= file.n; i++)
		if (memcmp(copy + i, cie, sizeof(cie)) == 0) {
			copy[i + place] = byte;
			found++;
		}
	assert_int_equal(found, 1);
	if (image_parse((struct bytes){ copy, file.n }, v->a, &v->orig, &err) < 0)
		fail_msg("%s", err.text);
	v->gen = v->orig;		/* nothing asks for it */
	return verify_frames(v);
}

/* With distances in units of so many bytes. */
static void read_rows(struct verify *v, uint8_t unit)
{
	if (read_with(v, CODE_ALIGN, unit) < 0)
		fail_msg("%s", v->err->text);
}

/* From the text, from the data, from the function, aligned: no compiler writes these. */
static void addresses_are_distances_from_where_they_stand(void **state)
{
	static const uint8_t encoding[] = { 0x2b, 0x3b, 0x4b, 0x50 };
	struct verify v;

	(void)state;
	for (size_t i = 0; i < sizeof(encoding); i++) {
		assert_int_equal(read_with(&v, FDE_ENCODING, encoding[i]), -1);
		assert_non_null(strstr(v.err->text, "has an unknown form"));
		arena_free(v.a);
	}
}

static void rows_begin_behind_their_distances(void **state)
{
	static const vaddr distance[] = { 1, 100, 1000, 70000 };
	struct verify v;

	(void)state;
	for (uint8_t unit = 1; unit <= 2; unit++) {
		read_rows(&v, unit);
		assert_int_equal(v.ocfi.nfde, 1);
		assert_int_equal(v.ocfi.fde[0].nrow, 5);	/* one from each place on */
		struct vcursor c = { .cfi = &v.ocfi, .fde = NO_FDE };
		vaddr at = v.ocfi.fde[0].addr;

		assert_true(vstates_is_entry(v.states, vcfi_state(&c, at)));
		for (int i = 0; i < 4; i++) {
			uint32_t before = vcfi_state(&c, at);

			at += unit * distance[i];
			assert_int_equal(vcfi_state(&c, at - 1), before);
			assert_int_not_equal(vcfi_state(&c, at), before);
		}
		assert_int_equal(vcfi_state(&c, at + 20000), vcfi_state(&c, at));
		arena_free(v.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_begin_behind_their_distances),
		cmocka_unit_test(addresses_are_distances_from_where_they_stand),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
