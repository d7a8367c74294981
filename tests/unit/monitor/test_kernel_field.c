/* Offsets of fields from a description of types, of this kernel and of one made up here. */
#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/err.h"
#include "lib/wr.h"
#include "monitor/kernel_field.h"

/* Names by their offsets below. */
static const char names[] = "\0task\0mm\0flags\0int";
enum { TASK = 1, MM = 6, FLAGS = 9, INT = 15 };

static void type(struct wr *w, uint32_t name, uint32_t kind, uint32_t n, uint32_t size)
{
	wr_u32(w, name);
	wr_u32(w, kind << 24 | n);
	wr_u32(w, size);
}

static void member(struct wr *w, uint32_t name, uint32_t id, uint32_t bits)
{
	wr_u32(w, name);
	wr_u32(w, id);
	wr_u32(w, bits);
}

/* 1: int, 2: pointer, 3: an inner struct without name with `flags` at 4, 4: task, with the
 * inner one at 16 and `mm` at 8; and kinds that are only passed by. */
static void describe(struct wr *out)
{
	struct wr w = { 0 };

	type(&w, INT, BTF_KIND_INT, 0, 4);
	wr_u32(&w, 0);
	type(&w, 0, BTF_KIND_PTR, 0, 1);
	type(&w, 0, BTF_KIND_STRUCT, 2, 8);
	member(&w, INT, 1, 0);
	member(&w, FLAGS, 1, 32);
	type(&w, TASK, BTF_KIND_STRUCT, 2, 24);
	member(&w, MM, 2, 64);
	member(&w, 0, 3, 128);
	type(&w, 0, BTF_KIND_ENUM, 1, 4);
	wr_u64(&w, 0);
	type(&w, 0, BTF_KIND_ARRAY, 0, 0);
	member(&w, 1, 1, 3);
	wr_u16(out, BTF_MAGIC);
	wr_u8(out, 1);
	wr_u8(out, 0);
	wr_u32(out, 24);
	wr_u32(out, 0);
	wr_u32(out, (uint32_t)w.n);
	wr_u32(out, (uint32_t)w.n);
	wr_u32(out, sizeof(names));
	wr_raw(out, w.p, w.n);
	wr_raw(out, names, sizeof(names));
	wr_free(&w);
}

static void fields_are_found_also_in_structs_without_a_name(void **state)
{
	struct wr w = { 0 };
	struct err err = { 0 };
	uint32_t at;

	(void)state;
	describe(&w);
	assert_int_equal(kernel_field_in(wr_bytes(&w), "task", "mm", &at, &err), 0);
	assert_int_equal(at, 8);
	assert_int_equal(kernel_field_in(wr_bytes(&w), "task", "flags", &at, &err), 0);
	assert_int_equal(at, 20);
	assert_int_equal(kernel_field_in(wr_bytes(&w), "task", "none", &at, &err), -1);
	assert_string_equal(err.text, "this kernel has no task.none");
	assert_int_equal(kernel_field_in(wr_bytes(&w), "none", "mm", &at, &err), -1);
	wr_free(&w);
}

static void what_is_cut_short_or_changed_is_refused_or_harmless(void **state)
{
	struct wr w = { 0 };
	uint32_t at;

	(void)state;
	describe(&w);
	for (size_t n = 0; n + sizeof(names) < w.n; n++)
		assert_int_equal(kernel_field_in((struct bytes){ w.p, n }, "task", "flags", &at,
						 NULL), -1);
	for (size_t i = 0; i < w.n; i++)
		for (int bit = 0; bit < 8; bit++) {
			w.p[i] ^= (uint8_t)(1 << bit);
			if (kernel_field_in(wr_bytes(&w), "task", "flags", &at, NULL) == 0)
				assert_true(at <= INT16_MAX);
			w.p[i] ^= (uint8_t)(1 << bit);
		}
	wr_free(&w);
}

static void this_kernel_tells(void **state)
{
	struct err err = { 0 };
	uint32_t mm, flags;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		skip();
	assert_int_equal(kernel_field("task_struct", "mm", &mm, &err), 0);
	assert_int_equal(kernel_field("mm_struct", "flags", &flags, &err), 0);
	assert_true(mm > 0 && mm % 8 == 0 && flags > 0 && flags % 8 == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_also_in_structs_without_a_name),
		cmocka_unit_test(what_is_cut_short_or_changed_is_refused_or_harmless),
		cmocka_unit_test(this_kernel_tells),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
