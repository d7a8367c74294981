/* test_memory.c - allocation gives room, zeroed where it says so, or ends the process */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/memory.h"

enum { N = 1000 };

static void a_new_array_is_zeroed(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		uint32_t *p = memory_new(N, sizeof(*p));

		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, N * sizeof(*p));
		free(p);
	}
}

static void a_grown_array_holds_what_it_held(void **state)
{
	uint32_t *p = NULL;

	(void)state;
	for (uint32_t n = 1; n <= N; n++) {
		p = memory_grow(p, n, sizeof(*p));
		p[n - 1] = n;
	}
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(p[i], i + 1);
	free(p);
}

static void an_empty_array_is_one_too(void **state)
{
	void *made = memory_new(0, sizeof(int)), *grown = memory_grow(NULL, 0, sizeof(int));

	(void)state;
	assert_non_null(made);
	assert_non_null(grown);
	free(made);
	free(grown);
}

static void need_null(void)
{
	(void)memory_need(NULL);
}

static void need_more_than_there_is(void)
{
	free(memory_new(SIZE_MAX / 2, 3));
}

static void grow_beyond_all_bounds(void)
{
	free(memory_grow(NULL, SIZE_MAX / 2, 3));
}

/* What a process that does this prints on standard error, and its exit status. */
static int run_apart(void (*ask)(void), char *said, size_t room)
{
	int ends[2], status;

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);	/* the status tells if it failed */
		ask();
		_exit(0);
	}
	(void)close(ends[1]);
	ssize_t n = read(ends[0], said, room - 1);

	said[n > 0 ? n : 0] = '\0';
	(void)close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_memory_the_process_ends(void **state)
{
	static void (*const ask[])(void) = { need_null, need_more_than_there_is,
					     grow_beyond_all_bounds };
	char said[64];

	(void)state;
#ifdef MORPH_SANITIZED
	skip();			/* the sanitizer's own allocator says so, and stops */
#endif
	for (size_t i = 0; i < sizeof(ask) / sizeof(*ask); i++) {
		assert_int_equal(run_apart(ask[i], said, sizeof(said)), 1);
		assert_string_equal(said, "out of memory\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_array_is_zeroed),
		cmocka_unit_test(a_grown_array_holds_what_it_held),
		cmocka_unit_test(an_empty_array_is_one_too),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
