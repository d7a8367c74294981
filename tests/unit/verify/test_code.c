/* test_code.c - an image that does something else than its original block, or leads elsewhere
 *
 * Generations of tests/asm/emit.s, which has every end of a block.  One thing is changed in an
 * image, or in what the map says of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

static struct spoil make(void)
{
	return spoil_make_as("emit", "", 2);
}

/* An instruction of an image that has the bytes of its original but for the field. */
struct spot {
	const struct blockmap_block *b;
	struct insn insn;		/* of the image */
	uint8_t *p;			/* its bytes in the generation */
	vaddr at, target;		/* of the original */
	new_vaddr gen_target;
};

typedef bool spot_fits(const struct spoil *m, const struct spot *s);

/* The first one that fits. */
static struct spot find(struct spoil *m, spot_fits *fits)
{
	for (uint32_t i = 0; i < m->map.nblock; i++) {
		struct spot s = { .b = &m->map.block[i] };
		new_vaddr g = m->map.gen_base + s.b->gen, end = g + s.b->gen_size;
		vaddr o = m->map.orig_base + s.b->orig;
		struct insn was;

		for (; g < end; g += s.insn.len, o += was.len) {
			if (!insn_decode(image_rest(&m->orig, o), o, &was, &s.target) ||
			    !insn_decode(image_at(&m->gen, g, end - g), g, &s.insn,
					 &s.gen_target) ||
			    was.kind != s.insn.kind)
				break;
			s.at = o;
			s.p = spoil_generation(m, g);
			if (fits(m, &s))
				return s;
			if (was.len != s.insn.len)
				break;
		}
	}
	fail_msg("no such instruction");
	return (struct spot){ 0 };
}

static bool is_plain(const struct spoil *m, const struct spot *s)
{
	(void)m;
	return s->insn.kind == INSN_PLAIN && !s->insn.field && s->insn.len == 3;
}

static bool has_operand(const struct spoil *m, const struct spot *s)
{
	(void)m;
	return s->insn.kind == INSN_PLAIN && s->insn.field && s->gen_target == s->target;
}

static bool is_call(const struct spoil *m, const struct spot *s)
{
	(void)m;
	return s->insn.kind == INSN_CALL && s->insn.len == 5;
}

static bool is_branch(const struct spoil *m, const struct spot *s)
{
	(void)m;
	return s->insn.kind == INSN_JCC;
}

/* Not the last instruction of its image. */
static bool is_inside(const struct spoil *m, const struct spot *s)
{
	const uint8_t *end = spoil_generation((struct spoil *)(uintptr_t)m,
					      m->map.gen_base + s->b->gen) + s->b->gen_size;

	return is_plain(m, s) && s->p + s->insn.len < end;
}

static void a_generation_is_accepted(void **state)
{
	struct spoil m = make();

	(void)state;
	spoil_expect(&m, NULL);
}

static void another_instruction_is_refused(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 3; at++) {
		struct spoil m = make();

		find(&m, is_plain).p[at] ^= 1;
		spoil_expect(&m, "");
	}
}

static void an_operand_is_at_its_address(void **state)
{
	struct spoil m = make();
	struct spot s = find(&m, has_operand);

	(void)state;
	s.p[s.insn.field]++;
	spoil_expect(&m, "its operand is at another address");
}

/* The address of a table that has moved. */
static bool is_of_table(const struct spoil *m, const struct spot *s)
{
	(void)m;
	return s->insn.kind == INSN_PLAIN && s->insn.field && s->gen_target != s->target;
}

/* What reads, compares or forms half of it may not have another one. */
static void nothing_but_a_lea_is_of_another_table(void **state)
{
	enum { REX, OPCODE, LEA = 0x8d, MOV = 0x8b, ADD = 0x03, CMP = 0x3b, MOVSXD = 0x63,
	       WIDE = 0x08 };
	static const uint8_t other[] = { MOV, ADD, CMP, MOVSXD };
	static const char why[] = "its operand is at another address";
	struct spoil m;

	(void)state;
	for (size_t i = 0; i < sizeof(other); i++) {
		m = spoil_make("passed", 1);
		spoil_change(&m, find(&m, is_of_table).at, OPCODE, LEA, other[i]);
		spoil_expect(&m, why);
	}
	m = spoil_make("passed", 1);
	struct spot s = find(&m, is_of_table);
	spoil_change(&m, s.at, REX, s.p[REX], s.p[REX] & (uint8_t)~WIDE);
	spoil_expect(&m, why);
}

static void a_call_leads_where_the_original_does(void **state)
{
	struct spoil m = make();

	(void)state;
	find(&m, is_call).p[1]++;
	spoil_expect(&m, "the call leads somewhere else");
}

static void a_branch_has_its_condition(void **state)
{
	struct spoil m = make();
	struct spot s = find(&m, is_branch);

	(void)state;
	s.p[s.insn.field - 1] ^= 2;
	spoil_expect(&m, "the condition of the branch is another one");
}

static void a_branch_that_is_inverted_is_noticed(void **state)
{
	struct spoil m = make();
	struct spot s = find(&m, is_branch);

	(void)state;
	s.p[s.insn.field - 1] ^= 1;
	spoil_expect(&m, "leads to");
}

static void a_branch_leads_where_the_original_does(void **state)
{
	struct spoil m = make();
	struct spot s = find(&m, is_branch);

	(void)state;
	s.p[s.insn.field]++;
	spoil_expect(&m, "leads to");
}

/* The jump behind a block that does not run on to the next one. */
static void control_goes_on_where_the_original_does(void **state)
{
	enum { JMP = 5 };
	struct spoil m = make();

	(void)state;
	for (uint32_t i = 0; i < m.map.nblock; i++) {
		const struct blockmap_block *b = &m.map.block[i];
		vaddr end = m.map.orig_base + b->orig + b->orig_size;
		uint8_t *image = spoil_generation(&m, m.map.gen_base + b->gen);
		uint8_t *jmp = image + b->gen_size - JMP;

		if (b->gen_size != b->orig_size + JMP || *jmp != 0xe9 ||
		    *spoil_original(&m, end - JMP) == 0xe9)
			continue;
		jmp[1]++;
		spoil_expect(&m, "goes on to");
		return;
	}
	fail_msg("no block has a jump added");
}

static bool put_between(struct spoil *m, uint8_t byte)
{
	for (uint32_t i = 0; i + 1 < m->map.nblock; i++) {
		const struct blockmap_block *b = &m->map.block[i];

		if (b->gen + b->gen_size == b[1].gen)
			continue;
		*spoil_generation(m, m->map.gen_base + b->gen + b->gen_size) = byte;
		return true;
	}
	return false;
}

static void what_is_between_images_does_nothing(void **state)
{
	bool found = false;

	(void)state;
	for (uint64_t seed = 1; !found; seed++) {
		struct spoil m = spoil_make_as("emit", "", seed);

		found = put_between(&m, 0xc3);
		spoil_expect(&m, found ? "neither an image nor padding" : NULL);
	}
}

/* The prefixes that the original has stay: short and near, branches and jumps. */
static void prefixes_of_branches_are_no_other_branch(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct spoil m = spoil_make("hinted", seed);

		assert_true(m.map.nblock > 0);
		spoil_expect(&m, NULL);
	}
}

/* Writes the map as it has become; false: it takes more room. */
static bool try_map(struct spoil *m)
{
	const struct section *at = image_section(&m->gen, ".morph.map");
	struct wr map = { 0 };

	blockmap_write(&m->map, &map);
	bool fits = map.n == at->h.sh_size;
	if (fits)
		memcpy(m->generation.p + at->h.sh_offset, map.p, map.n);
	wr_free(&map);
	return fits;
}

static void write_map(struct spoil *m)
{
	assert_true(try_map(m));
}

/* An image cut off in front of its last instructions: they are then between images. */
static void an_image_is_listed_whole(void **state)
{
	struct spoil m = make();
	struct spot s = find(&m, is_inside);
	struct blockmap_block *b = &m.map.block[s.b - m.map.block];

	(void)state;
	b->gen_size = (uint32_t)(s.p - spoil_generation(&m, m.map.gen_base + b->gen)) +
		      s.insn.len;
	write_map(&m);
	spoil_expect(&m, "the bytes differ");
}

/* Behind `jmp *reg` only stubs of generations that count. */
static void nothing_follows_a_computed_jump(void **state)
{
	static const char why[] = "the image goes on where its original has ended";
	bool found = false;

	(void)state;
	for (uint64_t seed = 1; !found && seed < 64; seed++) {
		struct spoil m = spoil_make("passed", seed);

		for (uint32_t i = 0; !found && i + 1 < m.map.nblock; i++) {
			struct blockmap_block *b = &m.map.block[i];
			const uint8_t *end = spoil_generation(&m, m.map.gen_base + b->gen) +
					     b->gen_size;

			uint32_t gap = b[1].gen - b->gen - b->gen_size;

			if (end[-2] != 0xff || (end[-1] & 0xf8) != 0xe0 || !gap)
				continue;
			b->gen_size += gap;		/* what is between takes room, too */
			found = try_map(&m);
			b->gen_size -= found ? 0 : gap;
		}
		spoil_expect(&m, found ? why : NULL);
	}
	assert_true(found);
}

static void the_map_lists_what_can_run(void **state)
{
	static const char why[] = "the map does not list the executable segment";
	struct spoil m = make();

	(void)state;
	m.map.seg[m.map.nseg - 1].size--;
	write_map(&m);
	spoil_expect(&m, why);
	m = make();
	m.map.seg[m.map.nseg - 1].offset += 16;
	write_map(&m);
	spoil_expect(&m, why);
	m = make();
	m.map.seg[m.map.nseg - 1].vaddr += 16;
	write_map(&m);
	spoil_expect(&m, why);
	m = make();
	m.map.fluff_size += 1 << 20;
	write_map(&m);
	spoil_expect(&m, "the map's new text is not in an executable segment");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_generation_is_accepted),
		cmocka_unit_test(another_instruction_is_refused),
		cmocka_unit_test(an_operand_is_at_its_address),
		cmocka_unit_test(nothing_but_a_lea_is_of_another_table),
		cmocka_unit_test(a_call_leads_where_the_original_does),
		cmocka_unit_test(a_branch_has_its_condition),
		cmocka_unit_test(a_branch_that_is_inverted_is_noticed),
		cmocka_unit_test(a_branch_leads_where_the_original_does),
		cmocka_unit_test(control_goes_on_where_the_original_does),
		cmocka_unit_test(what_is_between_images_does_nothing),
		cmocka_unit_test(prefixes_of_branches_are_no_other_branch),
		cmocka_unit_test(an_image_is_listed_whole),
		cmocka_unit_test(nothing_follows_a_computed_jump),
		cmocka_unit_test(the_map_lists_what_can_run),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
