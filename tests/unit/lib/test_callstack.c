/* test_callstack.c - samples with pieces of stacks, and the stacks that are made of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/callstack.h"
#include "lib/err.h"

static const struct callstack_mapping mapping[] = {
	{ 0x1000, 0x2000, 0, 3 },
	{ 0x2000, 0x2800, 0x5000, CALLSTACK_NO_TABLE },
	{ UINT64_MAX - 1, UINT64_MAX, 1, 0 },
};
enum { NMAPPING = 3 };

static struct callstack_sample sample_of(uint64_t seed, struct bytes stack)
{
	struct callstack_sample s = { .space = (uint32_t)seed % 2, .kernel = seed % 3 == 0,
				      .pc = ~seed, .stack = stack };

	for (int i = 0; i < CALLSTACK_GPRS; i++)
		s.gpr[i] = seed * 0x9e3779b97f4a7c15u + (uint64_t)i;
	return s;
}

/* Ends of records in at[]. */
static void fill(struct wr *w, size_t *at)
{
	static const uint8_t stack[64] = { 1, 2, 3 };

	callstack_write_header(w);
	*at++ = w->n;
	callstack_write_space(mapping, NMAPPING, w);
	*at++ = w->n;
	callstack_write_space(NULL, 0, w);
	*at++ = w->n;
	for (uint64_t i = 0; i < 4; i++) {
		struct callstack_sample s = sample_of(i, (struct bytes){ stack, i * 16 });

		callstack_write_sample(&s, w);
		*at++ = w->n;
	}
}

static void what_is_written_reads_back(void **state)
{
	struct callstack_reader r;
	struct callstack_sample s;
	struct bytes space;
	struct wr w = { 0 };
	size_t at[7];

	(void)state;
	fill(&w, at);
	assert_int_equal(callstack_open(wr_bytes(&w), &r, NULL), 0);
	assert_int_equal(callstack_read(&r, &space, &s, NULL), CALLSTACK_SPACE);
	struct callstack_mapping m;
	assert_false(callstack_mapping_at(space, 0xfff, &m));
	assert_true(callstack_mapping_at(space, 0x1000, &m));
	assert_int_equal(m.table, 3);
	assert_true(callstack_mapping_at(space, 0x1fff, &m));
	assert_int_equal(m.table, 3);
	assert_true(callstack_mapping_at(space, 0x2000, &m));
	assert_int_equal(m.off, 0x5000);
	assert_int_equal(m.table, CALLSTACK_NO_TABLE);
	assert_false(callstack_mapping_at(space, 0x2800, &m));
	assert_true(callstack_mapping_at(space, UINT64_MAX - 1, &m));
	assert_false(callstack_mapping_at(space, UINT64_MAX, &m));
	assert_int_equal(callstack_read(&r, &space, &s, NULL), CALLSTACK_SPACE);
	assert_false(callstack_mapping_at(space, 0x1000, &m));
	for (uint64_t i = 0; i < 4; i++) {
		struct callstack_sample want = sample_of(i, (struct bytes){ NULL, 0 });

		assert_int_equal(callstack_read(&r, &space, &s, NULL), CALLSTACK_SAMPLE);
		assert_int_equal(s.space, want.space);
		assert_int_equal(s.kernel, want.kernel);
		assert_int_equal(s.pc, want.pc);
		assert_memory_equal(s.gpr, want.gpr, sizeof(s.gpr));
		assert_int_equal(s.stack.n, i * 16);
		if (i)
			assert_int_equal(s.stack.p[1], 2);
	}
	assert_int_equal(callstack_read(&r, &space, &s, NULL), CALLSTACK_END);
	wr_free(&w);
}

static int read_all(struct bytes b)
{
	struct callstack_reader r;
	struct callstack_sample s;
	struct bytes space;
	struct err err;
	int rc;

	if (callstack_open(b, &r, &err) < 0)
		return -1;
	while ((rc = callstack_read(&r, &space, &s, &err)) > CALLSTACK_END)
		;
	return rc;
}

static void what_is_cut_short_is_refused(void **state)
{
	struct wr w = { 0 };
	size_t at[7];
	int k = 0;

	(void)state;
	fill(&w, at);
	for (size_t n = 0; n <= w.n; n++) {
		uint8_t *copy = malloc(n ? n : 1);	/* sanitizers see reads past it */

		memcpy(copy, w.p, n);
		assert_int_equal(read_all((struct bytes){ copy, n }), n == at[k] ? 0 : -1);
		k += n == at[k];
		free(copy);
	}
	assert_int_equal(k, 7);
	wr_free(&w);
}

static void what_is_out_of_order_is_refused(void **state)
{
	static const struct callstack_mapping bad[][2] = {
		{ { 0x1000, 0x2000, 0, 0 }, { 0x1fff, 0x3000, 0, 0 } },
		{ { 0x2000, 0x3000, 0, 0 }, { 0x1000, 0x2000, 0, 0 } },
		{ { 0x1000, 0x1000, 0, 0 }, { 0x2000, 0x3000, 0, 0 } },
		{ { 0x1000, 0x2000, 0, 0 }, { 0x3000, 0x2fff, 0, 0 } },
	};
	struct callstack_sample s = { 0 };
	struct wr w = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		w.n = 0;
		callstack_write_header(&w);
		callstack_write_space(bad[i], 2, &w);
		assert_int_equal(read_all(wr_bytes(&w)), -1);
	}
	w.n = 0;
	callstack_write_header(&w);
	callstack_write_sample(&s, &w);		/* of a space that is not there */
	assert_int_equal(read_all(wr_bytes(&w)), -1);
	w.n = 0;
	callstack_write_header(&w);
	callstack_write_space(NULL, 0, &w);
	size_t n = w.n;
	callstack_write_sample(&s, &w);
	assert_int_equal(read_all(wr_bytes(&w)), 0);
	w.p[n + 8] = 2;				/* a bit that is not known */
	assert_int_equal(read_all(wr_bytes(&w)), -1);
	w.p[n + 8] = 0;
	w.p[n] = 3;				/* a kind */
	assert_int_equal(read_all(wr_bytes(&w)), -1);
	wr_free(&w);
}

static void answers_are_held_to_their_bounds(void **state)
{
	struct callstack c = { CALLSTACK_SHORT, true, CALLSTACK_DEPTH_MAX, { 0 } }, got;
	struct wr w = { 0 };

	(void)state;
	for (uint32_t i = 0; i < c.n; i++)
		c.addr[i] = i * UINT64_C(0x123456789);
	callstack_write(&c, &w);
	struct rd r = rd_of(wr_bytes(&w));
	assert_true(callstack_take(&r, &got));
	assert_int_equal(got.end, CALLSTACK_SHORT);
	assert_true(got.guessed);
	assert_int_equal(got.n, CALLSTACK_DEPTH_MAX);
	assert_memory_equal(got.addr, c.addr, sizeof(c.addr));
	assert_false(callstack_take(&r, &got));
	static const uint32_t bad[][3] = { { NCALLSTACK_END, 0, 1 }, { 0, 2, 1 }, { 0, 0, 0 },
					   { 0, 0, CALLSTACK_DEPTH_MAX + 1 },
					   { 0, 0, UINT32_MAX } };
	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 3; k++)
			wr_put_u32(&w, (size_t)k * 4, bad[i][k]);
		r = rd_of(wr_bytes(&w));
		assert_false(callstack_take(&r, &got));
	}
	for (size_t n = 0; n < 12 + 8; n++) {
		for (int k = 0; k < 3; k++)
			wr_put_u32(&w, (size_t)k * 4, k == 2);
		r = rd_of((struct bytes){ w.p, n });
		assert_false(callstack_take(&r, &got));
	}
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(what_is_cut_short_is_refused),
		cmocka_unit_test(what_is_out_of_order_is_refused),
		cmocka_unit_test(answers_are_held_to_their_bounds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("callstack", tests, NULL, NULL);
}
