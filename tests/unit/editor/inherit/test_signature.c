/* test_signature.c - what is signed of a program, and what is read back of it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/editor/inherit/twoversions.h"

static void it_is_read_back(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;
	struct wr w = { 0 };
	struct signature s;
	struct err err;

	(void)state;
	twoversions_make(a, &t);
	signature_write(&t.now, &w);
	assert_int_equal(signature_read(wr_bytes(&w), a, &s, &err), 0);
	assert_true(digest_equal(&s.original, &t.now_prog.digest));
	assert_int_equal(s.base, t.now.base);
	assert_int_equal(s.nfn, t.now.nfn);
	assert_int_equal(s.nblock, t.now.nblock);
	assert_int_equal(s.ncall, t.now.ncall);
	assert_int_equal(s.nfn, 7);
	assert_int_equal(s.ncall, 2);
	assert_memory_equal(s.fn, t.now.fn, s.nfn * sizeof(*s.fn));
	assert_memory_equal(s.block, t.now.block, s.nblock * sizeof(*s.block));
	assert_memory_equal(s.call, t.now.call, s.ncall * sizeof(*s.call));
	assert_int_equal(s.nword, 2);
	assert_memory_equal(s.word, t.now.word, s.nword * sizeof(*s.word));
	wr_free(&w);
	arena_free(a);
}

/* Cut off anywhere it is refused, and so is each record that says what cannot be. */
static void damage_is_refused(void **state)
{
	enum { HEAD = 8 + 4 + 32 + 8 + 16, FN = 28, BLOCK = 32, CALL = 16 };
	struct arena *a = arena_new();
	struct twoversions t;
	struct wr w = { 0 };
	struct signature s;
	struct err err;

	(void)state;
	twoversions_make(a, &t);
	signature_write(&t.old, &w);
	size_t blocks = HEAD + FN * (size_t)t.old.nfn;
	size_t calls = blocks + BLOCK * (size_t)t.old.nblock;
	size_t words = calls + CALL * (size_t)t.old.ncall;
	const struct {
		size_t at;
		uint32_t value;
		const char *says;
	} bad[] = {
		{ 0, 1, "not a signature" },
		{ 8, 2, "version 2" },
		{ 44 + 4, UINT32_MAX, "wraps" },
		{ 52, t.old.nfn + 1, "counts" },
		{ HEAD + FN, 0, "function 1 is out of order" },
		{ HEAD + 16, t.old.nblock + 1, "more blocks" },
		{ HEAD + 20, t.old.ncall + 1, "more blocks, calls" },
		{ HEAD + 24, t.old.nword + 1, "more blocks, calls or words" },
		{ HEAD + 16, 0, "of no function" },
		{ blocks + 4, 0, "block 0 is empty" },
		{ blocks + 8, 1000, "block 0 is empty or leads out" },
		{ blocks + 12, 1000, "block 0 is empty or leads out" },
		{ blocks + 28, 1000, "block 0 is a label too many" },
		{ calls + 4, 1000, "call 0" },
		{ calls + 8, t.old.nfn, "call 0" },
		{ calls + 4, 2, "call 1 is out of order" },
		{ words + 4, 0, "word 1 is out of order" },
	};
	for (size_t n = 0; n < w.n; n++)
		assert_int_equal(signature_read((struct bytes){ w.p, n }, a, &s, &err), -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t *copy = arena_dup(a, w.p, w.n);

		memcpy(copy + bad[i].at, &bad[i].value, sizeof(bad[i].value));
		if (signature_read((struct bytes){ copy, w.n }, a, &s, &err) == 0)
			fail_msg("number %zu was accepted", i);
		if (!strstr(err.text, bad[i].says))
			fail_msg("number %zu: %s", i, err.text);
	}
	wr_free(&w);
	arena_free(a);
}

/* Places, forms of branches and padding are not in it; constants are in the exact hash, and not
 * in the loose one. */
static void hashes_tell_what_they_should(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;

	(void)state;
	twoversions_make(a, &t);
	const struct signature_fn *far = &t.old.fn[twoversions_fn(&t.old_prog, "far")];
	const struct signature_fn *now = &t.now.fn[twoversions_fn(&t.now_prog, "far")];

	assert_true(t.old_prog.fn[far - t.old.fn].range[0].size + 100 <
		    t.now_prog.fn[now - t.now.fn].range[0].size);
	assert_int_equal(far->nblock, now->nblock);
	for (uint32_t i = 0; i < far->nblock; i++) {
		const struct signature_block *x = &t.old.block[far->block + i];
		const struct signature_block *y = &t.now.block[now->block + i];

		assert_int_equal(x->exact, y->exact);
		assert_int_equal(x->loose, y->loose);
		assert_int_equal(x->ninsn, y->ninsn);
		assert_int_equal(x->fall, y->fall);
		assert_int_equal(x->taken, y->taken);
	}
	/* add (%rdi), %eax; cmp $100 or $128, %eax; jg */
	uint32_t o = twoversions_block(&t.old_prog, "steps", "\x03\x07");
	uint32_t n = twoversions_block(&t.now_prog, "steps", "\x03\x07");
	const struct signature_block *x =
		&t.old.block[t.old.fn[twoversions_fn(&t.old_prog, "steps")].block + o];
	const struct signature_block *y =
		&t.now.block[t.now.fn[twoversions_fn(&t.now_prog, "steps")].block + n];
	assert_int_not_equal(x->exact, y->exact);
	assert_int_equal(x->loose, y->loose);
	arena_free(a);
}

/* At a fixed place addresses are constants: they are left out as well, and texts that they lead
 * to are found. */
static void addresses_that_are_constants_are_left_out(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;

	(void)state;
	twoversions_make_by(a, "-no-pie -static -Wa,--defsym,FIXED=1", &t);
	const struct signature_fn *old = &t.old.fn[twoversions_fn(&t.old_prog, "other")];
	const struct signature_fn *now = &t.now.fn[twoversions_fn(&t.now_prog, "other")];

	assert_int_equal(old->nblock, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(t.old.block[old->block + i].exact,
				 t.now.block[now->block + i].exact);
	assert_int_equal(t.old.nword, 2);
	assert_int_equal(t.now.nword, 2);
	assert_memory_equal(t.old.word, t.now.word, 2 * sizeof(*t.old.word));
	arena_free(a);
}

static void calls_are_found_by_block(void **state)
{
	struct arena *a = arena_new();
	struct twoversions t;
	uint32_t first, all = 0;

	(void)state;
	twoversions_make(a, &t);
	uint32_t f = twoversions_fn(&t.now_prog, "_start");
	const struct signature_fn *fn = &t.now.fn[f];

	for (uint32_t b = 0; b < fn->nblock; b++) {
		uint32_t n = signature_calls(&t.now, fn, b, &first);

		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(t.now.call[first + i].block, b);
		all += n;
	}
	assert_int_equal(all, 2);
	assert_int_equal(t.now.call[fn->call].callee, twoversions_fn(&t.now_prog, "steps"));
	assert_int_equal(t.now.call[fn->call + 1].callee,
			 twoversions_fn(&t.now_prog, "other"));
	arena_free(a);
}

/* Of tests/asm/callees.s; what leads to its own start is a call of itself only if it calls. */
static void what_leads_out_of_a_function_is_a_call(void **state)
{
	static const struct {
		const char *name, *callee;
		bool call, import;
	} row[] = {
		{ "clears_rcx", NULL, false, false },
		{ "calls_clears_rcx", "clears_rcx", true, false },
		{ "ends_in_clears_rcx", "clears_rcx", true, false },
		{ "hangs", NULL, false, false },
		{ "may_call_hangs", "hangs", true, false },
		{ "calls_itself", "calls_itself", true, false },
		{ "jumps_by_pointer", NULL, true, false },
		{ "calls_abort", NULL, true, true },
		{ "ends_in_abort", NULL, true, true },
	};
	struct arena *a = arena_new();
	struct signature s;
	struct prog prog;

	(void)state;
	asm_analyze("callees", "-shared", a, &prog);
	signature_of(&prog, &s);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct signature_fn *f = &s.fn[asm_fn(&prog, row[i].name) - prog.fn];
		uint32_t callee = row[i].callee
			? (uint32_t)(asm_fn(&prog, row[i].callee) - prog.fn) : SIGNATURE_NONE;

		if (f->ncall != row[i].call)
			fail_msg("%s has %u calls", row[i].name, f->ncall);
		if (f->ncall && (s.call[f->call].callee != callee ||
				 (s.call[f->call].import != 0) != row[i].import))
			fail_msg("%s calls %u, import %u", row[i].name, s.call[f->call].callee,
				 s.call[f->call].import);
	}
	arena_free(a);
}

/* An interpreter's labels have the order of its table, whatever the order of its code. */
static void labels_are_numbered_as_tables_have_them(void **state)
{
	struct arena *a = arena_new();
	struct signature s;
	struct prog prog;
	uint32_t last = 0;

	(void)state;
	asm_analyze("threaded", "-shared", a, &prog);
	signature_of(&prog, &s);
	const struct fn *fn = asm_fn(&prog, "interpret");
	const struct signature_fn *of = &s.fn[fn - prog.fn];

	assert_int_equal(of->nblock, fn->nblock);
	for (uint32_t i = 0; i < of->nblock; i++)
		if (s.block[of->block + i].label > last)
			last = s.block[of->block + i].label;
	/* op_add, op_double, op_next, op_halt, op_skip */
	assert_int_equal(last, 5);
	/* where its jumps lead is not known */
	assert_true(of->ncall > 0);
	for (uint32_t i = 0; i < of->ncall; i++)
		assert_int_equal(s.call[of->call + i].callee, SIGNATURE_NONE);
	assert_int_equal(s.block[of->block].label, 0);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_read_back),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(hashes_tell_what_they_should),
		cmocka_unit_test(addresses_that_are_constants_are_left_out),
		cmocka_unit_test(calls_are_found_by_block),
		cmocka_unit_test(what_leads_out_of_a_function_is_a_call),
		cmocka_unit_test(labels_are_numbered_as_tables_have_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
