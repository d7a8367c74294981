/* test_watchedcode.c - a function that others look for by an address inside of it is not
 * moved
 *
 * The Editor leaves such functions; here it is told that it need not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/infer/infer.h"
#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

/* A generation with all functions but those that must stay, and with `fn`, NULL for none, is
 * verified. */
static int verify_with(const char *flags, const char *fn, struct err *err)
{
	struct arena *a = arena_new();
	struct bytes original = asm_build("watched", flags, a);
	struct wr made = { 0 }, map = { 0 };
	struct verify_stats proof;
	struct edit_stats stats = { 0 };
	struct prog prog;

	if (edit_analyze(original, NULL, true, a, &prog, err) < 0)
		fail_msg("%s", err->text);
	prog.order = arena_array(a, prog.nfn, sizeof(*prog.order));
	for (uint32_t i = 0; i < prog.nfn; i++) {
		struct fn *f = &prog.fn[i];

		if (fn && f == asm_fn(&prog, fn)) {
			assert_true(f->skip == SKIP_WATCHED || f->skip == SKIP_RSEQ);
			f->skip = SKIP_NONE;
		}
		f->moved = f->skip == SKIP_NONE;
		if (f->moved)
			prog.order[prog.norder++] = i;
	}
	if (infer_counts(&prog, err) < 0 ||
	    emit_generation(&prog, 1, &made, &map, &stats, err) < 0)
		fail_msg("%s", err->text);
	int rc = verify_generation(original, wr_bytes(&made), a, &proof, err);
	wr_free(&made);
	wr_free(&map);
	arena_free(a);
	return rc;
}

static void what_others_look_for_has_no_image(void **state)
{
	static const char any[] = "-shared", fixed[] = "-static -no-pie -Wl,-e,waits";
	static const struct {
		const char *flags, *fn, *why;
	} refused[] = {
		{ any, "waits", "knows its address" },
		{ any, "may_fail", "holds its address" },
		{ any, "restarts", "restartable sequence" },
		{ any, "may_fail_by_name", "holds its address" },
		{ any, "restarts_by_name", "restartable sequence" },
		{ fixed, "waits", "knows its address" },
		{ fixed, "restarts", "restartable sequence" },
	};
	struct err err;

	(void)state;
	if (verify_with(any, NULL, &err) < 0 || verify_with(fixed, NULL, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(verify_with(refused[i].flags, refused[i].fn, &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		if (!strstr(err.text, refused[i].why))
			fail_msg("%s: %s", refused[i].fn, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_look_for_has_no_image),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
