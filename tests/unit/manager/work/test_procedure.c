/* test_procedure.c - what jobs say of a program: line by line, and within bounds */
#include "tests/unit/manager/work/workscene.h"

#include "manager/work/procedure.h"

static void lines_end_with_the_text(void **state)
{
	static const char *const text[] = { "first\n\nlonger than seven\nlast",
					    "first\n\nlonger than seven\nlast\n" };
	static const char *const want[] = { "first", "", "longer ", "last" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct bytes b = { (const uint8_t *)text[k], strlen(text[k]) };
		char line[8];

		for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			assert_true(procedures_next_line(&b, line, sizeof(line)));
			assert_string_equal(line, want[i]);
		}
		assert_int_equal(b.n, 0);
		assert_false(procedures_next_line(&b, line, sizeof(line)));
		assert_int_equal(b.n, 0);
	}
}

static bool only_nops;

static bool may_be_shown(uint32_t nblock, uint32_t ninsn, bool instructions)
{
	struct blocktable_block *block = calloc(nblock + (size_t)1, sizeof(*block));
	struct procedures l = { .t = { .nblock = nblock + 1, .block = block } };
	struct err err = { 0 };

	assert_non_null(block);
	for (uint32_t i = 0; i < nblock; i++) {
		block[i].ninsn = only_nops ? 1 : ninsn;
		block[i].size = 8 * ninsn;
	}
	block[nblock].fn = 1;				/* another function's */
	block[nblock].ninsn = UINT32_MAX;
	int rc = procedures_check_shown(&l, 0, instructions, &err);
	free(block);
	if (rc < 0) {
		assert_int_equal(err.kind, ERR_REFUSED);
		assert_non_null(strstr(err.text, "too large to be shown"));
		assert_int_equal(strstr(err.text, "--blocks") != NULL,
				 instructions && nblock <= PROCEDURES_SHOWN_MOST);
	}
	return rc == 0;
}

static void a_function_may_be_too_large_to_be_shown(void **state)
{
	const uint32_t most = PROCEDURES_SHOWN_MOST;

	(void)state;
	assert_true(may_be_shown(most, 1, true));
	assert_true(may_be_shown(most / 8, 8, true));
	assert_true(may_be_shown(most, 8, false));
	assert_false(may_be_shown(most, 2, true));
	assert_false(may_be_shown(most + 1, 1, true));
	assert_false(may_be_shown(most + 1, 1, false));
	only_nops = true;
	assert_false(may_be_shown(1, most + 1, true));
	assert_true(may_be_shown(1, most, true));
}

static uint64_t answer_bytes;

static void says_much(const struct msg *q, struct msg *r)
{
	(void)q;
	r->fd[r->nfd++] = text_file("");
	assert_int_equal(ftruncate(r->fd[0], (off_t)answer_bytes), 0);
}

static void no_job_says_more_than_there_is_room_for(void **state)
{
	const struct ask_job job = { .kind = JOB_SYMBOLS };
	struct wr text = { 0 };
	struct err err = { 0 };

	(void)state;
	run_job = says_much;
	answer_bytes = PROCEDURES_TEXT_MOST + UINT64_C(1);
	assert_int_equal(procedures_text_job(&w, &job, &text, &err), -1);
	assert_non_null(strstr(err.text, "of text"));
	assert_int_equal(text.n, 0);
	answer_bytes = 1000;
	assert_int_equal(procedures_text_job(&w, &job, &text, &err), 0);
	assert_int_equal(text.n, 1000);
	wr_free(&text);
}

static mode_t debug_mode;

static bool has_debug_file(const struct msg *q, struct msg *r)
{
	if (q->type != MSG_OPEN_FILE)
		return false;
	assert_string_equal(q->text, "/usr/lib/debug/.build-id/ab/cdef.debug");
	r->fd[r->nfd++] = text_file("names");
	assert_int_equal(fchmod(r->fd[0], debug_mode), 0);
	return true;
}

static bool opens_debug(uint32_t owner)
{
	int fd = procedures_open_debug(&w, "abcdef", owner);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What is said to be the debug file of somebody's program tells him no names of others. */
static void nobody_is_told_of_a_debug_file_that_he_may_not_read(void **state)
{
	(void)state;
	also = has_debug_file;
	debug_mode = 0600;
	assert_true(opens_debug(geteuid()));
	assert_false(opens_debug(geteuid() + 1));
	debug_mode = 0640;
	assert_false(opens_debug(geteuid() + 1));
	debug_mode = 0644;
	assert_true(opens_debug(geteuid() + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_with_the_text),
		cmocka_unit_test(a_function_may_be_too_large_to_be_shown),
		cmocka_unit_test_setup_teardown(
			nobody_is_told_of_a_debug_file_that_he_may_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(no_job_says_more_than_there_is_room_for, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
