/* test_living.c - a generation that may not take its original's place in a process is refused
 *
 * tests/asm/living.s has functions that stand in the way of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

struct made {
	struct arena *a;
	struct bytes original;
	struct wr generation, map;
};

static struct made make(const char *flags, const struct edit_options *options)
{
	struct made m = { .a = arena_new() };
	struct edit_stats stats;
	struct err err;

	m.original = asm_build("living", flags, m.a);
	if (edit_optimize(m.original, NULL, options, m.a, &m.generation, &m.map, &stats,
			  &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

/* NULL when it is accepted, else the refusal, until the next call. */
static const char *refusal(struct made *m, struct verify_stats *stats)
{
	static struct err err;
	struct bytes g = wr_bytes(&m->generation);

	return verify_live_generation(m->original, g, m->a, stats, &err) < 0 ? err.text : NULL;
}

static void done(struct made *m)
{
	wr_free(&m->generation);
	wr_free(&m->map);
	arena_free(m->a);
}

static void expect(const char *flags, bool keep, const char *why)
{
	struct edit_options o = { .all = true, .keep_pointers = keep, .generation = 1 };
	struct made m = make(flags, &o);
	struct verify_stats stats = { 0 };
	const char *got = refusal(&m, &stats);

	if (why ? !got || !strstr(got, why) : got != NULL)
		fail_msg("%s: %s, not: %s", flags, got ? got : "accepted",
			 why ? why : "accepted");
	done(&m);
}

#define PLAIN "-shared -Wl,-z,separate-code"

static void what_keeps_its_pointers_is_accepted(void **state)
{
	(void)state;
	expect(PLAIN, true, NULL);
	expect(PLAIN " -Wa,--defsym,late=1", true, NULL);
}

static void each_reason_is_one_to_refuse(void **state)
{
	(void)state;
	expect(PLAIN " -Wa,--defsym,pointer=1", true, NULL);
	expect(PLAIN " -Wa,--defsym,pointer=1", false, "a pointer to");
	expect(PLAIN " -Wa,--defsym,early=1", true, "returns into an entry jump");
	expect(PLAIN " -Wa,--defsym,lsda=1", true, "exceptions may pass");
}

static void places_are_those_of_the_file(void **state)
{
	enum { AT = 0x4000000 };
	struct edit_options o = { .all = true, .keep_pointers = true, .generation = 1,
				  .text_at = AT };
	struct made m = make(PLAIN, &o);
	struct verify_stats s = { 0 };

	(void)state;
	assert_null(refusal(&m, &s));
	/* it is only for such a process */
	assert_int_equal(verify_generation(m.original, wr_bytes(&m.generation), m.a, &s, NULL),
			 -1);
	assert_null(refusal(&m, &s));
	assert_true(s.text.exec && s.text.size >= 4096 && s.text.addr % 4096 == 0);
	assert_true(s.text.offset == s.text_offset);
	assert_int_equal(s.nfresh, 2);
	assert_true(s.fresh[0].exec && !s.fresh[1].exec);
	assert_int_equal(s.fresh[0].addr, AT);
	assert_true(s.fresh[1].addr == AT + s.fresh[0].size);
	done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_keeps_its_pointers_is_accepted),
		cmocka_unit_test(each_reason_is_one_to_refuse),
		cmocka_unit_test(places_are_those_of_the_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
