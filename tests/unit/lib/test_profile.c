/* test_profile.c - the text form of profiles */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/profile.h"

#define HEX8 "0123456789abcdef"
#define HEX HEX8 HEX8 HEX8 HEX8
#define HEAD \
	"morph-profile 2\nmodule /usr/bin/perl\nsha256 " HEX "\nclock tick\noutside 12.500\n"

static int parse(struct arena *a, const char *text, struct profile *out, struct err *err)
{
	return profile_read((struct bytes){ (const uint8_t *)text, strlen(text) }, a, out, err);
}

static void documented_example_reads(void **state)
{
	struct arena *a = arena_new();
	struct profile p;
	struct err err;

	(void)state;
	assert_int_equal(parse(a, HEAD "block 0x4f2a0 153.000\nblock 0x4f2b0 0.25\n", &p, &err),
			 0);
	assert_string_equal(p.module, "/usr/bin/perl");
	assert_string_equal(p.clock, "tick");
	assert_true(p.outside == 12.5);
	assert_true(p.samples == 153.25);
	assert_int_equal(p.nblock, 2);
	assert_int_equal(p.nedge + p.ncall, 0);
	assert_false(profile_is_exact(&p));
	assert_int_equal(p.block[0].addr, 0x4f2a0);
	assert_true(p.block[1].samples == 0.25);
	assert_int_equal(p.original.b[0], 0x01);
	assert_int_equal(p.original.b[31], 0xef);
	arena_free(a);
}

static void what_is_written_reads_back(void **state)
{
	struct arena *a = arena_new();
	struct profile_block block[] = { { 0, 1 }, { 0x1234, 0.125 }, { UINT64_MAX, 1e12 } };
	struct profile_edge edge[] = { { 0x10, 0x10, 1 },
				       { 0x10, UINT64_MAX, 2.5 },
				       { 0x11, 0, 3 } };
	struct profile_call call[] = { { 7, 8, 9 }, { UINT64_MAX, 0, 999999999999999 } };
	struct profile p = { .module = "/tmp/100%\nblock 0x0 1\n\x7f ü", .clock = "exact",
		.outside = 3, .block = block, .nblock = 3, .edge = edge, .nedge = 3,
		.call = call, .ncall = 2 }, got;
	struct wr w = { 0 }, again = { 0 };
	struct err err;

	(void)state;
	profile_write(&p, &w);
	assert_int_equal(profile_read(wr_bytes(&w), a, &got, &err), 0);
	assert_string_equal(got.module, p.module);
	assert_int_equal(got.nblock, 3);
	assert_int_equal(got.block[2].addr, UINT64_MAX);
	assert_true(got.block[1].samples == 0.125 && got.block[2].samples == 1e12);
	assert_true(got.samples == 1e12 + 1.125 && profile_is_exact(&got));
	assert_int_equal(got.nedge, 3);
	assert_int_equal(got.edge[1].to, UINT64_MAX);
	assert_true(got.edge[1].count == 2.5 && got.edge[2].from == 0x11);
	assert_int_equal(got.ncall, 2);
	assert_int_equal(got.call[1].insn, UINT64_MAX);
	assert_true(got.call[0].target == 8 && got.call[1].count == 999999999999999);
	profile_write(&got, &again);
	assert_int_equal(w.n, again.n);
	assert_memory_equal(w.p, again.p, w.n);
	wr_free(&w);
	wr_free(&again);
	arena_free(a);
}

static void a_count_beyond_all_digits_reads_back(void **state)
{
	struct arena *a = arena_new();
	struct profile_block block = { 0x1000, 9.5e18 };
	struct profile p = { .module = "/p",
			     .clock = "exact", .outside = 1e300, .block = &block,
			     .nblock = 1 },
		       q;
	struct wr w = { 0 };
	struct err err;

	(void)state;
	profile_write(&p, &w);
	assert_int_equal(profile_read(wr_bytes(&w), a, &q, &err), 0);
	assert_true(q.block[0].samples == 999999999999999 && q.outside == 999999999999999);
	wr_free(&w);
	arena_free(a);
}

/* Each is refused as malformed input. */
static void all_are_refused(const char *const *text, size_t n)
{
	struct arena *a = arena_new();
	struct profile p;
	struct err err;

	for (size_t i = 0; i < n; i++) {
		if (parse(a, text[i], &p, &err) == 0)
			fail_msg("accepted: %s", text[i]);
		assert_int_equal(err.kind, ERR_INPUT);
	}
	arena_free(a);
}

static void a_malformed_header_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"morph-profile",
		"morph-profile 3\n",
		"morph-profile 2\n",
		"perl\n",
		"morph-profile 2\nmodule /x\nsha256 " HEX "\n",	/* no clock */
		"morph-profile 2\nmodule /x\nclock tick\n",
		"morph-profile 2\nmodule \nsha256 " HEX "\nclock tick\n",
		"morph-profile 2\nmodule /%0\nsha256 " HEX "\nclock tick\n",
		"morph-profile 2\nmodule /%00\nsha256 " HEX "\nclock tick\n",
		"morph-profile 2\nmodule /x\nsha256 " HEX "0\nclock tick\n",
		"morph-profile 2\nmodule /x\nsha256 " HEX8 "\nclock tick\n",
		"morph-profile 2\nmodule /x\nsha256 " HEX "\nclock Tick Tock\n",
	};

	(void)state;
	all_are_refused(bad, sizeof(bad) / sizeof(bad[0]));
}

static void malformed_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		HEAD "block 0x10 1\nblock 0x10 1\n",	/* twice */
		HEAD "block 0x10 1\nblock 0x0f 1\n",	/* not ascending */
		HEAD "block 10 1\n",
		HEAD "block 0x 1\n",
		HEAD "block 0x10\n",
		HEAD "block 0x10 \n",
		HEAD "block 0x10 -1\n",
		HEAD "block 0x10 1e5\n",
		HEAD "block 0x10 nan\n",
		HEAD "block 0x10 1.\n",
		HEAD "block 0x10 .5\n",
		HEAD "block 0x10 1 \n",
		HEAD "block 0x10 1\r\n",
		HEAD "block 0x10000000000000000 1\n",
		HEAD "block 0x10 1234567890123456\n",
		HEAD "block 0x10 0.1234567890\n",
		HEAD "flow 0x10 0x20 1\n",	/* of a newer version */
		HEAD "edge 0x10 1\n",
		HEAD "edge 0x10 0x20\n",
		HEAD "edge 0x10 20 1\n",
		HEAD "edge 0x10 0x20 0x30 1\n",
		HEAD "call 0x10 1\n",
		HEAD "call 0x10 0x20 -1\n",
		HEAD "edge 0x10 0x20 1\nedge 0x10 0x20 1\n",	/* twice */
		HEAD "edge 0x10 0x20 1\nedge 0x10 0x1f 1\n",	/* not ascending */
		HEAD "call 0x10 0x20 1\ncall 0x0f 0x30 1\n",
		HEAD "edge 0x10 0x20 1\nblock 0x10 1\n",	/* kinds have an order */
		HEAD "call 0x10 0x20 1\nedge 0x10 0x20 1\n",
		HEAD "edge 0x10 0x20 1\nclock tick\n",
		HEAD "\n",
		HEAD "clock tick\n",
		HEAD "block 0x10 1\nclock tick\n",	/* header behind blocks */
	};

	(void)state;
	all_are_refused(bad, sizeof(bad) / sizeof(bad[0]));
}

static void a_refusal_names_the_line(void **state)
{
	struct arena *a = arena_new();
	struct profile p;
	struct err err;

	(void)state;
	assert_int_equal(parse(a, HEAD "block 0x10 1\nblck 0x20 1\n", &p, &err), -1);
	assert_string_equal(err.text, "profile line 7 is malformed or unknown");
	assert_int_equal(profile_read((struct bytes){ NULL, 0 }, a, &p, &err), -1);
	arena_free(a);
}

static void sorting_adds_equal_ones_up(void **state)
{
	struct profile_block block[] = { { 0x30, 1 }, { 0x10, 2 }, { 0x30, 4 }, { 0x20, 8 } };
	struct profile_edge edge[] = { { 0x20, 0x30, 1 }, { 0x20, 0x10, 2 }, { 0x10, 0x30, 4 },
				       { 0x20, 0x10, 8 } };
	struct profile_call call[] = { { 0x11, 0x20, 1 }, { 0x11, 0x10, 2 } };
	struct profile p = { .block = block, .nblock = 4, .edge = edge, .nedge = 4,
			     .call = call, .ncall = 2 }, none = { 0 };

	(void)state;
	profile_sort(&none);
	profile_sort(&p);
	assert_int_equal(p.nblock, 3);
	assert_int_equal(block[0].addr, 0x10);
	assert_int_equal(block[1].addr, 0x20);
	assert_int_equal(block[2].addr, 0x30);
	assert_float_equal(block[2].samples, 5, 0);
	assert_int_equal(p.nedge, 3);
	assert_int_equal(edge[0].from, 0x10);
	assert_int_equal(edge[1].to, 0x10);
	assert_float_equal(edge[1].count, 10, 0);
	assert_int_equal(edge[2].to, 0x30);
	assert_int_equal(p.ncall, 2);		/* one place may call several */
	assert_int_equal(call[0].target, 0x10);
	assert_float_equal(call[0].count, 2, 0);
}

/* Cut anywhere: refused, or (behind the last thing that must be there) a shorter profile. */
static void no_cut_crashes(void **state)
{
	static const char text[] = HEAD "block 0x4f2a0 153.000\nblock 0x4f2b0 0.25\n"
		"edge 0x4f2a0 0x4f2b0 1\ncall 0x4f2a3 0x4f2a0 1\n";
	struct arena *a = arena_new();
	struct profile p;
	struct err err;

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		uint8_t *cut = malloc(n ? n : 1);	/* so that a sanitizer sees the end */

		memcpy(cut, text, n);
		if (profile_read((struct bytes){ cut, n }, a, &p, &err) == 0)
			assert_true(n >= strlen(HEAD) - strlen("ick\noutside 12.500\n"));
		free(cut);
	}
	arena_free(a);
}

static void numbers_have_any_digits(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0.9", 0.9 }, { "999999999999999", 999999999999999 },
		     { "1234567890.099", 1234567890.099 }, { "5.000000009", 5.000000009 } };
	static const char *const bad[] = { "", ".5", "5.", "1e3", "-1", "0.1234567890",
					   "1234567890123456", "0x10", "1,5", "1.5.2" };
	struct arena *a = arena_new();
	struct profile p;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char *text = arena_printf(a, HEAD "block 0x4f2a0 %s\n", good[i].text);

		assert_int_equal(parse(a, text, &p, &err), 0);
		if (p.block[0].samples != good[i].value)
			fail_msg("%s is read as %.9f", good[i].text, p.block[0].samples);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(a, arena_printf(a, HEAD "block 0x4f2a0 %s\n", bad[i]), &p, &err) == 0)
			fail_msg("'%s' is read as %.9f", bad[i], p.block[0].samples);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documented_example_reads),
		cmocka_unit_test(numbers_have_any_digits),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(a_count_beyond_all_digits_reads_back),
		cmocka_unit_test(a_malformed_header_is_refused),
		cmocka_unit_test(malformed_lines_are_refused),
		cmocka_unit_test(a_refusal_names_the_line),
		cmocka_unit_test(sorting_adds_equal_ones_up),
		cmocka_unit_test(no_cut_crashes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
