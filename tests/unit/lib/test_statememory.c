/* test_statememory.c - which places the memory of a sample is of */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/statememory.h"
#include "lib/wr.h"

enum { RBX = 3, R15 = 15 };

/* Slots of a mask, each filled with its own number, but with `word` where the first is
 * chased from. */
static struct wr memory_of(uint64_t mask, uint64_t word)
{
	struct wr w = { 0 };

	wr_u64(&w, mask);
	for (unsigned slot = 0; slot < STATEMEMORY_SLOTS; slot++) {
		if (!(mask >> slot & 1))
			continue;
		bool first = slot % STATEMEMORY_PER_GPR == 0;
		uint8_t *p = wr_reserve(&w, first ? STATEMEMORY_REACH : STATEMEMORY_CHASE);
		memset(p, (int)slot, first ? STATEMEMORY_REACH : STATEMEMORY_CHASE);
		for (unsigned i = 0; first && i < STATEMEMORY_CHASED; i++) {
			uint64_t v = word + i;
			memcpy(p + statememory_word_at(i), &v, sizeof(v));
		}
	}
	return w;
}

static uint64_t bit(unsigned gpr, unsigned chased)
{
	return UINT64_C(1) << (gpr * STATEMEMORY_PER_GPR + chased);
}

static void pieces_are_where_registers_and_words_point(void **state)
{
	uint64_t gpr[STATEMEMORY_GPRS] = { [RBX] = 0x10007, [R15] = 0x20008 };
	struct statememory_piece piece[STATEMEMORY_SLOTS];
	struct wr w = memory_of(bit(RBX, 0) | bit(RBX, 2) | bit(R15, 0), 0x777000);

	(void)state;
	assert_int_equal(statememory_pieces(gpr, wr_bytes(&w), piece), 3);
	assert_int_equal(piece[0].at, 0x10000 - STATEMEMORY_BACK);
	assert_int_equal(piece[0].b.n, STATEMEMORY_REACH);
	assert_int_equal(piece[0].b.p[0], 4 * RBX);
	assert_int_equal(piece[1].at, 0x777001);
	assert_int_equal(piece[1].b.n, STATEMEMORY_CHASE);
	assert_int_equal(piece[1].b.p[0], 4 * RBX + 2);
	assert_int_equal(piece[2].at, 0x20008 - STATEMEMORY_BACK);
	assert_int_equal(piece[2].b.p[0], 4 * R15);
	assert_ptr_equal(piece[2].b.p + piece[2].b.n, w.p + w.n);
	wr_free(&w);
}

static void all_slots_fit(void **state)
{
	uint64_t gpr[STATEMEMORY_GPRS] = { 0 };
	struct statememory_piece piece[STATEMEMORY_SLOTS];
	struct wr w = memory_of(UINT64_MAX, 0);

	(void)state;
	assert_int_equal(w.n, STATEMEMORY_MAX);
	assert_int_equal(statememory_pieces(gpr, wr_bytes(&w), piece), STATEMEMORY_SLOTS);
	wr_free(&w);
	w = memory_of(0, 0);
	assert_int_equal(statememory_pieces(gpr, wr_bytes(&w), piece), 0);
	wr_free(&w);
}

static void what_is_malformed_is_refused(void **state)
{
	uint64_t gpr[STATEMEMORY_GPRS] = { 0 };
	struct statememory_piece piece[STATEMEMORY_SLOTS];
	struct wr w = memory_of(bit(RBX, 0) | bit(RBX, 1), 1);

	(void)state;
	assert_int_equal(statememory_bytes(wr_bytes(&w)), w.n);
	for (size_t n = 0; n < w.n; n++) {
		assert_int_equal(statememory_bytes((struct bytes){ w.p, n }), 0);
		assert_int_equal(statememory_pieces(gpr, (struct bytes){ w.p, n }, piece), -1);
	}
	wr_u8(&w, 0);
	assert_int_equal(statememory_bytes(wr_bytes(&w)), w.n - 1);
	assert_int_equal(statememory_pieces(gpr, wr_bytes(&w), piece), -1);
	wr_free(&w);
	w = memory_of(bit(RBX, 0) | bit(R15, 1), 1);	/* chased from nowhere */
	assert_int_equal(statememory_pieces(gpr, wr_bytes(&w), piece), -1);
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_where_registers_and_words_point),
		cmocka_unit_test(all_slots_fit),
		cmocka_unit_test(what_is_malformed_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
