/* test_blocktable.c - what is written reads back; nothing malformed is read */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/blocktable.h"
#include "lib/err.h"

static struct blockmap_seg segs[] = { { 0x7f0000401000, 0x1000, 0x2000 } };
static struct blocktable_fn fns[] = { { 0x401000, 0x20, 0 }, { 0x401030, 0x18, 3 } };
static struct blocktable_block blocks[] = {
	{ 0x00, 0x10, 4, 0 }, { 0x10, 0x10, 1, 0 }, { 0x30, 0x18, 7, 1 }, { 0x90, 0x04, 1, 0 },
};

static struct blocktable sample(void)
{
	struct blocktable t = {
		.base = 0x401000, .text_size = 0x1234, .nseg = 1, .nfn = 2, .nblock = 4,
		.seg = segs, .fn = fns, .block = blocks,
	};
	memset(t.original.b, 0xcd, sizeof(t.original.b));
	return t;
}

static void what_is_written_reads_back(void **state)
{
	struct blocktable t = sample(), got;
	struct wr w = { 0 }, again = { 0 };
	struct err err;

	(void)state;
	blocktable_write(&t, &w);
	assert_int_equal(w.n, 72 + 24 + 2 * 16 + 4 * 16);
	assert_memory_equal(w.p, "MORPHBLK\1\0\0\0\xcd", 13);
	assert_int_equal(blocktable_read(wr_bytes(&w), &got, &err), 0);
	assert_int_equal(got.text_size, 0x1234);
	assert_int_equal(got.fn[1].reason, 3);
	blocktable_write(&got, &again);
	assert_int_equal(w.n, again.n);
	assert_memory_equal(w.p, again.p, w.n);
	blocktable_free(&got);
	wr_free(&w);
	wr_free(&again);
}

static void every_address_finds_its_block(void **state)
{
	struct blocktable t = sample();
	vaddr addr;

	(void)state;
	for (uint32_t off = 0; off < 0xa0; off++) {
		uint32_t want = UINT32_MAX;

		for (uint32_t i = 0; i < t.nblock; i++) {
			if (off >= blocks[i].off && off < blocks[i].off + blocks[i].size)
				want = i;
		}
		assert_int_equal(blocktable_find(&t, t.base + off), want);
	}
	assert_int_equal(blocktable_find(&t, t.base - 1), UINT32_MAX);
	assert_int_equal(blocktable_find(&t, t.base + ((uint64_t)1 << 32)), UINT32_MAX);
	assert_int_equal(blocktable_vaddr_of(&t, 0x1010, &addr), 0);
	assert_int_equal(addr, 0x7f0000401010);
	assert_int_equal(blocktable_vaddr_of(&t, 0x3000, &addr), -1);
}

static void every_cut_and_every_extension_is_refused(void **state)
{
	struct blocktable t = sample(), got;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	blocktable_write(&t, &w);
	for (size_t n = 0; n < w.n; n++) {
		uint8_t *cut = malloc(n ? n : 1);	/* so that a sanitizer sees the end */

		memcpy(cut, w.p, n);
		assert_int_equal(blocktable_read((struct bytes){ cut, n }, &got, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
		free(cut);
	}
	wr_u8(&w, 0);
	assert_int_equal(blocktable_read(wr_bytes(&w), &got, &err), -1);
	wr_free(&w);
}

static int read_with(size_t at, uint32_t value)
{
	struct blocktable t = sample(), got;
	struct wr w = { 0 };
	struct err err;

	blocktable_write(&t, &w);
	wr_put_u32(&w, at, value);
	int rc = blocktable_read(wr_bytes(&w), &got, &err);
	if (rc == 0)
		blocktable_free(&got);
	else
		assert_int_equal(err.kind, ERR_INPUT);
	wr_free(&w);
	return rc;
}

static void lies_are_refused(void **state)
{
	const size_t seg = 72, fn = seg + 24, block = fn + 32;

	(void)state;
	assert_int_equal(read_with(52, 1), 0);			/* another text size is fine */
	assert_int_equal(read_with(8, 9), -1);			/* version */
	assert_int_equal(read_with(48, 0xffffffff), -1);	/* base at the very top */
	assert_int_equal(read_with(60, 0xffffffff), -1);	/* counts without bytes */
	assert_int_equal(read_with(64, 0xffffffff), -1);
	assert_int_equal(read_with(68, 0xffffffff), -1);
	assert_int_equal(read_with(seg + 20, 0xffffffff), -1);	/* segment wraps */
	assert_int_equal(read_with(fn, 0x401030), -1);		/* functions not ascending */
	assert_int_equal(read_with(block + 4, 0x11), -1);	/* overlap */
	assert_int_equal(read_with(block + 4, 0), -1);		/* empty */
	assert_int_equal(read_with(block + 8, 0), -1);		/* no instruction */
	assert_int_equal(read_with(block + 12, 2), -1);		/* no such function */
	assert_int_equal(read_with(block + 48, 0xfffffffd), -1);	/* wraps */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(every_address_finds_its_block),
		cmocka_unit_test(every_cut_and_every_extension_is_refused),
		cmocka_unit_test(lies_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
