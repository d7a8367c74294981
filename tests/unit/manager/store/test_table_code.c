/* test_table_code.c - block tables come out of their code as they went in, whatever is in them,
 * and damage is found */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/err.h"
#include "manager/store/gamma.h"
#include "manager/store/table_code.h"

enum { FUNCTIONS = 300, BLOCKS = 5000 };

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* As analysis makes them: most blocks follow each other, with some bytes an instruction. */
static struct blocktable make(uint64_t seed)
{
	struct blocktable t = { .base = 0x401000, .text_size = 123456, .nseg = 1,
				.nfn = FUNCTIONS, .nblock = BLOCKS };
	uint32_t off = 16, fn = 0;
	vaddr entry = t.base + 16;

	memset(t.original.b, 7, sizeof(t.original.b));
	t.seg = calloc(1, sizeof(*t.seg));
	t.fn = calloc(FUNCTIONS, sizeof(*t.fn));
	t.block = calloc(BLOCKS, sizeof(*t.block));
	t.seg[0] = (struct blockmap_seg){ 0x401000, 0x1000, 0x20000 };
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		t.fn[i] = (struct blocktable_fn){ entry, next_random(&seed) % 2000,
						  i % 9 ? 0 : next_random(&seed) % 12 };
		entry += 1 + next_random(&seed) % 3000;
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		uint32_t size = 1 + next_random(&seed) % 60;

		if (next_random(&seed) % 16 == 0)
			fn = (uint32_t)(next_random(&seed) % FUNCTIONS);
		off += next_random(&seed) % 10 ? 0 : (uint32_t)(next_random(&seed) % 40);
		t.block[i] = (struct blocktable_block){
			off, size, 1 + (uint32_t)(next_random(&seed) % size), fn };
		off += size;
	}
	return t;
}

static struct wr coded(const struct blocktable *t)
{
	struct wr w = { 0 };

	assert_true(table_code_write(t, &w));
	assert_true(table_code_is(wr_bytes(&w)));
	return w;
}

static void expect_back(struct blocktable *t, uint64_t most_bytes)
{
	struct wr code = coded(t), raw = { 0 }, again = { 0 };
	struct blocktable back;
	struct err err = { 0 };

	if (table_code_read(wr_bytes(&code), &t->original, &back, &err) < 0)
		fail_msg("%s", err.text);
	blocktable_write(t, &raw);
	blocktable_write(&back, &again);
	assert_int_equal(raw.n, again.n);
	assert_memory_equal(raw.p, again.p, raw.n);
	assert_true(code.n <= most_bytes);
	blocktable_free(&back);
	wr_free(&code);
	wr_free(&raw);
	wr_free(&again);
	blocktable_free(t);
}

static void a_table_comes_back_in_a_fraction_of_its_bytes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct blocktable t = make(seed);

		expect_back(&t, 64 + FUNCTIONS * 10 + BLOCKS * 4);
	}
}

static void so_does_an_unusual_one(void **state)
{
	struct blocktable t = make(1), empty = { .base = UINT64_MAX - UINT32_MAX };

	(void)state;
	t.fn[0].entry = 5;			/* in front of the text */
	t.fn[1].entry = UINT64_MAX / 8;
	for (uint32_t i = 2; i < FUNCTIONS; i++)
		t.fn[i].entry = t.fn[1].entry + i;
	t.fn[3].size = UINT32_MAX;
	t.fn[4].reason = UINT32_MAX;
	t.block[BLOCKS - 1] = (struct blocktable_block){ UINT32_MAX - 9, 9, UINT32_MAX, 0 };
	expect_back(&t, UINT64_MAX);
	expect_back(&empty, 64);
}

static void near(struct gamma_out *o, uint64_t a, uint64_t b)
{
	gamma_put(o, b >= a ? 2 * (b - a) + 1 : 2 * (a - b));
}

/* As an older version wrote it (doc/formats.md). */
static struct wr coded_as_bits(const struct blocktable *t)
{
	struct wr w = { 0 };
	struct gamma_out o = { .w = &w };
	uint64_t at = t->base, end = 0, fn = 0;

	wr_u8(&w, 1);
	wr_u64(&w, t->base);
	wr_u64(&w, t->text_size);
	wr_u32(&w, t->nseg);
	wr_u32(&w, t->nfn);
	wr_u32(&w, t->nblock);
	blockmap_segs_write(t->seg, t->nseg, &w);
	for (uint32_t i = 0; i < t->nfn; i++) {
		near(&o, at, t->fn[i].entry);
		gamma_put(&o, (uint64_t)t->fn[i].size + 1);
		gamma_put(&o, (uint64_t)t->fn[i].reason + 1);
		at = t->fn[i].entry + t->fn[i].size;
	}
	for (uint32_t i = 0; i < t->nblock; i++) {
		const struct blocktable_block *b = &t->block[i];

		gamma_put(&o, b->off - end + 1);
		gamma_put(&o, b->size);
		near(&o, b->size / 4, b->ninsn);
		near(&o, fn, b->fn);
		end = (uint64_t)b->off + b->size;
		fn = b->fn;
	}
	gamma_end(&o);
	return w;
}

static void what_an_older_version_wrote_is_read(void **state)
{
	struct blocktable t = make(7), back;
	struct wr bits = coded_as_bits(&t), raw = { 0 }, again = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(table_code_is(wr_bytes(&bits)));
	if (table_code_read(wr_bytes(&bits), &t.original, &back, &err) < 0)
		fail_msg("%s", err.text);
	blocktable_write(&t, &raw);
	blocktable_write(&back, &again);
	assert_int_equal(raw.n, again.n);
	assert_memory_equal(raw.p, again.p, raw.n);
	blocktable_free(&back);
	memset(bits.p + 1 + 8 + 8 + 4 + 4, 0xff, 4);		/* blocks */
	assert_int_equal(table_code_read(wr_bytes(&bits), &t.original, &back, &err), -1);
	assert_non_null(strstr(err.text, "fewer numbers than its counts say"));
	wr_free(&bits);
	wr_free(&raw);
	wr_free(&again);
	blocktable_free(&t);
}

static void what_cannot_be_coded_is_not(void **state)
{
	struct blocktable t = make(1);
	struct wr w = { 0 };

	(void)state;
	wr_u8(&w, 9);
	t.fn[FUNCTIONS - 1].entry = UINT64_MAX;		/* too far */
	assert_false(table_code_write(&t, &w));
	assert_int_equal(w.n, 1);
	wr_free(&w);
	blocktable_free(&t);
}

/* Whatever is damaged, what comes back is a table that blocktable_read() takes, or an error. */
static void damage_is_found_or_makes_another_table(void **state)
{
	struct blocktable t = make(5), back;
	struct wr code = coded(&t);
	uint64_t seed = 99;
	struct err err;
	int found = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		size_t at = next_random(&seed) % code.n, cut = code.n;
		uint8_t was = code.p[at];

		code.p[at] ^= (uint8_t)(1u << next_random(&seed) % 8);
		if (i % 3 == 0)
			cut = next_random(&seed) % code.n;
		struct bytes b = { code.p, cut };
		if (table_code_read(b, &t.original, &back, &err) == 0) {
			struct wr raw = { 0 };
			struct blocktable strict;

			blocktable_write(&back, &raw);
			if (blocktable_read(wr_bytes(&raw), &strict, &err) < 0)
				fail_msg("%s", err.text);
			blocktable_free(&strict);
			blocktable_free(&back);
			wr_free(&raw);
		} else {
			found++;
		}
		code.p[at] = was;
	}
	assert_true(found > 1000);
	wr_free(&code);
	blocktable_free(&t);
}

static void counts_are_not_believed(void **state)
{
	struct blocktable t = make(5), back;
	struct wr code = coded(&t);
	struct err err = { 0 };

	(void)state;
	memset(code.p + 1 + 8 + 8 + 4 + 4, 0xff, 4);		/* blocks */
	assert_int_equal(table_code_read(wr_bytes(&code), &t.original, &back, &err), -1);
	assert_non_null(strstr(err.text, "fewer numbers than its counts say"));
	wr_free(&code);
	blocktable_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_comes_back_in_a_fraction_of_its_bytes),
		cmocka_unit_test(so_does_an_unusual_one),
		cmocka_unit_test(what_an_older_version_wrote_is_read),
		cmocka_unit_test(what_cannot_be_coded_is_not),
		cmocka_unit_test(damage_is_found_or_makes_another_table),
		cmocka_unit_test(counts_are_not_believed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
