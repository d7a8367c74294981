/* test_debugfile.c - the debug file of a generation: whole, the same each time, and refused
 * with a reason when what it is made from is damaged
 *
 * The programs are those of tests/fuzz/corpus/debugfile.  What is in the file is shown by the
 * tools that people use: tests/programs/debugfile.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "editor/debug/debugfile.h"
#include "editor/debug/debugsource.h"
#include "tests/unit/editor/debug/made.h"

enum { DAMAGES = 3000 };

static const char *const program[] = { "dwarf5", "dwarf4", "dwarf2", "clang5", "macros",
				       "types", "zlib" };
enum { NPROGRAM = sizeof(program) / sizeof(program[0]) };

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool is_debug(const struct debugsource_section *s)
{
	return strncmp(s->name, ".debug_", 7) == 0;
}

static void the_debug_file_is_whole(void **state)
{
	struct debugsource was, now;
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < NPROGRAM; i++) {
		struct arena *a = arena_new();
		struct bytes file = made_file(program[i], a);
		struct wr gen = { 0 }, out = { 0 }, again = { 0 };

		made_generation(file, 1, a, &gen);
		if (debugfile_make(file, wr_bytes(&gen), (struct bytes){ 0 }, a, &out,
				   &err) < 0)
			fail_msg("%s: %s", program[i], err.text);
		if (debugfile_make(file, wr_bytes(&gen), file, a, &again, &err) < 0)
			fail_msg("%s, again: %s", program[i], err.text);
		assert_int_equal(out.n, again.n);
		assert_memory_equal(out.p, again.p, out.n);
		assert_int_equal(debugsource_read(file, a, &was, &err), 0);
		assert_int_equal(debugsource_read(wr_bytes(&out), a, &now, &err), 0);
		for (uint32_t k = 0; k < was.n; k++) {
			const struct debugsource_section *s =
				debugsource_find(&now, was.section[k].name);

			if (!is_debug(&was.section[k]))
				continue;
			assert_non_null(s);
			assert_true(s->raw.n > 0);
		}
		/* the generation's code, at its place, and nothing of it */
		const struct debugsource_section *text = debugsource_find(&now, ".morph.text");
		assert_non_null(text);
		assert_int_equal(text->h.sh_type, SHT_NOBITS);
		wr_free(&gen);
		wr_free(&out);
		wr_free(&again);
		arena_free(a);
	}
}

/* Changes bytes of one section of debug information, or cuts it short. */
static bool damage(struct wr *file, const struct debugsource *s, uint64_t *random)
{
	const struct debugsource_section *sh = &s->section[next(random) % s->n];
	uint64_t off = sh->h.sh_offset;

	if (!is_debug(sh) || sh->raw.n == 0)
		return false;
	for (uint64_t k = 0; k < 1 + next(random) % 3; k++) {
		uint64_t at = next(random) % sh->raw.n, how = next(random) % 4;

		file->p[off + at] = how == 0 ? 0xff : how == 1 ? 0 : (uint8_t)next(random);
		if (how == 3)
			memset(file->p + off + at, (int)next(random) & 0xff,
			       sh->raw.n - at < 4 ? sh->raw.n - at : 4);
	}
	return true;
}

static void damage_is_refused_or_translated(void **state)
{
	uint64_t random = 88172645463325252, refused = 0, made = 0;

	(void)state;
	for (int i = 0; i < NPROGRAM; i++) {
		struct arena *a = arena_new(), *job = arena_new();
		struct bytes file = made_file(program[i], a);
		struct debugsource s;
		struct wr gen = { 0 }, bad = { 0 }, out = { 0 };
		struct err err = { 0 };

		made_generation(file, 2, a, &gen);
		assert_int_equal(debugsource_read(file, a, &s, &err), 0);
		for (int k = 0; k < DAMAGES / NPROGRAM; k++) {
			wr_free(&bad);
			wr_free(&out);
			wr_raw(&bad, file.p, file.n);
			if (!damage(&bad, &s, &random))
				continue;
			err = (struct err){ 0 };
			arena_reset(job);
			if (debugfile_make(file, wr_bytes(&gen), wr_bytes(&bad), job, &out,
					   &err) == 0) {
				made++;
				assert_true(out.n > 0);
				continue;
			}
			refused++;
			assert_true(err.kind == ERR_INPUT || err.kind == ERR_REFUSED);
			assert_true(err.text[0] != '\0');
			assert_int_equal(out.n, 0);
		}
		wr_free(&gen);
		wr_free(&bad);
		wr_free(&out);
		arena_free(job);
		arena_free(a);
	}
	assert_true(refused > 100 && made > 100);
}

static void other_files_are_refused(void **state)
{
	struct arena *a = arena_new();
	struct bytes file = made_file("dwarf5", a), other = made_file("clang5", a);
	struct wr gen = { 0 }, out = { 0 };
	struct err err = { 0 };

	(void)state;
	made_generation(file, 1, a, &gen);
	assert_int_equal(debugfile_make(other, wr_bytes(&gen), (struct bytes){ 0 }, a, &out,
					&err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	err = (struct err){ 0 };
	assert_int_equal(debugfile_make(file, wr_bytes(&gen), other, a, &out, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	err = (struct err){ 0 };
	assert_int_equal(debugfile_make(file, file, (struct bytes){ 0 }, a, &out, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	err = (struct err){ 0 };
	assert_int_equal(debugfile_make(file, wr_bytes(&gen),
					(struct bytes){ (const uint8_t *)"text", 4 }, a, &out,
					&err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(out.n, 0);
	wr_free(&gen);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_debug_file_is_whole),
		cmocka_unit_test(damage_is_refused_or_translated),
		cmocka_unit_test(other_files_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("debugfile", tests, NULL, NULL);
}
