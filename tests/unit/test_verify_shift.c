/* test_verify_shift.c - loads that read new jump tables by the addresses of the original's
 *
 * A generation is made of tests/asm/beside.s.  What shows that a register has the table's address is
 * spoiled in the original, in its copy and in the image alike, so that nothing else is wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "editor/editor.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/digest.h"
#include "tests/unit/asm.h"

struct made {
	struct arena *a;
	struct wr original, generation;		/* changed by the test */
	struct image orig, gen;			/* as they were */
	struct blockmap map;
};

static struct made make_with(uint64_t seed)
{
	const struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
					      .generation = 1, .keep_pointers = true };
	struct made m = { .a = arena_new() };
	struct edit_stats stats = { 0 };
	struct wr map = { 0 };
	struct err err;
	struct bytes o = asm_build("beside", "-shared", m.a);

	wr_raw(&m.original, o.p, o.n);
	if (edit_optimize(o, NULL, &options, m.a, &m.generation, &map, &stats, &err) < 0 ||
	    image_parse(o, m.a, &m.orig, &err) < 0 ||
	    image_parse(wr_bytes(&m.generation), m.a, &m.gen, &err) < 0 ||
	    blockmap_read(wr_bytes(&map), &m.map, &err) < 0)
		fail_msg("%s", err.text);
	wr_free(&map);
	return m;
}

static struct made make(void)
{
	return make_with(2);
}

static vaddr address(const struct made *m, const char *name)
{
	const struct section *symbols = image_section(&m->orig, ".symtab");
	const struct section *names = image_section(&m->orig, ".strtab");
	struct bytes file = m->orig.file;
	struct rd r = rd_of(bytes_at(file, symbols->h.sh_offset, symbols->h.sh_size));

	while (rd_left(&r)) {
		uint32_t at = rd_u32(&r);
		(void)rd_u32(&r);
		vaddr value = rd_u64(&r);
		(void)rd_u64(&r);
		struct rd s = rd_of(bytes_at(file, names->h.sh_offset + at, names->h.sh_size - at));
		if (strcmp(rd_str(&s), name) == 0)
			return value;
	}
	fail_msg("no symbol %s", name);
	return 0;
}

/* Instruction number n of a function. */
static vaddr insn_at(const struct made *m, const char *function, unsigned n)
{
	vaddr at = address(m, function), target;
	struct insn insn;

	for (; n > 0; n--, at += insn.len)
		assert_true(insn_decode(image_rest(&m->orig, at), at, &insn, &target));
	return at;
}

static new_vaddr image_of(const struct made *m, vaddr addr)
{
	const struct blockmap_block *b = blockmap_find_orig(&m->map, addr);

	assert_non_null(b);
	return blockmap_gen_of(&m->map, b, addr);
}

static uint8_t *in_original(struct made *m, vaddr addr)
{
	return m->original.p + (image_rest(&m->orig, addr).p - m->orig.file.p);
}

static uint8_t *in_generation(struct made *m, vaddr addr)
{
	return m->generation.p + (image_rest(&m->gen, addr).p - m->gen.file.p);
}

/* A byte of the instruction at `addr` in the original, in its copy and in its image. */
static void change(struct made *m, vaddr addr, unsigned at, uint8_t from, uint8_t to)
{
	uint8_t *p[] = { in_original(m, addr) + at, in_generation(m, addr) + at,
			 in_generation(m, image_of(m, addr)) + at };

	for (int i = 0; i < 3; i++) {
		if (*p[i] != from && !(i == 2 && *p[i] == (from | 0x80)))
			fail_msg("byte %u at %#llx is %#x", at, (unsigned long long)addr, *p[i]);
		*p[i] ^= from ^ to;
	}
}

/* Accepted, or refused with that in the sentence. */
static void expect(struct made *m, const char *why)
{
	enum { DIGEST_OFF = 16 };
	const struct section *map = image_section(&m->gen, ".morph.map");
	struct digest d = digest_of(wr_bytes(&m->original));
	struct verify_stats stats;
	struct err err;

	memcpy(m->generation.p + map->h.sh_offset + DIGEST_OFF, d.b, sizeof(d.b));
	int rc = verify_generation(wr_bytes(&m->original), wr_bytes(&m->generation), m->a, &stats, &err);
	if (!why && rc < 0)
		fail_msg("refused: %s", err.text);
	if (why && rc == 0)
		fail_msg("accepted");
	if (why && !strstr(err.text, why))
		fail_msg("refused for another reason: %s", err.text);
	blockmap_free(&m->map);
	wr_free(&m->original);
	wr_free(&m->generation);
	arena_free(m->a);
}

static const char UNCERTAIN[] = "not certain by which address";

static void tables_beside_are_accepted(void **state)
{
	struct made m = make();
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < m.map.ntable; i++)
		n += m.map.table[i].kind == BLOCKMAP_TABLE_BESIDE32;
	assert_int_equal(n, 4);
	expect(&m, NULL);
}

static void another_register_has_the_address(void **state)
{
	struct made m = make();

	(void)state;
	change(&m, insn_at(&m, "plain", 3), 2, 0x15, 0x0d);	/* %rcx */
	expect(&m, UNCERTAIN);
}

/* With some seeds the branch is inverted. */
static void one_way_leads_around_the_address(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (;; seed++) {
		struct made m = make_with(seed);
		vaddr from = insn_at(&m, "around", 6), to = insn_at(&m, "around", 11);
		new_vaddr image = image_of(&m, from);
		int32_t d = (int32_t)(image_of(&m, to) - (image + 6));
		uint8_t *p = in_generation(&m, image);

		in_original(&m, from)[1] = (uint8_t)(to - (from + 2));
		in_generation(&m, from)[1] = (uint8_t)(to - (from + 2));
		if (*p == 0x0f && p[1] == 0x84) {
			memcpy(p + 2, &d, sizeof(d));
			expect(&m, UNCERTAIN);
			return;
		}
		expect(&m, "");
	}
}

static void a_call_may_have_overwritten_the_address(void **state)
{
	struct made m = make();

	(void)state;
	change(&m, insn_at(&m, "over_a_call", 2), 2, 0x1d, 0x0d);	/* %rcx, not %rbx */
	change(&m, insn_at(&m, "over_a_call", 8), 3, 0x83, 0x81);
	change(&m, insn_at(&m, "over_a_call", 9), 2, 0xd8, 0xc8);
	expect(&m, UNCERTAIN);
}

static vaddr first_addend(const struct image *img)
{
	return image_section(img, ".rela.dyn")->h.sh_addr + offsetof(Elf64_Rela, r_addend);
}

static void a_pointer_leads_behind_the_address(void **state)
{
	struct made m = make();
	vaddr lea = insn_at(&m, "held", 6), load = insn_at(&m, "held", 9);
	uint8_t *original = in_original(&m, first_addend(&m.orig));
	uint8_t *generation = in_generation(&m, first_addend(&m.gen));
	new_vaddr image = image_of(&m, load);

	(void)state;
	assert_memory_equal(original, &lea, sizeof(lea));
	assert_memory_equal(generation, &lea, sizeof(lea));
	memcpy(original, &load, sizeof(load));
	memcpy(generation, &image, sizeof(image));
	expect(&m, UNCERTAIN);
}

/* The displacement of a load: to a word more, and to another function's table. */
static void displacements_lead_to_the_right_table(void **state)
{
	static const char *const load[] = { "plain", "over_a_call" };
	int32_t shift[2], other;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct made m = make();
		uint8_t *p = in_generation(&m, image_of(&m, insn_at(&m, load[i], i ? 8 : 5))) + 4;

		memcpy(&shift[i], p, sizeof(shift[i]));
		other = shift[i] + 4;
		memcpy(p, &other, sizeof(other));
		expect(&m, "than a new one is at");
	}
	struct made m = make();
	other = shift[1] + (int32_t)(address(&m, "T_over") - address(&m, "T_plain"));
	memcpy(in_generation(&m, image_of(&m, insn_at(&m, "plain", 5))) + 4, &other, sizeof(other));
	expect(&m, "than a new one is at");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_beside_are_accepted),
		cmocka_unit_test(another_register_has_the_address),
		cmocka_unit_test(one_way_leads_around_the_address),
		cmocka_unit_test(a_call_may_have_overwritten_the_address),
		cmocka_unit_test(a_pointer_leads_behind_the_address),
		cmocka_unit_test(displacements_lead_to_the_right_table),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shifted loads", tests, NULL, NULL);
}
