/* test_probenotes.c - each static probe point that moved has its note, and no other has one
 *
 * Generations of tests/asm/probes.s, whose notes are damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

/* The notes of the generation: first those of the original, then one for each image. */
struct notes {
	uint8_t *p;
	uint64_t size, old;		/* bytes; of the original's notes */
	Elf64_Shdr *header;		/* of the section, in the generation */
};

enum { PC = 12 + 8 };			/* where a note has the address of its NOP */

static struct spoil make(struct notes *out)
{
	struct spoil m = spoil_make("probes", 3);
	const struct section *old = image_section(&m.orig, ".note.stapsdt");
	const struct section *now = image_section(&m.gen, ".note.stapsdt");

	assert_non_null(old);
	assert_non_null(now);
	assert_int_equal(now->h.sh_size, 2 * old->h.sh_size);	/* both have moved */
	*out = (struct notes){
		.p = m.generation.p + now->h.sh_offset, .size = now->h.sh_size,
		.old = old->h.sh_size,
		.header = (Elf64_Shdr *)(void *)(m.generation.p + m.gen.eh.e_shoff) +
			  (now - m.gen.sh),
	};
	return m;
}

static void notes_of_images_are_accepted(void **state)
{
	struct notes n;
	struct spoil m = make(&n);

	(void)state;
	spoil_expect(&m, NULL);
}

static void the_original_notes_are_kept(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 64; at += 7) {
		struct notes n;
		struct spoil m = make(&n);

		n.p[at] ^= 1;
		spoil_expect(&m, "not the original's");
	}
}

static void a_note_has_the_address_of_the_image(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct notes n;
		struct spoil m = make(&n);

		n.p[n.old + (i ? n.old / 2 : 0) + PC]++;
		spoil_expect(&m, "has no note for its image");
	}
}

static void a_note_says_nothing_else_than_the_original_one(void **state)
{
	(void)state;
	for (unsigned at = PC + 8; at < PC + 40; at += 5) {
		struct notes n;
		struct spoil m = make(&n);

		n.p[n.old + at] ^= 1;
		spoil_expect(&m, "has no note for its image");
	}
}

/* It is in a function that moved, but the map has no block that begins there. */
static void a_probe_without_an_image_has_no_note(void **state)
{
	struct notes n;
	struct spoil m = make(&n);
	uint64_t old = image_section(&m.orig, ".note.stapsdt")->h.sh_offset + PC;

	(void)state;
	m.original.p[old]++;
	m.generation.p[old]++;
	n.p[PC]++;
	memset(n.p + n.old + PC, 0, 8);
	spoil_expect(&m, "has no image of its own");
}

static void a_missing_note_is_noticed(void **state)
{
	struct notes n;
	struct spoil m = make(&n);

	(void)state;
	n.header->sh_size -= n.old / 2;
	spoil_expect(&m, "has no note for its image");
}

/* What stands behind the notes, read as if it belonged to them. */
static void a_note_too_many_is_noticed(void **state)
{
	struct notes n;
	struct spoil m = make(&n);

	(void)state;
	n.header->sh_size++;
	spoil_expect(&m, "that the original does not have");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_of_images_are_accepted),
		cmocka_unit_test(the_original_notes_are_kept),
		cmocka_unit_test(a_note_has_the_address_of_the_image),
		cmocka_unit_test(a_note_says_nothing_else_than_the_original_one),
		cmocka_unit_test(a_probe_without_an_image_has_no_note),
		cmocka_unit_test(a_missing_note_is_noticed),
		cmocka_unit_test(a_note_too_many_is_noticed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
