/* test_holders.c - addresses kept as data: none leads inside an entry jump, or to what gave way
 *
 * tests/asm/pointed.s keeps pointers to functions; the tests say which bytes are cut, or gone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/asm.h"
#include "verify/holders.h"
#include "verify/lookup.h"

static struct arena *arena;
static struct verify v;
static struct err err;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	v = (struct verify){ .a = arena, .err = &err };
	struct bytes file = asm_build("pointed", "-shared", arena);
	if (image_parse(file, arena, &v.orig, &err) < 0)
		return -1;
	v.walk.cut = arena_alloc(arena, file.n / 8 + 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

struct kinds {
	vaddr last[HOLDS_WORD + 1];	/* a value of code of each kind; 0: none */
};

static int take(struct verify *of, const struct vholder *h, void *ctx)
{
	struct kinds *k = ctx;

	if (image_is_exec(&of->orig, h->value))
		k->last[h->kind] = h->value;
	return 0;
}

static struct kinds kinds_met(void)
{
	struct kinds k = { { 0 } };

	assert_int_equal(verify_each_holder(&v, take, &k), 0);
	return k;
}

static void no_pointer_leads_inside_an_entry_jump(void **state)
{
	struct kinds k = kinds_met();
	uint32_t n = 0;

	(void)state;
	assert_int_equal(verify_holders(&v), 0);
	for (int kind = 0; kind <= HOLDS_WORD; kind++) {
		if (!k.last[kind])
			continue;
		uint64_t off = (uint64_t)(verify_orig_code(&v, k.last[kind]).p -
					  v.orig.file.p);

		v.walk.cut[off / 8] |= (uint8_t)(1 << off % 8);
		assert_int_equal(verify_holders(&v), -1);
		assert_non_null(strstr(err.text, "inside an entry jump"));
		v.walk.cut[off / 8] = 0;
		n++;
	}
	assert_true(n >= 2);		/* relocations and symbols at least */
	assert_int_equal(verify_holders(&v), 0);
}

static void no_pointer_leads_to_what_gave_way(void **state)
{
	vaddr to = kinds_met().last[HOLDS_RELATIVE];

	(void)state;
	assert_true(to);
	v.front = (struct vfront){ .lo = to, .hi = to };
	assert_int_equal(verify_holders(&v), 0);
	v.front.hi++;
	assert_int_equal(verify_holders(&v), -1);
	assert_non_null(strstr(err.text, "gave way to program headers"));
}

struct words {
	vaddr at[64];
	uint32_t n;
};

static int take_word(struct verify *of, const struct vholder *h, void *ctx)
{
	struct words *w = ctx;

	(void)of;
	if (h->kind == HOLDS_RELR || h->kind == HOLDS_RELATIVE) {
		assert_in_range(w->n, 0, 63);
		w->at[w->n++] = h->place;
	}
	return 0;
}

/* The words of tests/asm/pointed.s stand one behind the other. */
static void a_bitmap_names_each_word(void **state)
{
	struct words each = { .n = 0 }, packed = { .n = 0 };

	(void)state;
	assert_int_equal(verify_each_holder(&v, take_word, &each), 0);
	struct bytes file = asm_build("pointed", "-shared -Wl,-z,pack-relative-relocs", arena);
	assert_int_equal(image_parse(file, arena, &v.orig, &err), 0);
	vaddr unused;
	assert_true(image_dynamic(&v.orig, DT_RELR, &unused));
	assert_int_equal(verify_each_holder(&v, take_word, &packed), 0);
	assert_int_equal(packed.n, each.n);
	assert_in_range(packed.n, 10, 63);
	vaddr data = image_section(&v.orig, ".data")->h.sh_addr;
	for (uint32_t i = 0; i < packed.n; i++)
		assert_int_equal(packed.at[i] - data, each.at[i] - each.at[0]);
}

static int count_word(struct verify *of, const struct vholder *h, void *ctx)
{
	uint32_t *n = ctx;

	(void)of;
	*n += h->kind == HOLDS_WORD;
	return 0;
}

/* In programs linked to a fixed address; what is behind the last program header is none. */
static void words_of_each_segment_are_met_once(void **state)
{
	struct bytes file = asm_build("absolute", "-static -no-pie", arena);
	uint32_t once = 0, again = 0;

	(void)state;
	assert_int_equal(image_parse(file, arena, &v.orig, &err), 0);
	assert_int_equal(verify_each_holder(&v, count_word, &once), 0);
	assert_true(once > 0);
	Elf64_Phdr *ph = arena_array(arena, (size_t)v.orig.nph + 1, sizeof(*ph));
	memcpy(ph, v.orig.ph, v.orig.nph * sizeof(*ph));
	ph[v.orig.nph] = *image_segment(&v.orig, image_section(&v.orig, ".rodata")->h.sh_addr);
	v.orig.ph = ph;
	assert_int_equal(verify_each_holder(&v, count_word, &again), 0);
	assert_int_equal(again, once);
}

static int stop(struct verify *of, const struct vholder *h, void *ctx)
{
	uint32_t *n = ctx;

	(void)of;
	(void)h;
	return ++*n == 2 ? -1 : 0;
}

static void the_walk_stops_when_asked(void **state)
{
	uint32_t n = 0;

	(void)state;
	assert_int_equal(verify_each_holder(&v, stop, &n), -1);
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_pointer_leads_inside_an_entry_jump, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_pointer_leads_to_what_gave_way, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_bitmap_names_each_word, setup, teardown),
		cmocka_unit_test_setup_teardown(words_of_each_segment_are_met_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_walk_stops_when_asked, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
