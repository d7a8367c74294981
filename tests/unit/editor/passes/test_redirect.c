/* test_redirect.c - what is known of pointers to functions, and that changed ones agree
 *
 * tests/asm/redirect.s names its functions after what must be found, and as a program compares
 * pointers from different places with each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "editor/optimize.h"
#include "binary/dynamic.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

enum { SEEDS = 32 };

static const char PIE[] = "-pie -rdynamic";
static const char RELR[] = "-pie -rdynamic -Wl,-z,pack-relative-relocs";
static const char SHARED[] = "-shared";

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static bool begins(const char *name, const char *with)
{
	return name && strncmp(name, with, strlen(with)) == 0;
}

/* By their names, which symbols of other kinds do not give; returns how many have one that
 * says something. */
static uint32_t check_names(const struct prog *prog)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];
		enum pointers want = begins(fn->name, "known_")	  ? POINTERS_KNOWN
				     : begins(fn->name, "stray_") ? POINTERS_UNKNOWN
								  : POINTERS_NONE;

		if (want == POINTERS_NONE && !begins(fn->name, "none_"))
			continue;
		n++;
		if (fn->pointers != want)
			fail_msg("%s: %d", fn->name, (int)fn->pointers);
	}
	return n;
}

static void pointers_are_known_or_not(void **state)
{
	static const char *const flags[] = { PIE, RELR, SHARED };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct prog prog;

		asm_analyze("redirect", flags[i], arena, &prog);
		assert_int_equal(check_names(&prog), 22);
	}
}

/* The sum is that of the new address, which is something else. */
static void a_function_that_the_loader_adds_to_stays(void **state)
{
	struct prog prog;

	(void)state;
	asm_analyze("redirect", SHARED, arena, &prog);
	assert_int_equal(asm_fn(&prog, "summed")->pointers, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "sum")->pointers, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "spanned")->pointers, POINTERS_UNKNOWN);
	asm_analyze("redirect", PIE, arena, &prog);	/* the linker did */
	assert_int_equal(asm_fn(&prog, "summed")->pointers, POINTERS_KNOWN);
}

static void nothing_is_known_at_a_fixed_address(void **state)
{
	struct prog prog;

	(void)state;
	asm_analyze("redirect", "-no-pie -static -Wl,--unresolved-symbols=ignore-all", arena,
		    &prog);
	assert_int_equal(prog.nref, 0);
	assert_int_equal(asm_fn(&prog, "known_data")->pointers, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "known_lea")->pointers, POINTERS_UNKNOWN);
}

static void code_with_an_address_inside_is_not_sealed(void **state)
{
	struct prog prog;

	(void)state;
	asm_analyze("redirect", PIE, arena, &prog);
	assert_true(asm_fn(&prog, "user_sealed")->sealed);
	assert_false(asm_fn(&prog, "user_unsealed")->sealed);
	assert_false(asm_fn(&prog, "user_strays")->sealed);
}

/* A generation of `original`; the statistics. */
static struct edit_stats emit(struct bytes original, uint64_t seed, struct wr *generation)
{
	struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
					.generation = 1 };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	struct err err;

	generation->n = 0;
	if (edit_optimize(original, NULL, &options, arena, generation, &map, &stats, &err) < 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
	wr_free(&map);
	return stats;
}

/* The exit code of the bytes as a program. */
static int run(struct bytes file)
{
	char path[] = "/tmp/morph-redirect.XXXXXX";
	int fd = mkstemp(path);
	struct err err;

	assert_true(fd >= 0 && fchmod(fd, 0700) == 0);
	assert_int_equal(io_write_all(fd, file.p, file.n, &err), 0);
	close(fd);
	int status = system(path);

	unlink(path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void pointers_from_all_places_agree(void **state)
{
	static const char *const flags[] = { PIE, RELR };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bytes original = asm_build("redirect", flags[i], arena);
		struct wr generation = { 0 };

		assert_int_equal(run(original), 0);
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			emit(original, seed, &generation);
			int code = run(wr_bytes(&generation));

			if (code != 0)
				fail_msg("%s, seed %llu: pair %d differs", flags[i],
					 (unsigned long long)seed, code);
		}
		wr_free(&generation);
	}
}

/* All known_* but known_unsealed, the original of one of whose users may run, and summed and
 * sum. */
static void only_what_is_known_everywhere_is_redirected(void **state)
{
	struct wr generation = { 0 };

	(void)state;
	struct edit_stats s = emit(asm_build("redirect", PIE, arena), 1, &generation);
	assert_int_equal(s.functions_redirected, 9);
	wr_free(&generation);
}

static void labels_are_known_that_only_data_holds(void **state)
{
	struct prog prog;

	(void)state;
	asm_analyze("threaded", "-pie", arena, &prog);
	assert_int_equal(asm_fn(&prog, "interpret")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_both")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_lea")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_far")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_apart")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_framed")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_by_frame")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_below")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_above")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_shared")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_calls")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_landed")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_sum")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_kept")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_loop")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_padded")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_kin")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_plain_kin")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_nop")->labels, POINTERS_KNOWN);
	assert_int_equal(asm_fn(&prog, "interpret_displaced")->labels, POINTERS_UNKNOWN);
	assert_int_equal(asm_fn(&prog, "dispatch_nothing")->labels, POINTERS_NONE);
}

static void labels_may_stay_while_others_go(void **state)
{
	static const char *const mixed[] = { "interpret_halt", "interpret_pad" };
	struct prog prog;

	(void)state;
	asm_analyze("threaded", "-pie", arena, &prog);
	assert_false(asm_fn(&prog, "interpret")->labels_stay);
	for (int i = 0; i < 2; i++) {
		const struct fn *fn = asm_fn(&prog, mixed[i]);

		assert_int_equal(fn->labels, POINTERS_KNOWN);
		assert_true(fn->labels_stay);
		assert_int_equal(fn->njump, 2);
		assert_int_equal(fn->jump[0].kind, JUMP_LABEL);
	}
}

static void assert_verified(struct bytes original, struct bytes generation)
{
	struct arena *a = arena_new();
	struct verify_stats stats;
	struct err err;

	if (verify_generation(original, generation, a, &stats, &err) < 0)
		fail_msg("%s", err.text);
	arena_free(a);
}

static void labels_in_new_text_are_jumped_to_and_differ(void **state)
{
	struct bytes original = asm_build("threaded", "-pie", arena);
	struct wr generation = { 0 };

	(void)state;
	assert_int_equal(run(original), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct edit_stats s = emit(original, seed, &generation);
		int code = run(wr_bytes(&generation));

		assert_int_equal(s.functions_threaded, 10);
		assert_verified(original, wr_bytes(&generation));
		if (code != 0)
			fail_msg("seed %llu: exit code %d", (unsigned long long)seed, code);
	}
	wr_free(&generation);
}

struct seen {
	const char *name;
	struct symbol symbol;
};

static void find_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	struct seen *seen = ctx;

	(void)index;
	if (strcmp(s->name, seen->name) == 0)
		seen->symbol = *s;
}

static struct symbol dynamic_symbol(const struct image *img, const char *name)
{
	struct seen seen = { .name = name };

	symbols_each(img, SHT_DYNSYM, find_symbol, &seen);
	assert_true(seen.symbol.defined);
	return seen.symbol;
}

static void symbols_say_where_the_image_is(void **state)
{
	struct bytes original = asm_build("redirect", SHARED, arena);
	struct wr generation = { 0 };
	struct image old, img;
	struct err err;

	(void)state;
	emit(original, 3, &generation);
	assert_int_equal(image_parse(original, arena, &old, &err), 0);
	assert_int_equal(image_parse(wr_bytes(&generation), arena, &img, &err), 0);
	struct symbol s = dynamic_symbol(&img, "known_exported");
	const struct section *text = &img.sh[s.section];

	assert_string_equal(text->name, ".morph.text");
	assert_true(s.value >= text->h.sh_addr && s.size > 0 &&
		    s.value + s.size <= text->h.sh_addr + text->h.sh_size);
	vaddr code = s.value;

	while (*image_at(&img, code, 1).p == 0x2e)	/* off the end of a line */
		code++;
	assert_memory_equal(image_at(&img, code, 6).p, "\xb8\x04\0\0\0\xc3", 6);
	struct symbol alias = dynamic_symbol(&img, "known_alias");

	assert_true(alias.value == s.value && alias.size == s.size);
	assert_true(dynamic_symbol(&img, "stray_notype").value ==
		    dynamic_symbol(&old, "stray_notype").value);
	assert_true(dynamic_symbol(&img, "stray_ifunc").value ==
		    dynamic_symbol(&old, "stray_ifunc").value);
	wr_free(&generation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_are_known_or_not),
		cmocka_unit_test(a_function_that_the_loader_adds_to_stays),
		cmocka_unit_test(nothing_is_known_at_a_fixed_address),
		cmocka_unit_test(code_with_an_address_inside_is_not_sealed),
		cmocka_unit_test(pointers_from_all_places_agree),
		cmocka_unit_test(only_what_is_known_everywhere_is_redirected),
		cmocka_unit_test(labels_are_known_that_only_data_holds),
		cmocka_unit_test(labels_may_stay_while_others_go),
		cmocka_unit_test(labels_in_new_text_are_jumped_to_and_differ),
		cmocka_unit_test(symbols_say_where_the_image_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
