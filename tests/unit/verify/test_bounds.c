/* test_bounds.c - the Verifier proves how many entries of a jump table the code uses
 *
 * Each function of tests/asm/bounds.s bounds its index in another way, and nothing else shows
 * how long its table is.  One instruction at a time is changed so that the index may be larger,
 * or so that nothing is known of it, in the original and its image alike.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/spoil.h"

#define MORE "uses up to"
#define UNKNOWN "uses no more than 4 entries"

static const char *const functions[] = {
	"plain", "below", "source", "copy", "byte", "sign", "memory", "stored", "frame",
	"mask", "shift", "equal", "twice", "loop", "second", "constant", "highest", "nibble",
	"partly", "top", "chosen",
};

static const struct blockmap_table *table_of(const struct spoil *m, const char *function)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "T_%s", function);
	vaddr at = spoil_address(m, name);
	for (uint32_t i = 0; i < m->map.ntable; i++)
		if (m->map.table[i].orig_addr == at)
			return &m->map.table[i];
	fail_msg("no new table for %s", function);
	return NULL;
}

static bool is_whole(const struct spoil *m, const char *function)
{
	vaddr at = spoil_address(m, function), target;
	struct insn insn = { 0 };

	for (; insn.kind != INSN_IJMP; at += insn.len) {
		if (!blockmap_find_orig(&m->map, at))
			return false;
		assert_true(insn_decode(image_rest(&m->orig, at), at, &insn, &target));
	}
	return true;
}

/* Not every block of a shuffled function has an image: one where all have that matter. */
static struct spoil make(const char *function, uint64_t seed)
{
	for (;; seed++) {
		struct spoil m = spoil_make("bounds", seed);

		if (is_whole(&m, function))
			return m;
		spoil_expect(&m, NULL);
	}
}

static void all_are_proven(void **state)
{
	struct spoil m = spoil_make("bounds", 1);

	(void)state;
	assert_int_equal(table_of(&m, "crowd")->nentry, 4);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(table_of(&m, functions[i])->nentry, 4);
	spoil_expect(&m, NULL);
}

static void a_shorter_table_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		for (uint32_t n = 1; n < 4; n++) {
			struct spoil m = make(functions[i], n);

			spoil_cut(&m, table_of(&m, functions[i]), n);
			spoil_expect(&m, "entries");
		}
}

struct change {
	const char *function;
	unsigned insn, at;		/* which one behind the first, which byte of it */
	uint8_t from, to;
	const char *why;
};

static const struct change changes[] = {
	{ "plain", 0, 2, 3, 4, MORE },		/* cmp $4, %edi */
	{ "plain", 0, 1, 0xff, 0xfe, UNKNOWN },	/* cmp $3, %esi */
	{ "plain", 2, 1, 0xff, 0xf7, UNKNOWN },	/* mov %esi, %edi */
	{ "below", 0, 2, 4, 5, MORE },
	{ "source", 1, 2, 3, 6, MORE },
	{ "source", 1, 1, 0xff, 0xfe, UNKNOWN },
	{ "copy", 1, 2, 3, 4, MORE },
	{ "copy", 0, 1, 0xf9, 0xf1, UNKNOWN },	/* mov %esi, %ecx */
	{ "byte", 1, 1, 3, 4, MORE },
	{ "byte", 0, 2, 0xb6, 0xb7, UNKNOWN },	/* movzwl: the compared byte is not all */
	{ "sign", 0, 2, 3, 4, MORE },
	{ "memory", 0, 3, 3, 4, MORE },
	{ "memory", 2, 2, 8, 12, UNKNOWN },	/* mov 12(%rsi), %eax */
	{ "memory", 0, 2, 8, 4, UNKNOWN },	/* cmpl $3, 4(%rsi) */
	{ "stored", 2, 2, 16, 8, UNKNOWN },	/* movl $7, 8(%rsi) */
	{ "stored", 2, 2, 16, 10, UNKNOWN },	/* overlaps it */
	{ "stored", 2, 1, 0x46, 0x47, UNKNOWN },	/* 16(%rdi), who knows where that is */
	{ "stored", 0, 3, 3, 5, MORE },
	{ "frame", 1, 4, 3, 4, MORE },
	{ "frame", 3, 3, 0xfc, 0xf8, UNKNOWN },	/* mov -8(%rsp), %eax */
	{ "mask", 0, 2, 3, 7, UNKNOWN },
	{ "shift", 0, 2, 30, 29, UNKNOWN },
	{ "equal", 0, 2, 3, 4, MORE },
	{ "twice", 0, 2, 3, 50, MORE },
	{ "loop", 1, 2, 3, 7, UNKNOWN },
	{ "second", 2, 2, 3, 9, MORE },
	{ "second", 5, 2, 2, 9, MORE },
	{ "second", 5, 1, 0xff, 0xf9, UNKNOWN },	/* cmp $2, %ecx */
	{ "constant", 0, 2, 3, 4, MORE },
	{ "constant", 1, 1, 2, 9, UNKNOWN },	/* mov $9, %ecx */
	{ "highest", 1, 2, 6, 5, UNKNOWN },
	{ "highest", 0, 1, 0xb6, 0xb7, UNKNOWN },	/* movzwl */
	{ "nibble", 2, 2, 3, 4, MORE },
	{ "nibble", 0, 1, 0xb6, 0xb7, UNKNOWN },
	{ "partly", 1, 2, 30, 22, UNKNOWN },
	{ "top", 2, 2, 3, 4, MORE },
	{ "top", 1, 3, 56, 52, UNKNOWN },	/* of 12 bits 8 are compared */
	{ "chosen", 4, 2, 3, 4, MORE },
	{ "chosen", 1, 1, 0xe1, 0xe6, UNKNOWN },	/* and $15, %esi */
	{ "chosen", 0, 1, 0xe0, 0xe6, UNKNOWN },
};

static void what_bounds_the_index_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i];
		struct spoil m = make(c->function, i);

		spoil_change(&m, spoil_insn(&m, c->function, 1 + c->insn), c->at, c->from,
			     c->to);
		spoil_expect(&m, c->why);
	}
}

/* Of tests/asm/morebounds.s: with the next seed that copies the table. */
static struct spoil make_more(const char *function, uint64_t *seed)
{
	for (uint64_t last = *seed + 32; *seed < last; ++*seed) {
		struct spoil m = spoil_make("morebounds", *seed);

		if (is_whole(&m, function))
			return m;
		spoil_expect(&m, NULL);
	}
	fail_msg("%s has no whole image", function);
	return (struct spoil){ 0 };
}

static void a_byte_leads_to_256_entries(void **state)
{
	uint64_t seed = 1;
	struct spoil m = make_more("bytes", &seed);

	(void)state;
	assert_int_equal(table_of(&m, "bytes")->nentry, 256);
	spoil_expect(&m, NULL);
	m = make_more("bytes", &seed);
	spoil_cut(&m, table_of(&m, "bytes"), 255);
	spoil_expect(&m, "255 entries");
}

static void ways_through_other_pieces_count(void **state)
{
	uint64_t seed = 1;
	struct spoil m = make_more("parted", &seed);

	(void)state;
	assert_int_equal(table_of(&m, "parted")->nentry, 3);
	spoil_expect(&m, NULL);
	m = make_more("parted", &seed);
	spoil_cut(&m, table_of(&m, "parted"), 2);
	spoil_expect(&m, "entries");
	m = make_more("parted", &seed);
	spoil_change(&m, spoil_insn(&m, "parted", 3), 2, 2, 5);
	spoil_expect(&m, MORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_proven),
		cmocka_unit_test(a_shorter_table_is_refused),
		cmocka_unit_test(a_byte_leads_to_256_entries),
		cmocka_unit_test(ways_through_other_pieces_count),
		cmocka_unit_test(what_bounds_the_index_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("bounds of jump tables", tests, NULL, NULL);
}
