/* test_statesample.c - the stream of state samples */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/err.h"
#include "lib/statesample.h"

static struct statesample sample_of(uint64_t seed, struct bytes stack)
{
	struct statesample s = {
		.pc = seed, .bias = seed << 8, .rflags = 0x246, .stack = stack
	};

	for (unsigned i = 0; i < STATESAMPLE_GPRS; i++)
		s.gpr[i] = seed * 0x9e3779b97f4a7c15u + i;
	return s;
}

static void what_is_written_reads_back(void **state)
{
	static uint8_t stack[STATESAMPLE_STACK_MAX];
	const uint32_t sizes[] = { 0, 1, 256, STATESAMPLE_STACK_MAX };
	const uint32_t memory[] = { STATEMEMORY_MAX, 0, 9, 1 };
	struct statesample_reader r;
	struct statesample s;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 7);
	statesample_write_header(&w);
	for (unsigned i = 0; i < 4; i++) {
		s = sample_of(i + 1, (struct bytes){ stack, sizes[i] });
		s.memory = (struct bytes){ stack + 1, memory[i] };
		statesample_write(&s, &w);
	}
	assert_int_equal(w.n, STATESAMPLE_HEADER + 4 * STATESAMPLE_FIXED + 257 +
				      STATESAMPLE_STACK_MAX + STATEMEMORY_MAX + 10);
	assert_int_equal(statesample_open(wr_bytes(&w), &r, &err), 0);
	for (unsigned i = 0; i < 4; i++) {
		struct statesample want = sample_of(i + 1, (struct bytes){ NULL, 0 });

		assert_int_equal(statesample_read(&r, &s, &err), 1);
		assert_int_equal(s.pc, want.pc);
		assert_int_equal(s.bias, want.bias);
		assert_int_equal(s.rflags, want.rflags);
		assert_memory_equal(s.gpr, want.gpr, sizeof(s.gpr));
		assert_int_equal(s.stack.n, sizes[i]);
		assert_memory_equal(s.stack.p, stack, sizes[i]);
		assert_int_equal(s.memory.n, memory[i]);
		assert_memory_equal(s.memory.p, stack + 1, memory[i]);
	}
	assert_int_equal(statesample_read(&r, &s, &err), 0);
	assert_int_equal(r.nread, 4);
	wr_free(&w);
}

/* The layout of doc/formats.md, byte by byte. */
static void documented_offsets_hold(void **state)
{
	struct statesample s = sample_of(5, (struct bytes){ (const uint8_t *)"stack", 5 });
	struct wr w = { 0 };
	uint64_t v;
	uint32_t n;

	(void)state;
	statesample_write_header(&w);
	statesample_write(&s, &w);
	assert_memory_equal(w.p, "MSTATE02", 8);
	memcpy(&n, w.p + 8, 4);
	assert_int_equal(n, 173);
	memcpy(&v, w.p + 8 + 8, 8);
	assert_int_equal(v, 5);
	memcpy(&v, w.p + 8 + 16, 8);
	assert_int_equal(v, 0x500);
	memcpy(&v, w.p + 8 + 24, 8);
	assert_int_equal(v, 0x246);
	memcpy(&v, w.p + 8 + 32 + 15 * 8, 8);
	assert_int_equal(v, s.gpr[15]);
	memcpy(&n, w.p + 8 + 160, 4);
	assert_int_equal(n, 5);
	assert_memory_equal(w.p + 8 + 168, "stack", 5);
	wr_free(&w);
}

/* Reads all of a stream; its number of samples, or -1. */
static int count(const uint8_t *p, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);	/* so that a sanitizer sees the end */
	struct statesample_reader r;
	struct statesample s;
	struct err err;
	int got = -1, rc = 0;

	memcpy(exact, p, n);
	if (statesample_open((struct bytes){ exact, n }, &r, &err) == 0) {
		for (got = 0; (rc = statesample_read(&r, &s, &err)) > 0; got++)
			;
		if (rc < 0)
			assert_int_equal(err.kind, ERR_INPUT);
	}
	free(exact);
	return rc < 0 ? -1 : got;
}

static void cut_or_contradicting_records_are_refused(void **state)
{
	struct statesample s = sample_of(5, (struct bytes){ (const uint8_t *)"stack", 5 });
	const size_t first = STATESAMPLE_HEADER, end = first + STATESAMPLE_FIXED + 5;
	struct wr w = { 0 };

	(void)state;
	statesample_write_header(&w);
	statesample_write(&s, &w);
	for (size_t n = 0; n <= w.n; n++)
		assert_int_equal(count(w.p, n), n == first ? 0 : n == end ? 1 : -1);
	const size_t must_agree[] = { 0, first, first + 4, first + 160, first + 164 };
	for (size_t i = 0; i < sizeof(must_agree) / sizeof(must_agree[0]); i++) {
		w.p[must_agree[i]] ^= 1;
		assert_int_equal(count(w.p, w.n), -1);
		w.p[must_agree[i]] ^= 1;
	}
	wr_free(&w);
}

static void stacks_and_memory_longer_than_they_can_be_are_refused(void **state)
{
	static const struct { uint32_t bytes, at; } part[] = {
		{ STATESAMPLE_STACK_MAX, 160 }, { STATEMEMORY_MAX, 164 },
	};
	struct statesample s = sample_of(1, (struct bytes){ NULL, 0 });

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t more = 0; more < 2; more++) {
			struct wr w = { 0 };

			statesample_write_header(&w);
			statesample_write(&s, &w);
			(void)wr_reserve(&w, part[i].bytes + more);
			wr_put_u32(&w, STATESAMPLE_HEADER,
				   STATESAMPLE_FIXED + part[i].bytes + more);
			wr_put_u32(&w, STATESAMPLE_HEADER + part[i].at, part[i].bytes + more);
			assert_int_equal(count(w.p, w.n), more ? -1 : 1);
			wr_free(&w);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(documented_offsets_hold),
		cmocka_unit_test(cut_or_contradicting_records_are_refused),
		cmocka_unit_test(stacks_and_memory_longer_than_they_can_be_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
