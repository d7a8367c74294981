/* test_hugetext.c - new text that begins with a huge page: tests/asm/huge.s has enough of it */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/asm.h"
#include "verify/verify.h"

enum { HUGE = 2 << 20, PAGE = 4096 };

struct made {
	struct arena *a;
	struct bytes original, generation;
	struct image gen;
	struct edit_stats stats;
};

/* A generation of m->original with all functions. */
static void make_again(struct made *m, bool huge)
{
	const struct edit_options options = { .all = true, .huge_text = huge, .generation = 1 };
	struct wr made = { 0 }, map = { 0 };
	struct verify_stats proof;
	struct err err;

	if (edit_optimize(m->original, NULL, &options, m->a, &made, &map, &m->stats, &err) < 0)
		fail_msg("%s", err.text);
	m->generation = (struct bytes){ arena_dup(m->a, made.p, made.n), made.n };
	wr_free(&made);
	wr_free(&map);
	if (image_parse(m->generation, m->a, &m->gen, &err) < 0 ||
	    verify_generation(m->original, m->generation, m->a, &proof, &err) < 0)
		fail_msg("%s", err.text);
}

/* Of tests/asm/NAME.s. */
static void make(struct made *m, const char *name, const char *flags, bool huge)
{
	m->original = asm_build(name, flags, m->a);
	make_again(m, huge);
}

static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));

	m->a = arena_new();
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	arena_free(m->a);
	test_free(m);
	return 0;
}

/* The segment of new text. */
static const Elf64_Phdr *text_segment(const struct made *m)
{
	const struct section *s = image_section(&m->gen, ".morph.text");

	assert_non_null(s);
	for (uint32_t i = 0; i < m->gen.nph; i++)
		if (m->gen.ph[i].p_type == PT_LOAD && m->gen.ph[i].p_vaddr == s->h.sh_addr)
			return &m->gen.ph[i];
	fail_msg("no segment begins with .morph.text");
	return NULL;
}

static void assert_begins_with_a_huge_page(const struct made *m)
{
	const Elf64_Phdr *text = text_segment(m);

	assert_int_equal(text->p_align, HUGE);
	assert_int_equal(text->p_vaddr % HUGE, 0);
	assert_int_equal(text->p_offset % HUGE, 0);
	assert_true(text->p_offset - m->original.n < HUGE);
	assert_true(m->stats.hot_bytes > 2 * HUGE);
	assert_int_equal(m->stats.huge_pages, 2);	/* the third is not filled */
}

static void large_text_begins_with_a_huge_page(void **state)
{
	struct made *m = *state;

	make(m, "huge", "-pie", true);
	assert_begins_with_a_huge_page(m);
	make(m, "huge", "-static -no-pie", true);
	assert_begins_with_a_huge_page(m);
}

static void it_does_not_without_the_option(void **state)
{
	struct made *m = *state;

	make(m, "huge", "-shared", false);
	assert_int_equal(text_segment(m)->p_align, PAGE);
	assert_int_equal(m->stats.huge_pages, 0);
}

static void small_text_is_the_same_with_the_option(void **state)
{
	struct made *m = *state;

	make(m, "emit", "", false);
	struct bytes plain = m->generation;
	make_again(m, true);
	assert_int_equal(m->generation.n, plain.n);
	assert_memory_equal(m->generation.p, plain.p, plain.n);
	assert_int_equal(m->stats.huge_pages, 0);
}

static void refused_with(const struct made *m, uint64_t align, const char *why)
{
	uint8_t *p = arena_dup(m->a, m->generation.p, m->generation.n);
	size_t index = (size_t)(text_segment(m) - m->gen.ph);
	struct verify_stats proof;
	struct err err = { 0 };
	Elf64_Phdr ph = m->gen.ph[index];

	ph.p_align = align;
	memcpy(p + m->gen.eh.e_phoff + index * sizeof(ph), &ph, sizeof(ph));
	assert_int_equal(verify_generation(m->original, (struct bytes){ p, m->generation.n },
					   m->a, &proof, &err),
			 -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void the_verifier_wants_a_page_or_a_huge_page(void **state)
{
	struct made *m = *state;

	make(m, "huge", "-shared", true);
	refused_with(m, HUGE / 2, "does not begin with a page");
	refused_with(m, HUGE + PAGE, "cannot be mapped");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(large_text_begins_with_a_huge_page, setup,
						teardown),
		cmocka_unit_test_setup_teardown(it_does_not_without_the_option, setup,
						teardown),
		cmocka_unit_test_setup_teardown(small_text_is_the_same_with_the_option, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_verifier_wants_a_page_or_a_huge_page, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
