/* test_lsda.c - exception tables read from bytes made here */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/wr.h"
#include "postmorph/unwind/cfi.h"
#include "binary/dwarf.h"
#include "binary/image.h"
#include "postmorph/unwind/lsda.h"

enum { BASE = 0x400000, CODE = 0x1000, LEN = 0x100 };

struct made {			/* an image that is nothing but one record */
	Elf64_Phdr ph;
	struct image img;
	struct fde fde;
	struct cfi cfi;
	struct lsda lsda;
};

static bool read_bytes(struct made *m, const uint8_t *p, size_t n)
{
	bool dso = m->img.pie_or_dso;

	m->ph = (Elf64_Phdr){ .p_type = PT_LOAD,
			      .p_flags = PF_R | m->ph.p_flags, .p_vaddr = BASE, .p_filesz = n,
			      .p_memsz = n };
	m->img = (struct image){ .file = { p, n }, .ph = &m->ph, .nph = 1, .pie_or_dso = dso };
	m->fde = (struct fde){ .addr = CODE, .len = LEN, .lsda = BASE, .understood = true };
	m->cfi = (struct cfi){ .fde = &m->fde, .nfde = 1 };
	return lsda_read(&m->img, &m->cfi, 0, &m->lsda);
}
#define READ(m, ...) read_bytes(m, (const uint8_t[]){ __VA_ARGS__ },		\
				sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void check_sites(const struct made *m, const struct lsda_site *want, uint32_t n)
{
	struct lsda_iter it = lsda_iter(&m->lsda);
	struct lsda_site site;

	for (uint32_t i = 0; i < n; i++) {
		assert_true(lsda_next(&it, &site));
		assert_int_equal(site.addr, want[i].addr);
		assert_int_equal(site.len, want[i].len);
		assert_int_equal(site.pad, want[i].pad);
		assert_int_equal(site.action, want[i].action);
	}
	assert_false(lsda_next(&it, &site));
}

/* What GCC makes of a function that catches two types: the usual encodings. */
static void a_record_of_gcc_is_read(void **state)
{
	struct made m = { .img.pie_or_dso = true };
	static const struct lsda_site want[] = {
		{ CODE + 0x10, 5, CODE + 0x90, 3 }, { CODE + 0x20, 5, 0, 0 },
		{ CODE + 0x80, 0x10, CODE + 0xa0, 0 },
	};

	(void)state;
	assert_true(READ(&m, 0xff, 0x9b, 32, 0x01, 15,
		0x10, 5, 0x90, 1, 3,  0x20, 5, 0, 0,  0x80, 1, 0x10, 0xa0, 1, 0,
		1, 0, 2, 0x7d,				/* type 1; type 2, then type 1 */
		0, 0, 0,  0x40, 0, 0, 0,  0x10, 0, 0, 0));
	check_sites(&m, want, 3);
	assert_int_equal(m.lsda.actions.n, 4);
	assert_int_equal(m.lsda.type_enc, 0x9b);
	assert_int_equal(m.lsda.type_size, 4);
	assert_int_equal(m.lsda.types.n, 8);
	assert_int_equal(m.lsda.types_addr, BASE + 27);
	assert_int_equal(m.lsda.types.p[0], 0x40);
	assert_int_equal(m.lsda.specs.n, 0);
}

/* Clang with basic block sections names the start of landing pads; call sites of fixed size. */
static void landing_pads_may_count_from_elsewhere(void **state)
{
	struct made m = { .img.pie_or_dso = true };
	static const struct lsda_site want[] = { { CODE, 8, BASE + 1 + 0x1001 + 0x21, 0 } };

	(void)state;
	assert_true(READ(&m, 0x1b, 0x01, 0x10, 0, 0, 0xff, 0x03, 13,
			 0, 0, 0, 0, 8, 0, 0, 0, 0x21, 0, 0, 0, 0));
	check_sites(&m, want, 1);
	assert_true(READ(&m, 0x10, 0x01, 0x10, 0, 0, 0, 0, 0, 0, 0xff, 0x01, 4, 0, 8, 0x21, 0));
	check_sites(&m, want, 1);
}

/* Filter -1 is the list at byte 0, filter -3 the empty one at byte 2. */
static void specifications_bring_their_lists_and_types(void **state)
{
	struct made m = { .img.pie_or_dso = true };

	(void)state;
	assert_true(READ(&m, 0xff, 0x1b, 18, 0x01, 4, 0, 8, 0x20, 3, 0x7f, 0, 0x7d, 0x7d,
			 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0x55));
	assert_int_equal(m.lsda.actions.n, 4);
	assert_int_equal(m.lsda.types.n, 8);
	assert_int_equal(m.lsda.specs.n, 3);
}

static void types_are_absolute_only_where_nothing_moves(void **state)
{
	struct made m = { .img.pie_or_dso = false };
#define ABSOLUTE 0xff, 0x03, 12, 0x01, 4, 0, 8, 0x20, 1, 1, 0, 1, 0, 0x40, 0

	(void)state;
	assert_true(READ(&m, ABSOLUTE));
	assert_int_equal(m.lsda.types.n, 4);
	m.img.pie_or_dso = true;
	assert_false(READ(&m, ABSOLUTE));
	m.img.pie_or_dso = false;
	m.ph.p_flags = PF_W;			/* something will write the types */
	assert_false(READ(&m, ABSOLUTE));
}

static void a_record_without_sites_is_one(void **state)
{
	struct made m = { .img.pie_or_dso = true };

	(void)state;
	assert_true(READ(&m, 0xff, 0xff, 0x01, 0));
	check_sites(&m, NULL, 0);
	assert_int_equal(m.lsda.actions.n, 0);
}

static void unknown_forms_are_told(void **state)
{
	struct made m = { .img.pie_or_dso = true };

	(void)state;
	/* call sites of 16 bits */
	assert_false(READ(&m, 0xff, 0xff, 0x02, 4, 0, 8, 0, 0));
	/* data-relative start */
	assert_false(READ(&m, 0x3b, 1, 1, 1, 1, 0xff, 0x01, 0));
	/* start through a pointer */
	assert_false(READ(&m, 0x9b, 1, 1, 1, 1, 0xff, 0x01, 0));
	assert_false(READ(&m, 0xff, 0x3b, 12, 0x01, 4, 0, 8, 0x20, 1, 1, 0, 1, 0, 0, 0));
}

static void what_lies_outside_is_told(void **state)
{
	struct made m = { .img.pie_or_dso = true };

	(void)state;
	assert_false(READ(&m, 0xff, 0xff, 0x01));
	/* sites behind the end */
	assert_false(READ(&m, 0xff, 0xff, 0x01, 5, 0, 8, 0, 0));
	assert_false(READ(&m, 0xff, 0xff, 0x01, 3, 0, 8, 0));		/* half a site */
	/* 0x101 bytes of code */
	assert_false(READ(&m, 0xff, 0xff, 0x01, 5, 0, 0x81, 2, 0, 0));
	assert_false(READ(&m, 0xff, 0xff, 0x01, 4, 0, 0, 0, 0));	/* an empty site */
	assert_false(READ(&m, 0xff, 0xff, 0x01, 8, 8, 8, 0, 0, 4, 8, 0, 0));	/* descending */
	/* action behind the end */
	assert_false(READ(&m, 0xff, 0xff, 0x01, 4, 0, 8, 1, 1));
	/* a type where none are */
	assert_false(READ(&m, 0xff, 0xff, 0x01, 4, 0, 8, 1, 1, 1, 0));
	/* types overlap */
	assert_false(READ(&m, 0xff, 0x1b, 5, 0x01, 4, 0, 8, 0x20, 1, 1, 0));
	/* endless list */
	assert_false(READ(&m, 0xff, 0x9b, 8, 0x01, 4, 0, 8, 0x20, 1, 0x7f, 0, 1));
}

static void actions_begin_where_records_do(void **state)
{
	struct made m = { .img.pie_or_dso = true };

	(void)state;
	assert_true(READ(&m, 0xff, 0xff, 0x01, 4, 0, 8, 1, 3, 0, 0, 0, 0x7d));
	assert_false(READ(&m, 0xff, 0xff, 0x01, 4, 0, 8, 1, 2, 0, 0, 0, 0));
	assert_false(READ(&m, 0xff, 0xff, 0x01, 4, 0, 8, 1, 3, 0, 0, 0, 0x7e));	/* back by 2 */
	/* before the first */
	assert_false(READ(&m, 0xff, 0xff, 0x01, 4, 0, 8, 1, 1, 0, 0x7c));
}

/* A list that would begin in the middle of a number. */
static void lists_begin_where_numbers_do(void **state)
{
	struct made m = { .img.pie_or_dso = true };

	(void)state;
	assert_true(READ(&m, 0xff, 0x1b, 12, 0x01, 4, 0, 8, 0x20, 1, 0x7e, 0, 0, 0, 0, 0,
			 1, 1, 0));
	assert_false(READ(&m, 0xff, 0x1b, 12, 0x01, 4, 0, 8, 0x20, 1, 0x7e, 0, 0, 0, 0, 0,
			  0x81, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_of_gcc_is_read),
		cmocka_unit_test(landing_pads_may_count_from_elsewhere),
		cmocka_unit_test(specifications_bring_their_lists_and_types),
		cmocka_unit_test(types_are_absolute_only_where_nothing_moves),
		cmocka_unit_test(a_record_without_sites_is_one),
		cmocka_unit_test(unknown_forms_are_told),
		cmocka_unit_test(what_lies_outside_is_told),
		cmocka_unit_test(actions_begin_where_records_do),
		cmocka_unit_test(lists_begin_where_numbers_do),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
