/* test_blockindex.c - the index says what block table and block map say, and is kept within
 * bounds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "manager/samples/blockindex.h"

enum { N = 400, SEGS = 2 };

static const vaddr base = 0x401000;
static const new_vaddr gen_base = 0x900000;

static struct blockmap_seg orig_seg[SEGS] = { { 0x401000, 0x1000, 0x1000 },
					       { 0x402800, 0x2400, 0x4000 } };
static struct blockmap_seg gen_seg[SEGS] = { { 0x401000, 0x1000, 0x5800 },
					      { 0x900000, 0x8000, 0x4000 } };
static struct blocktable_block block[N];
static struct blockmap_block image[N];
static uint32_t by_orig[N];
static struct blocktable table = {
	.base = 0x401000, .nseg = SEGS, .seg = orig_seg, .block = block
};
static struct blockmap map = { .orig_base = 0x401000, .gen_base = 0x900000, .nseg = SEGS,
			       .seg = gen_seg, .block = image, .by_orig = by_orig };

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Blocks with gaps; of two in three an image, in another order, some of them empty. */
static void make(uint64_t *seed)
{
	uint32_t at = next_random(seed) % 2 ? 0 : 5, gen = 0;

	table.nblock = map.nblock = 0;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t size = 1 + (uint32_t)(next_random(seed) % 50);

		block[table.nblock++] = (struct blocktable_block){ at, size, 1, 0 };
		at += size + (next_random(seed) % 5 ? 0 : (uint32_t)(next_random(seed) % 40));
	}
	for (uint32_t i = 0; i < N; i++) {
		uint32_t of = i * 7 % N, size = (uint32_t)(next_random(seed) % 30);

		if (of % 3 == 0)
			continue;
		image[map.nblock++] = (struct blockmap_block){ gen, size, block[of].off,
								block[of].size,
								next_random(seed) % 4 == 0 };
		gen += size + (uint32_t)(next_random(seed) % 2);
	}
}

static uint32_t plain_block(uint64_t addr)
{
	for (uint32_t i = 0; i < table.nblock; i++)
		if (addr >= base + block[i].off && addr - base - block[i].off < block[i].size)
			return i;
	return UINT32_MAX;
}

static uint64_t plain_orig(uint64_t addr)
{
	for (uint32_t i = 0; i < map.nblock; i++)
		if (addr >= gen_base + image[i].gen &&
		    addr - gen_base - image[i].gen < image[i].gen_size)
			return base + image[i].orig;
	return addr;
}

/* Where the instruction at that address stands in the original; 0: nowhere. */
static uint64_t plain_place(uint64_t addr, bool is_generation)
{
	for (uint32_t i = 0; is_generation && i < map.nblock; i++) {
		const struct blockmap_block *b = &image[i];

		if (addr < gen_base + b->gen || addr - gen_base - b->gen >= b->gen_size)
			continue;
		uint64_t within = addr - gen_base - b->gen;
		within -= b->called && within >= 5;
		return plain_block(base + b->orig + within) == plain_block(base + b->orig)
			       ? base + b->orig + within : 0;
	}
	return plain_block(addr) == UINT32_MAX ? 0 : addr;
}

static int plain_addr(const struct blockmap_seg *seg, file_off off, uint64_t *out)
{
	for (int i = 0; i < SEGS; i++)
		if (off >= seg[i].offset && off < seg[i].offset + seg[i].size) {
			*out = seg[i].vaddr + off - seg[i].offset;
			return 0;
		}
	return -1;
}

static void check_all(const struct blockindex *p, const struct blockmap_seg *seg,
		      bool is_generation)
{
	for (file_off off = 0; off < 0xd000; off++) {
		uint64_t addr = 0, got = 0;
		int there = plain_addr(seg, off, &addr);

		assert_int_equal(blockindex_addr(p, off, &got), there);
		assert_int_equal(got, addr);
		uint32_t want = there < 0
					? UINT32_MAX
					: plain_block(is_generation ? plain_orig(addr) : addr);
		assert_int_equal(blockindex_block(p, off), want);
		uint64_t place = there < 0 ? 0 : plain_place(addr, is_generation);
		vaddr at = 0;
		assert_int_equal(blockindex_place(p, off, &at), place ? 0 : -1);
		if (place)
			assert_int_equal(at, place);
	}
	assert_int_equal(blockindex_block(p, UINT64_MAX), UINT32_MAX);
}

static void they_agree_with_a_look_at_every_block(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 4; round++) {
		make(&seed);
		struct blockindex *p = blockindex_new(&table, NULL);
		struct blockindex *g = blockindex_new(&table, &map);
		check_all(p, orig_seg, false);
		check_all(g, gen_seg, true);
		blockindex_free(p);
		blockindex_free(g);
	}
}

static void empty_ones_know_nothing(void **state)
{
	struct blocktable no_table = { .base = base };
	struct blockmap no_map = { .gen_base = gen_base };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct blockindex *p = blockindex_new(&no_table, i ? &no_map : NULL);
		uint64_t addr;

		assert_int_equal(blockindex_block(p, 0x1000), UINT32_MAX);
		assert_int_equal(blockindex_addr(p, 0x1000, &addr), -1);
		blockindex_free(p);
	}
	blockindex_free(NULL);
}

static struct digest named(uint8_t name)
{
	struct digest d = { .b = { name % 3, name } };	/* some share a bucket */

	return d;
}

/* Asks for each as a spool file does; returns how many were there. */
static unsigned use_all(struct blockindex_kept *k, const uint8_t *name, unsigned n,
			size_t max_bytes)
{
	unsigned there = 0;

	blockindex_kept_round(k);
	for (unsigned i = 0; i < n; i++) {
		struct digest d = named(name[i]);

		if (blockindex_kept_get(k, &d))
			there++;
		else
			blockindex_kept_put(k, &d, &d, blockindex_new(&table, NULL));
		assert_non_null(blockindex_kept_get(k, &d));
		blockindex_kept_trim(k);
		assert_true(blockindex_kept_bytes(k) <= max_bytes);
	}
	return there;
}

static void they_are_kept_within_bounds(void **state)
{
	static const uint8_t first[] = { 1, 2, 3, 4 }, second[] = { 5, 6, 7, 8 };
	uint64_t seed = 9;

	(void)state;
	make(&seed);
	struct blockindex *p = blockindex_new(&table, NULL);
	size_t one = blockindex_bytes(p);
	blockindex_free(p);
	struct blockindex_kept *k = blockindex_kept_new(3 * one);

	assert_int_equal(use_all(k, first, 4, 3 * one), 0);
	/* One is too many: three stay, for they all were asked for. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(use_all(k, first, 4, 3 * one), 3);
	/* Others take their places when these have not been asked for in a whole round. */
	assert_int_equal(use_all(k, second, 4, 3 * one), 0);
	assert_int_equal(use_all(k, second, 4, 3 * one), 0);
	assert_int_equal(use_all(k, second, 4, 3 * one), 3);
	assert_int_equal(blockindex_kept_bytes(k), 3 * one);
	struct digest d = named(5), other = named(99);
	blockindex_kept_forget(k, &other);
	assert_int_equal(blockindex_kept_bytes(k), 3 * one);
	blockindex_kept_forget(k, &d);
	assert_null(blockindex_kept_get(k, &d));
	assert_int_equal(blockindex_kept_bytes(k), 2 * one);
	blockindex_kept_free(k);
	blockindex_kept_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_agree_with_a_look_at_every_block),
		cmocka_unit_test(empty_ones_know_nothing),
		cmocka_unit_test(they_are_kept_within_bounds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
