/* test_evidence_names.c - the answer of a job that names places: what is taken, and what a job
 * that was taken over cannot make of it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "lib/err.h"
#include "manager/report/evidence_names.h"

static struct evidence e;
static struct err err;

/* Places of one module that are asked for. */
static void ask(uint32_t n)
{
	struct evidence_place p = { .program = EVIDENCE_NONE, .function = EVIDENCE_NONE,
				    .count = 1 };

	arena_free(e.arena);
	evidence_init(&e, arena_new());
	p.module = evidence_module(&e, "/usr/bin/x", true);
	for (uint32_t i = 0; i < n; i++)
		vec_push(e.arena, &e.place, p);
}

static int answer(const char *text)
{
	return evidence_read_names(&e, (struct bytes){ (const uint8_t *)text, strlen(text) }, 0,
				   &err);
}

static void an_answer_names_places_in_order(void **state)
{
	(void)state;
	ask(3);
	assert_int_equal(answer("build-id\t0123ab\n"
				"note\tno lines\n"
				"function\t0x10\t64\tmain\n"
				"frame\t7\ta b.c\tinner\n"
				"frame\t9\tmain.c\tmain\n"
				"place\t0x14\t0x12\t0\n"
				"place\t0x1\t0x0\t-\n"
				"frame\t0\t\tmain\n"
				"place\t0x18\t0x12\t0\n"), 0);
	assert_string_equal(e.module.v[0].build_id, "0123ab");
	assert_string_equal(e.module.v[0].note, "no lines");
	assert_int_equal(e.module.v[0].nfunction, 1);
	assert_int_equal(e.module.v[0].function[0].size, 64);
	assert_int_equal(e.place.v[0].nframe, 2);
	assert_string_equal(e.place.v[0].frame[0].name, "inner");
	assert_string_equal(e.place.v[0].frame[0].file, "a b.c");
	assert_int_equal(e.place.v[0].frame[0].line, 7);
	assert_int_equal(e.place.v[0].addr, 0x14);
	assert_int_equal(e.place.v[0].block, 0x12);
	assert_string_equal(evidence_name(&e, &e.place.v[0]), "main");
	assert_int_equal(e.place.v[1].function, EVIDENCE_NONE);
	assert_string_equal(evidence_name(&e, &e.place.v[1]), "[x]");
	assert_int_equal(e.place.v[2].function, 0);
}

static void functions_are_numbered_behind_those_that_were_known(void **state)
{
	struct evidence_place p;

	(void)state;
	ask(1);
	assert_int_equal(answer("function\t0x10\t1\ta\nframe\t0\t\ta\nplace\t0x10\t0x0\t0\n"),
			 0);
	p = e.place.v[0];
	vec_push(e.arena, &e.place, p);
	const char *more = "function\t0x20\t1\tb\nframe\t0\t\tb\nplace\t0x20\t0x0\t0\n";
	assert_int_equal(evidence_read_names(&e, (struct bytes){ (const uint8_t *)more,
								 strlen(more) }, 1, &err), 0);
	assert_int_equal(e.module.v[0].nfunction, 2);
	assert_int_equal(e.place.v[1].function, 1);
}

static void a_lie_about_the_form_is_an_error(void **state)
{
	static const char *const lie[] = {
		"",
		"place\t0x1\t0x0\t-",
		"place\t0x1\t0x0\t-\nplace\t0x1\t0x0\t-\n",
		"place\t0x1\t0x0\t0\n",
		"frame\t0\t\ta\nplace\t0x1\t0x0\t0\n",
		"function\t0x1\t1\ta\nframe\t0\t\ta\nplace\t0x1\t0x0\t1\n",
		"function\t0x1\t1\ta\nplace\t0x1\t0x0\t0\n",
		"function\t0x1\t1\t\nplace\t0x1\t0x0\t-\n",
		"function\t1\t1\ta\nplace\t0x1\t0x0\t-\n",
		"function\t0x1\t-1\ta\nplace\t0x1\t0x0\t-\n",
		"frame\t4294967296\t\ta\nplace\t0x1\t0x0\t-\n",
		"place\t0x1g\t0x0\t-\n",
		"place\t0x11111111111111111\t0x0\t-\n",
		"build-id\txyz\nplace\t0x1\t0x0\t-\n",
		"note\ta\033[2J\nplace\t0x1\t0x0\t-\n",
		"note\ta\xff\nplace\t0x1\t0x0\t-\n",
		"note\ta\xe2\x80\xae\nplace\t0x1\t0x0\t-\n",
		"note\ta\tb\nplace\t0x1\t0x0\t-\n",
		"frame\t0\t\ta\tb\nplace\t0x1\t0x0\t-\n",
		"other\t0x1\t0x0\t-\n",
		"\nplace\t0x1\t0x0\t-\n",
		"function\t0x1\t1\ta\nframe\t0\t\ta\nplace\t0x1\t0x0\t0\nother\n",
	};
	char many[70 * 16] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		ask(1);
		if (answer(lie[i]) == 0)
			fail_msg("taken: %s", lie[i]);
		assert_string_equal(err.text, "what its reader says is malformed");
		/* no place is left with a function that is not there */
		for (uint32_t k = 0; k < e.place.n; k++)
			assert_true(e.place.v[k].function == EVIDENCE_NONE &&
				    e.place.v[k].nframe == 0);
	}
	for (int i = 0; i < 65; i++)
		strcat(many, "frame\t0\t\ta\n");	/* fits */
	strcat(many, "place\t0x1\t0x0\t-\n");
	ask(1);
	assert_int_equal(answer(many), -1);
	ask(1);
	assert_int_equal(answer("place\t0x1\t0x0\t-\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_names_places_in_order),
		cmocka_unit_test(functions_are_numbered_behind_those_that_were_known),
		cmocka_unit_test(a_lie_about_the_form_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests_name("evidence_names", tests, NULL, NULL);
	arena_free(e.arena);
	return failed;
}
