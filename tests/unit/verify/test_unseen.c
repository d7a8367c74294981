/* test_unseen.c - programs in which an assumption of the head of verify/verify.c is not true
 *
 * tests/asm/unseen.s has one or two for each assumption about programs.  All functions are
 * moved in some orders, and all of that is accepted: the generation does what the original
 * does, or something else that nobody sees.  Then doc/limits.md says so, and this test shows
 * that it is so; what comes to be seen must be changed here and there.  (A3:
 * test_assumptions.c and tests/programs/knows_flow.sh.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "editor/optimize.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

enum { SEEDS = 4, KILLED = 1000 };

static char folder[] = "/tmp/morph-unseen.XXXXXX";

static const struct {
	const char *name;
	int number;
	int status;		/* of the original */
	bool same;		/* so does every generation; if not, some do not */
} rows[] = {
	{ "A1, an FDE of two functions", 1, 26, true },
	{ "A1, a row that is not true", 2, 20, true },
	{ "A2, another's err() comes back", 3, 14, true },
	{ "A2, abort() comes back", 9, 14, false },
	{ "A4, a distance in data", 4, 36, false },
	{ "A5, order of pointers from memory", 5, 41, false },
	{ "A6, a distance from elsewhere", 6, 51, false },
	{ "A8, an argument left behind", 7, 81, false },
	{ "A9, code that is written to", 8, 95, false },
};

/* Exit status, or KILLED and the signal. */
static int run(struct bytes program, struct arena *a)
{
	char *path = arena_printf(a, "%s/program", folder);
	struct err err;
	int status, fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	if (fd < 0 || io_write_all(fd, program.p, program.n, &err) < 0)
		fail_msg("%s: cannot be written", path);
	(void)close(fd);
	pid_t child = fork();
	if (child == 0) {
		execl(path, path, (char *)NULL);
		_exit(255);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)unlink(path);
	return WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What the generation in that order does; it must be accepted. */
static int run_moved(const char *name, struct bytes original, uint64_t seed, struct arena *a)
{
	struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
					.generation = 1 };
	struct wr made = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct verify_stats proof;
	struct err err;

	if (edit_optimize(original, NULL, &options, a, &made, &map, &stats, &err) < 0 ||
	    verify_generation(original, wr_bytes(&made), a, &proof, &err) < 0)
		fail_msg("%s, seed %u: %s", name, (unsigned)seed, err.text);
	assert_true(stats.functions_moved >= 3);
	int status = run(wr_bytes(&made), a);
	wr_free(&made);
	wr_free(&map);
	return status;
}

static void what_nobody_sees_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *a = arena_new();
		const char *flags = arena_printf(a, "-pie -Wa,--defsym,CASE=%d -L%s "
						 "-Wl,--no-as-needed,-rpath,%s -lcomesback",
						 rows[i].number, folder, folder);
		struct bytes original = asm_build("unseen", flags, a);
		uint32_t others = 0;

		assert_int_equal(run(original, a), rows[i].status);
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			others += run_moved(rows[i].name, original, seed, a) != rows[i].status;
		if (rows[i].same != (others == 0))
			fail_msg("%s: %u of %u generations do another thing", rows[i].name,
				 others, SEEDS);
		arena_free(a);
	}
}

static int make_library(void **state)
{
	char command[300];

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(command, sizeof(command),
		       "gcc -nostdlib -shared -o %s/libcomesback.so tests/asm/comesback.s",
		       folder);
	return system(command);
}

static int remove_library(void **state)
{
	char path[300];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/libcomesback.so", folder);
	(void)unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_sees_is_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_library, remove_library);
}
