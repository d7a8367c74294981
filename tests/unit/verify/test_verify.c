/* test_verify.c - what is no generation of this original is refused, whatever its form */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "verify/verify.h"

static struct arena *arena;
static struct bytes original, other;
static struct wr generation;

static struct bytes read_file(const char *path)
{
	struct err err;
	struct bytes b;
	int fd = io_open_read(path, &err);

	assert_true(fd >= 0);
	assert_int_equal(io_read_all(fd, 1 << 28, arena, &b, &err), 0);
	close(fd);
	return b;
}

static int setup(void **state)
{
	const struct edit_options options = { .all = true, .shuffle = true, .seed = 7,
					      .generation = 3 };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	struct err err;

	(void)state;
	arena = arena_new();
	original = read_file("/usr/bin/gzip");
	other = read_file("/usr/bin/sort");
	int rc =
		edit_optimize(original, NULL, &options, arena, &generation, &map, &stats, &err);
	wr_free(&map);
	return rc;
}

static int teardown(void **state)
{
	(void)state;
	wr_free(&generation);
	arena_free(arena);
	return 0;
}

/* The exit kind of verifying; `err` gets the sentence. */
static int verify(struct bytes o, struct bytes g, struct verify_stats *stats, struct err *err)
{
	struct arena *a = arena_new();
	int rc = verify_generation(o, g, a, stats, err);

	arena_free(a);
	return rc;
}

static void accepts_a_generation_and_counts(void **state)
{
	struct verify_stats stats = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(verify(original, wr_bytes(&generation), &stats, &err), 0);
	assert_int_equal(stats.generation, 3);
	assert_true(stats.blocks > 1000 && stats.instructions > stats.blocks);
	assert_true(stats.entries > 50 && stats.tables > 0);
	assert_true(stats.unwind_rows >= stats.instructions);
}

static void refuses_the_original_itself(void **state)
{
	struct verify_stats stats = { .blocks = 77 };
	struct err err;

	(void)state;
	assert_int_equal(verify(original, original, &stats, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, ".morph.map"));
	assert_int_equal(stats.blocks, 77);		/* untouched on failure */
}

static void refuses_a_generation_of_another_program(void **state)
{
	struct verify_stats stats;
	struct err err;

	(void)state;
	assert_int_equal(verify(other, wr_bytes(&generation), &stats, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "another original"));
}

static void refuses_every_cut_generation(void **state)
{
	struct verify_stats stats;
	struct err err;

	(void)state;
	for (size_t n = 0; n < generation.n; n += n < 512 ? 7 : 997) {
		/* exact: overruns are seen by sanitizers */
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, generation.p, n);
		assert_int_equal(verify(original, (struct bytes){ copy, n }, &stats, &err), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		free(copy);
	}
}

static void survives_every_cut_original(void **state)
{
	struct verify_stats stats;
	struct err err;

	(void)state;
	for (size_t n = 0; n < original.n; n += n < 512 ? 7 : 997) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, original.p, n);
		assert_int_equal(
			verify((struct bytes){ copy, n }, wr_bytes(&generation), &stats, &err),
			-1);
		free(copy);
	}
}

/* Damage in many places at once gets past the first checks in ways that one byte does not. */
static void survives_noise(void **state)
{
	struct verify_stats stats;
	struct err err;
	uint64_t seed = 12345;

	(void)state;
	for (int round = 0; round < 100; round++) {
		uint8_t *copy = malloc(generation.n);

		memcpy(copy, generation.p, generation.n);
		for (int i = 0; i < 1 + round * 4; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			copy[(seed >> 20) % generation.n] = (uint8_t)(seed >> 56);
		}
		if (verify(original, (struct bytes){ copy, generation.n }, &stats, &err) < 0)
			assert_true(err.text[0] != '\0');
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_a_generation_and_counts),
		cmocka_unit_test(refuses_the_original_itself),
		cmocka_unit_test(refuses_a_generation_of_another_program),
		cmocka_unit_test(refuses_every_cut_generation),
		cmocka_unit_test(survives_every_cut_original),
		cmocka_unit_test(survives_noise),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
