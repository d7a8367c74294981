/* test_emit_runtime.c - how what counts is run first in a library: by an entry of .dynamic */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/instrument/instrument.h"
#include "tests/unit/asm.h"

enum { OTHER = 0x6ffffe00 };		/* a tag that nobody knows */

/* A library whose .dynamic ends with so many entries that are none. */
static struct bytes library(struct arena *a, unsigned ends)
{
	struct bytes file = asm_build("callees", "-shared", a);
	uint8_t *copy = arena_dup(a, file.p, file.n);
	struct image img;
	struct err err;
	unsigned n = 0;

	assert_int_equal(image_parse(file, a, &img, &err), 0);
	const Elf64_Phdr *ph = image_phdr(&img, PT_DYNAMIC);
	for (uint64_t end = ph->p_offset + ph->p_filesz; end > ph->p_offset;
	     end -= sizeof(Elf64_Dyn), n++) {
		Elf64_Dyn d;

		memcpy(&d, copy + end - sizeof(d), sizeof(d));
		assert_int_not_equal(d.d_tag, DT_INIT);
		if (d.d_tag != DT_NULL)
			break;
		d.d_tag = n < ends ? DT_NULL : OTHER + (int64_t)n;
		memcpy(copy + end - sizeof(d), &d, sizeof(d));
	}
	assert_true(n > ends);		/* the linker leaves room */
	return (struct bytes){ copy, file.n };
}

static int instrument(struct arena *a, unsigned ends, struct wr *out, struct err *err)
{
	const struct instrument_options o = { .original = "/o", .counts = "/c" };
	struct instrument_stats stats;
	struct wr counts = { 0 };
	int rc = edit_instrument(library(a, ends), &o, a, out, &counts, &stats, err);

	wr_free(&counts);
	return rc;
}

static void the_entry_takes_the_place_of_one_that_is_none(void **state)
{
	struct arena *a = arena_new();
	struct wr out = { 0 };
	struct image img;
	uint64_t init;
	struct err err;

	(void)state;
	if (instrument(a, 2, &out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(image_parse(wr_bytes(&out), a, &img, &err), 0);
	assert_true(image_dynamic(&img, DT_INIT, &init));
	assert_true(image_is_exec(&img, init));
	wr_free(&out);
	arena_free(a);
}

static void the_last_one_stays(void **state)
{
	struct arena *a = arena_new();
	struct wr out = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(instrument(a, 1, &out, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "without DT_INIT, nor room for one"));
	wr_free(&out);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_entry_takes_the_place_of_one_that_is_none),
		cmocka_unit_test(the_last_one_stays),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
