/* test_lookup.c - what the parts of the Verifier look up in each other's findings */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/asm.h"
#include "verify/lookup.h"
#include "verify/parts.h"

static struct bytes bytes_of(const char *text, size_t n)
{
	return (struct bytes){ (const uint8_t *)text, n };
}

static void bytes_are_the_same_if_each_is(void **state)
{
	(void)state;
	assert_true(verify_same_bytes(bytes_of("ab", 2), bytes_of("ab", 2)));
	assert_false(verify_same_bytes(bytes_of("ab", 2), bytes_of("ac", 2)));
	assert_false(verify_same_bytes(bytes_of("ab", 2), bytes_of("ab", 1)));
	assert_false(verify_same_bytes(bytes_of("a", 1), bytes_of("b", 1)));
	assert_true(verify_same_bytes(bytes_of(NULL, 0), bytes_of("b", 0)));
	assert_false(verify_same_bytes(bytes_of(NULL, 0), bytes_of("b", 1)));
}

static void padding_and_jumps_lead_on_and_calls_do_not(void **state)
{
	struct arena *a = arena_new();
	struct verify_stats stats = { 0 };
	struct err err = { 0 };
	struct verify v = { .a = a, .err = &err, .stats = &stats };

	(void)state;
	assert_int_equal(image_parse(asm_build("leads", "-shared", a), a, &v.orig, &err), 0);
	v.gen = v.orig;
	v.walk.cut = arena_array(a, v.orig.file.n / 8 + 1, 1);		/* nothing is */
	assert_int_equal(verify_frames(&v), 0);
	vaddr to = asm_symbol(&v.orig, "to");
	assert_true(verify_may_lead(&v, asm_symbol(&v.orig, "by_jump"), to));
	assert_false(verify_may_lead(&v, asm_symbol(&v.orig, "by_call"), to));
	assert_false(verify_may_lead(&v, asm_symbol(&v.orig, "by_chance"), to));
	assert_false(verify_may_lead(&v, asm_symbol(&v.orig, "without_frame"), to));
	arena_free(a);
}

/* All that the file has of the segment from there on, and of nothing else. */
static void code_ends_with_its_segment(void **state)
{
	struct arena *a = arena_new();
	struct verify v = { .a = a };
	struct err err;
	unsigned executable = 0;

	(void)state;
	assert_int_equal(image_parse(asm_build("leads", "-shared", a), a, &v.orig, &err), 0);
	for (uint32_t i = 0; i < v.orig.nph; i++) {
		const Elf64_Phdr *p = &v.orig.ph[i];

		if (p->p_type != PT_LOAD)
			continue;
		for (vaddr skip = 0; skip < p->p_filesz; skip++) {
			struct bytes b = verify_orig_code_anywhere(&v, p->p_vaddr + skip);

			if (!(p->p_flags & PF_X)) {
				assert_null(b.p);
				continue;
			}
			executable++;
			assert_ptr_equal(b.p, v.orig.file.p + p->p_offset + skip);
			assert_int_equal(b.n, p->p_filesz - skip);
		}
		assert_null(verify_orig_code_anywhere(&v, p->p_vaddr + p->p_filesz).p);
	}
	assert_true(executable > 0);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_the_same_if_each_is),
		cmocka_unit_test(padding_and_jumps_lead_on_and_calls_do_not),
		cmocka_unit_test(code_ends_with_its_segment),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
