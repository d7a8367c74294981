/* test_blockmap.c - what is written reads back; nothing malformed is read */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/blockmap.h"
#include "lib/err.h"

enum { BLOCKS = 24 };			/* bytes of the five below */

static struct blockmap_seg segs[] = { { 0x1000, 0x1000, 0x2000 },
				      { 0x7f0000401000, 0x5000, 0x300 } };
static struct blockmap_block blocks[] = {
	{ 0x00, 0x10, 0x50, 0x20, false },
	{ 0x10, 0x00, 0x10, 0x08, false },	/* nothing of it was left but its place */
	{ 0x10, 0x08, 0x00, 0x10, false },
	{ 0x20, 0x20, 0x18, 0x38, true },
	{ 0x100, 0x30, 0x90, 0x10, false },
};
static uint32_t entries[] = { 0x00, 0x50 };
static struct blockmap_table tables[] = {
	{ 0x9000, 0x402000, 4, BLOCKMAP_TABLE_REL32 },
	{ 0x8000, 0x402010, 2, BLOCKMAP_TABLE_ABS64 },
};

static struct blockmap sample(void)
{
	struct blockmap m = {
		.generation = 7, .orig_base = 0x1000, .gen_base = 0x401000,
		.hot_size = 0x100, .fluff_size = 0x200,
		.nseg = 2, .nblock = 5, .nentry = 2, .ntable = 2,
		.seg = segs, .block = blocks, .entry = entries, .table = tables,
	};
	memset(m.original.b, 0xab, sizeof(m.original.b));
	return m;
}

static void encoding_has_the_documented_layout(void **state)
{
	struct blockmap m = sample();
	struct wr w = { 0 };

	(void)state;
	blockmap_write(&m, &w);
	assert_int_equal(w.n, 88 + 2 * 24 + BLOCKS + 2 * 4 + 2 * 24);
	assert_memory_equal(w.p, "MORPHMAP\2\0\0\0\7\0\0\0\xab", 17);
	assert_memory_equal(w.p + 48, "\0\x10\0\0\0\0\0\0\0\x10\x40\0\0\0\0\0\0\1\0\0\0\2\0\0",
			    24);
	assert_memory_equal(w.p + 88 + 48,
			    "\x86\x01\xd0\0\x10" "\x06\xa0\x7f\x08" "\x46\x68\x08"
			    "\x87\x02\x11\x08\x18" "\x87\x03\x80\x03\xc0\0\x60", BLOCKS);
	wr_free(&w);
}

static void what_is_written_reads_back(void **state)
{
	struct blockmap m = sample(), got;
	struct wr w = { 0 }, again = { 0 };
	struct err err;

	(void)state;
	blockmap_write(&m, &w);
	assert_int_equal(blockmap_read(wr_bytes(&w), &got, &err), 0);
	blockmap_write(&got, &again);
	assert_int_equal(w.n, again.n);
	assert_memory_equal(w.p, again.p, w.n);
	blockmap_free(&got);
	wr_free(&w);
	wr_free(&again);
}

static void every_address_is_looked_up_both_ways(void **state)
{
	struct blockmap m = sample(), got;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	blockmap_write(&m, &w);
	assert_int_equal(blockmap_read(wr_bytes(&w), &got, &err), 0);
	for (uint32_t off = 0; off < 0x180; off++) {
		const struct blockmap_block *gen = NULL, *orig = NULL;

		for (uint32_t i = 0; i < got.nblock; i++) {
			const struct blockmap_block *b = &got.block[i];

			if (off >= b->gen && off < b->gen + b->gen_size)
				gen = b;
			if (off >= b->orig && off < b->orig + b->orig_size)
				orig = b;
		}
		assert_ptr_equal(blockmap_find_gen(&got, got.gen_base + off), gen);
		assert_ptr_equal(blockmap_find_orig(&got, got.orig_base + off), orig);
	}
	assert_null(blockmap_find_gen(&got, got.gen_base - 1));
	assert_null(blockmap_find_gen(&got, got.gen_base + ((uint64_t)1 << 32)));
	assert_null(blockmap_find_orig(&got, got.orig_base - 1));
	assert_null(blockmap_find_orig(&got, UINT64_MAX));
	blockmap_free(&got);
	wr_free(&w);
}

static void file_offsets_become_addresses(void **state)
{
	struct blockmap m = sample();
	new_vaddr addr = 0;

	(void)state;
	assert_int_equal(blockmap_vaddr_of(&m, 0x5010, &addr), 0);
	assert_int_equal(addr, 0x7f0000401010);
	assert_int_equal(blockmap_vaddr_of(&m, 0x5300, &addr), -1);
	assert_int_equal(blockmap_vaddr_of(&m, 0xfff, &addr), -1);
	assert_int_equal(blockmap_vaddr_of(&m, 0x1000, &addr), 0);
	assert_int_equal(addr, 0x1000);
}

static void every_cut_and_every_extension_is_refused(void **state)
{
	struct blockmap m = sample(), got;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	blockmap_write(&m, &w);
	for (size_t n = 0; n < w.n; n++) {
		uint8_t *cut = malloc(n ? n : 1);	/* so that a sanitizer sees the end */

		memcpy(cut, w.p, n);
		assert_int_equal(blockmap_read((struct bytes){ cut, n }, &got, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
		free(cut);
	}
	wr_u8(&w, 0);
	assert_int_equal(blockmap_read(wr_bytes(&w), &got, &err), -1);
	assert_int_equal(blockmap_read((struct bytes){ NULL, 0 }, &got, &err), -1);
	wr_free(&w);
}

/* Writes the sample with one 32-bit field overwritten, and reads it. */
static int read_with(size_t at, uint32_t value)
{
	struct blockmap m = sample(), got;
	struct wr w = { 0 };
	struct err err;

	blockmap_write(&m, &w);
	wr_put_u32(&w, at, value);
	int rc = blockmap_read(wr_bytes(&w), &got, &err);
	if (rc == 0)
		blockmap_free(&got);
	else
		assert_int_equal(err.kind, ERR_INPUT);
	wr_free(&w);
	return rc;
}

/* The same with one block changed. */
static int read_with_block(uint32_t i, struct blockmap_block b)
{
	struct blockmap m = sample(), got;
	struct blockmap_block changed[5];
	struct wr w = { 0 };
	struct err err;

	memcpy(changed, blocks, sizeof(changed));
	changed[i] = b;
	m.block = changed;
	blockmap_write(&m, &w);
	int rc = blockmap_read(wr_bytes(&w), &got, &err);
	if (rc == 0)
		blockmap_free(&got);
	else
		assert_int_equal(err.kind, ERR_INPUT);
	wr_free(&w);
	return rc;
}

static void lies_are_refused(void **state)
{
	const size_t seg = 88, entry = seg + 48 + BLOCKS, table = entry + 8;

	(void)state;
	assert_int_equal(read_with(12, 8), 0);			/* another generation is fine */
	assert_int_equal(read_with(8, 1), -1);			/* version */
	assert_int_equal(read_with(0, 0), -1);			/* magic */
	assert_int_equal(read_with(52, 0xffffffff), -1);	/* orig_base at the very top */
	assert_int_equal(read_with(64, 0xffffffff), -1);	/* hot + fluff overflow */
	/* a block across hot and fluff */
	assert_int_equal(read_with(64, 0x120), -1);
	assert_int_equal(read_with(68, 0x2f), -1);		/* a block beyond the text */
	assert_int_equal(read_with(72, 0xffffffff), -1);	/* counts without bytes */
	assert_int_equal(read_with(76, 0xffffffff), -1);
	assert_int_equal(read_with(76, 4), -1);
	assert_int_equal(read_with(seg + 12, 0xffffffff), 0);	/* an odd but bounded offset */
	assert_int_equal(read_with(seg + 44, 0xffffffff), -1);	/* segment wraps */
	assert_int_equal(read_with(entry, 0x50), -1);		/* entries not ascending */
	assert_int_equal(read_with(table + 20, 4), -1);		/* kind */
	assert_int_equal(read_with(table + 16, 0), -1);		/* empty */
	assert_int_equal(read_with(table + 16, 5), -1);		/* overlaps the next */
	assert_int_equal(read_with_block(0, blocks[0]), 0);
	assert_int_equal(
		read_with_block(0, (struct blockmap_block){ 0, 0x11, 0x50, 0x20, false }), -1);
	assert_int_equal(read_with_block(1, (struct blockmap_block){ 0x0f, 0, 0x10, 8, false }),
			 -1);
	assert_int_equal(read_with_block(0, (struct blockmap_block){ 0, 0x10, 0x50, 0, false }),
			 -1);
	assert_int_equal(
		read_with_block(0, (struct blockmap_block){ 0, 0x10, 0x4f, 0x20, false }), -1);
	assert_int_equal(read_with_block(4, (struct blockmap_block){ 0x100, 0x30, 0xfffffff8,
								     0x10, false }),
			 -1);
	assert_int_equal(read_with_block(4, (struct blockmap_block){ 0x100, 0x30, 0x90,
								     0xffffffff, false }),
			 -1);
}

static void bytes_behind_a_longer_call_are_one_off(void **state)
{
	struct blockmap m = sample();
	const struct blockmap_block *b = &blocks[3];
	vaddr o = m.orig_base + b->orig;
	new_vaddr g = m.gen_base + b->gen;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(blockmap_orig_of(&m, b, g + i), o + i);
		assert_int_equal(blockmap_gen_of(&m, b, o + i), g + i);
	}
	assert_int_equal(blockmap_orig_of(&m, b, g + 5), o + 4);	/* still in the call */
	for (uint32_t i = 6; i < 0x20; i++) {
		assert_int_equal(blockmap_orig_of(&m, b, g + i), o + i - 1);
		assert_int_equal(blockmap_gen_of(&m, b, o + i - 1), g + i);
	}
	assert_int_equal(blockmap_gen_of(&m, b, o + 0x37), g + 0x20);	/* at most the end */
	assert_int_equal(blockmap_orig_of(&m, &blocks[4], m.gen_base + 0x12f),
			 m.orig_base + 0xa0);
}

/* Whatever a flipped byte makes of it: refused, or a map that keeps the promised order. */
static void flipped_bytes_never_break_the_promises(void **state)
{
	struct blockmap m = sample(), got;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	blockmap_write(&m, &w);
	for (size_t at = 0; at < w.n; at++) {
		for (int bit = 0; bit < 8; bit++) {
			w.p[at] ^= (uint8_t)(1 << bit);
			if (blockmap_read(wr_bytes(&w), &got, &err) == 0) {
				for (uint32_t i = 1; i < got.nblock; i++) {
					const struct blockmap_block *b = &got.block[i];

					assert_true(b[-1].gen + b[-1].gen_size <= b->gen);
					b = &got.block[got.by_orig[i - 1]];
					assert_true(b->orig + b->orig_size <=
						    got.block[got.by_orig[i]].orig);
				}
				blockmap_free(&got);
			}
			w.p[at] ^= (uint8_t)(1 << bit);
		}
	}
	wr_free(&w);
}

static void empty_map_is_valid(void **state)
{
	struct blockmap m = { 0 }, got;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	blockmap_write(&m, &w);
	assert_int_equal(blockmap_read(wr_bytes(&w), &got, &err), 0);
	assert_null(blockmap_find_gen(&got, 0));
	assert_null(blockmap_find_orig(&got, 0));
	blockmap_free(&got);
	blockmap_free(&m);
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoding_has_the_documented_layout),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(every_address_is_looked_up_both_ways),
		cmocka_unit_test(file_offsets_become_addresses),
		cmocka_unit_test(every_cut_and_every_extension_is_refused),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(bytes_behind_a_longer_call_are_one_off),
		cmocka_unit_test(flipped_bytes_never_break_the_promises),
		cmocka_unit_test(empty_map_is_valid),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
