/* test_returns.c - which calls come back, and what they overwrite (tests/asm/callees.s) */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/asm.h"
#include "verify/effect.h"
#include "verify/lookup.h"
#include "verify/parts.h"

enum { RCX = 1 };

static struct arena *arena;
static struct verify v;
static struct verify_stats stats;
static struct err err;

static int load(struct verify *out, const char *flags)
{
	struct bytes file = asm_build("callees", flags, arena);

	*out = (struct verify){ .a = arena, .err = &err, .stats = &stats };
	if (image_parse(file, arena, &out->orig, &err) < 0)
		return -1;
	out->gen = out->orig;		/* nothing asks for it */
	if (verify_frames(out) < 0)
		return -1;
	verify_collect_slots(out);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return load(&v, "-shared");
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct effect call_of(const char *name)
{
	return (struct effect){ .kind = INSN_CALL, .target = asm_symbol(&v.orig, name) };
}

static bool comes_back(const char *name)
{
	struct effect e = call_of(name);

	return verify_call_returns(&v, &e);
}

static uint16_t overwritten(const char *name)
{
	struct effect e = call_of(name);

	return verify_call_writes(&v, &e);
}

static void a_call_comes_back_if_a_return_is_reached(void **state)
{
	(void)state;
	assert_true(comes_back("clears_rcx"));
	assert_true(comes_back("calls_clears_rcx"));
	assert_true(comes_back("ends_in_clears_rcx"));
	assert_true(comes_back("may_call_hangs"));
	assert_true(comes_back("calls_itself_perhaps"));
	assert_true(comes_back("jumps_by_pointer"));
}

static void a_call_of_what_never_returns_does_not(void **state)
{
	(void)state;
	assert_false(comes_back("hangs"));
	assert_false(comes_back("calls_hangs"));
	assert_false(comes_back("calls_itself"));
}

static void imported_functions_are_known_by_name(void **state)
{
	(void)state;
	assert_false(comes_back("calls_abort"));
	assert_false(comes_back("ends_in_abort"));
	assert_false(comes_back("ends_in_exit_by_slot"));
	assert_true(comes_back("ends_in_getpid_by_slot"));
	assert_false(comes_back("calls_exit_by_slot"));
	assert_false(comes_back("ends_in_exit_behind_endbr64"));
	assert_true(comes_back("may_exit_by_slot"));
	assert_true(comes_back("calls_puts"));
	assert_true(comes_back("calls_err"));	/* whose that is nobody says */
}

static void a_call_by_slot_goes_on_where_it_is_the_last_of_its_function(void **state)
{
	(void)state;
	assert_true(comes_back("ends_in_call_by_slot"));
}

/* Bound at the start: .got is what DT_PLTGOT names, and its words are zero in the file.  One
 * that is taken for absent as well is two slots, and the wrong one may be found. */
static void a_slot_that_a_relocation_fills_is_not_an_absent_one(void **state)
{
	struct verify now;

	(void)state;
	assert_int_equal(load(&now, "-shared -Wl,-z,now"), 0);
	const struct vslots *s = &now.calls.slots;
	for (uint32_t i = 1; i < s->n; i++)
		assert_true(s->v[i].addr > s->v[i - 1].addr);
	struct effect exit_by_slot = { .kind = INSN_CALL, .target =
				       asm_symbol(&now.orig, "calls_exit_by_slot") };
	assert_false(verify_call_returns(&now, &exit_by_slot));
}

/* Of what was moved the slot says nothing: other code runs first, which may count. */
static void a_stub_that_has_an_entry_is_none(void **state)
{
	const vaddr plain = asm_symbol(&v.orig, "calls_exit_by_slot");
	const vaddr marked = asm_symbol(&v.orig, "ends_in_exit_behind_endbr64");
	struct verify with = v;
	uint32_t entry = 0;

	(void)state;
	assert_int_equal(verify_stub_slot(&v, plain), 0);	/* a call, and no jump */
	assert_int_equal(verify_stub_slot(&v, asm_symbol(&v.orig, "jumps_by_pointer")), 0);
	vaddr slot = verify_stub_slot(&v, marked);
	assert_true(verify_is_slot(&v.calls, slot));
	assert_int_equal(verify_stub_slot(&v, marked + 4), slot);
	with.map = (struct blockmap){ .orig_base = marked, .entry = &entry, .nentry = 1 };
	assert_int_equal(verify_stub_slot(&with, marked), 0);
	assert_int_equal(verify_stub_slot(&with, marked + 4), slot);
	with.map.orig_base = marked + 4;
	assert_int_equal(verify_stub_slot(&with, marked), 0);
	assert_int_equal(verify_stub_slot(&with, marked + 4), 0);
	with.map.orig_base = marked + 1;
	assert_int_equal(verify_stub_slot(&with, marked), slot);
}

static void a_call_overwrites_what_its_callees_write(void **state)
{
	(void)state;
	assert_int_equal(overwritten("clears_rcx"), 1 << RCX);
	assert_int_equal(overwritten("calls_clears_rcx"), 1 << RCX);
	assert_int_equal(overwritten("ends_in_clears_rcx"), 1 << RCX);
	assert_int_equal(overwritten("saves_rbx"), 0);
	/* nothing is known of who calls the middle of a function */
	struct effect middle = call_of("clears_rcx_late");
	assert_int_equal(verify_call_writes(&v, &middle), 1 << RCX);
	middle.target++;
	assert_int_equal(verify_call_writes(&v, &middle), 0);
}

static void who_is_not_known_may_overwrite_all_that_callees_may(void **state)
{
	struct effect by_pointer = { .kind = INSN_ICALL };

	(void)state;
	assert_int_equal(overwritten("calls_puts"), VERIFY_CALLER_SAVED);
	assert_int_equal(verify_call_writes(&v, &by_pointer), VERIFY_CALLER_SAVED);
}

/* A static program has no dynamic entries that name the slot: its relocations do. */
static void whom_the_start_chooses_is_not_known(void **state)
{
	static const char *const flags[] = { "-shared", "-static -no-pie "
					     "-Wl,--eh-frame-hdr,-e,hangs,"
					     "--unresolved-symbols=ignore-all" };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct verify now;

		if (load(&now, flags[i]) < 0)
			fail_msg("%s", err.text);
		struct effect chosen = { .kind = INSN_CALL, .target =
					 asm_symbol(&now.orig, "calls_chosen") };
		assert_int_equal(verify_call_writes(&now, &chosen), VERIFY_CALLER_SAVED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_comes_back_if_a_return_is_reached),
		cmocka_unit_test(a_call_of_what_never_returns_does_not),
		cmocka_unit_test(imported_functions_are_known_by_name),
		cmocka_unit_test(
			a_call_by_slot_goes_on_where_it_is_the_last_of_its_function),
		cmocka_unit_test(a_slot_that_a_relocation_fills_is_not_an_absent_one),
		cmocka_unit_test(a_stub_that_has_an_entry_is_none),
		cmocka_unit_test(a_call_overwrites_what_its_callees_write),
		cmocka_unit_test(who_is_not_known_may_overwrite_all_that_callees_may),
		cmocka_unit_test(whom_the_start_chooses_is_not_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
