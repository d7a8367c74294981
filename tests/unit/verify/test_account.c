/* test_account.c - the section of new tables is where they are
 *
 * Generations of tests/asm/landing.s, with exception tables, and of tests/asm/filler.s, with
 * jump tables.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

/* The header of that section in the generation. */
static Elf64_Shdr *header(struct spoil *m)
{
	const struct section *s = image_section(&m->gen, ".morph.rodata");

	if (!s)
		fail_msg("no new tables");
	return (Elf64_Shdr *)(void *)(m->generation.p + m->gen.eh.e_shoff) + (s - m->gen.sh);
}

static void expect(const char *name, int64_t begins, int64_t ends)
{
	struct spoil m = spoil_make(name, 1);
	Elf64_Shdr *h = header(&m);

	h->sh_offset += (uint64_t)begins;
	h->sh_addr += (uint64_t)begins;
	h->sh_size += (uint64_t)(ends - begins);
	spoil_expect(&m, begins ? "" : "is not where the new tables are");
}

static void it_begins_and_ends_with_them(void **state)
{
	static const char *const name[] = { "filler", "landing" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct spoil m = spoil_make(name[i], 1);
		int64_t size = (int64_t)header(&m)->sh_size;

		spoil_expect(&m, NULL);
		expect(name[i], 4, 0);
		expect(name[i], -4, 0);
		expect(name[i], 0, 64);
		expect(name[i], 0, 4 - size);
		/* exception tables end where nothing tells, and with padding */
		for (int64_t less = 1; i == 0 && less <= 8; less++)
			expect(name[i], 0, -less);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_begins_and_ends_with_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
