/* test_keptbytes.c - every byte of the original is there, but for entry jumps in its code
 *
 * Generations of tests/asm/emit.s.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"
#include "verify/parts.h"

static struct spoil make(void)
{
	return spoil_make_as("emit", "", 2);
}

static void a_byte_of_code_is_kept(void **state)
{
	struct spoil m = make();
	const struct blockmap_block *b = &m.map.block[m.map.nblock / 2];

	(void)state;
	/* Behind any entry jump that may be there. */
	spoil_generation(&m, m.map.orig_base + b->orig)[b->orig_size > 9 ? 9 : 0] ^= 1;
	spoil_expect(&m, "");
}

static void a_byte_of_data_is_kept(void **state)
{
	struct spoil m = make();
	const struct section *s = image_section(&m.orig, ".rodata");

	(void)state;
	assert_non_null(s);
	*spoil_generation(&m, s->h.sh_addr + s->h.sh_size - 1) ^= 1;
	spoil_expect(&m, "was changed from");
}

/* Of a section that is not loaded: no program sees it, and it is kept all the same. */
static void a_byte_that_is_not_loaded_is_kept(void **state)
{
	struct spoil m = make();
	const struct section *s = image_section(&m.orig, ".comment");

	(void)state;
	if (!s)
		s = image_section(&m.orig, ".strtab");
	assert_non_null(s);
	m.generation.p[s->h.sh_offset + s->h.sh_size - 1] ^= 1;
	spoil_expect(&m, "the original's byte at file offset");
}

static void an_entry_jump_is_in_the_original_code(void **state)
{
	struct spoil m = make();
	const struct section *at = image_section(&m.gen, ".morph.map");
	struct wr map = { 0 };

	(void)state;
	assert_true(m.map.nentry > 0);
	m.map.entry[m.map.nentry - 1] = UINT32_MAX - 16;
	blockmap_write(&m.map, &map);
	assert_int_equal(map.n, at->h.sh_size);
	memcpy(m.generation.p + at->h.sh_offset, map.p, map.n);
	wr_free(&map);
	spoil_expect(&m, "is not in the original's code");
}

/* Of a generation that counts: what leads to its start routine, and not a byte beside. */
static void the_word_that_leads_to_the_counters_alone_may_differ(void **state)
{
	enum { SIZE = 200, LEADS_AT = 120 };
	static const Elf64_Phdr counters = { .p_type = PT_LOAD };
	struct arena *a = arena_new();
	uint8_t was[SIZE] = { 0 }, is[SIZE] = { 0 };
	struct err err;

	(void)state;
	for (uint64_t off = sizeof(Elf64_Ehdr); off < SIZE; off++) {
		struct verify_stats stats = { 0 };
		struct verify v = { .a = a, .err = &err, .stats = &stats };

		v.orig.file = (struct bytes){ was, SIZE };
		v.gen.file = (struct bytes){ is, SIZE };
		v.counting.segment = &counters;
		v.counting.leads_at = LEADS_AT;
		assert_int_equal(verify_keptbytes(&v), 0);
		is[off] = 1;
		if ((verify_keptbytes(&v) == 0) != (off - LEADS_AT < 8))
			fail_msg("byte %u", (unsigned)off);
		is[off] = 0;
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_byte_of_code_is_kept),
		cmocka_unit_test(a_byte_of_data_is_kept),
		cmocka_unit_test(a_byte_that_is_not_loaded_is_kept),
		cmocka_unit_test(an_entry_jump_is_in_the_original_code),
		cmocka_unit_test(the_word_that_leads_to_the_counters_alone_may_differ),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
