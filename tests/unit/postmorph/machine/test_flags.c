/* test_flags.c - condition flags that instructions read and overwrite, one instruction a row */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "binary/decode.h"
#include "postmorph/machine/flags.h"

enum { CF = 1, PF = 4, AF = 0x10, ZF = 0x40, SF = 0x80, OF = 0x800, ALL = FLAGS_ALL };

static const struct row {
	const char *text;
	uint8_t code[8];
	uint16_t reads, writes;
} rows[] = {
	{ "mov %rsp, %rbp", { 0x48, 0x89, 0xe5 }, 0, 0 },
	{ "lea 1(%rdi), %eax", { 0x8d, 0x47, 0x01 }, 0, 0 },
	{ "push %rbp", { 0x55 }, 0, 0 },
	{ "add $1, %eax", { 0x83, 0xc0, 0x01 }, 0, ALL },
	{ "adc $1, %eax", { 0x83, 0xd0, 0x01 }, CF, ALL },
	{ "inc %eax: CF stays", { 0xff, 0xc0 }, 0, ALL & ~CF },
	{ "test %eax, %eax", { 0x85, 0xc0 }, 0, ALL },
	{ "not %eax", { 0xf7, 0xd0 }, 0, 0 },
	{ "adcx %rax, %rbx", { 0x66, 0x48, 0x0f, 0x38, 0xf6, 0xd8 }, CF, CF },
	{ "adox %rax, %rbx", { 0xf3, 0x48, 0x0f, 0x38, 0xf6, 0xd8 }, OF, OF },
	{ "mulx: none", { 0xc4, 0xe2, 0xfb, 0xf6, 0xc3 }, 0, 0 },
	{ "shl $3, %eax", { 0xc1, 0xe0, 0x03 }, 0, ALL },
	{ "shl $0, %eax", { 0xc1, 0xe0, 0x00 }, 0, 0 },
	{ "shl $32, %eax is none", { 0xc1, 0xe0, 0x20 }, 0, 0 },
	{ "shl $32, %rax is one", { 0x48, 0xc1, 0xe0, 0x20 }, 0, ALL },
	{ "shl $32, %al with REX.W is none", { 0x48, 0xc0, 0xe0, 0x20 }, 0, 0 },
	{ "rcl $9, %al is none", { 0xc0, 0xd0, 0x09 }, CF, 0 },
	{ "rcl $9, %ax is one", { 0x66, 0xc1, 0xd0, 0x09 }, CF, CF | OF },
	{ "shl %eax", { 0xd1, 0xe0 }, 0, ALL },
	{ "shl %cl, %eax: perhaps by 0", { 0xd3, 0xe0 }, 0, 0 },
	{ "shld %cl, %eax, %ebx", { 0x0f, 0xa5, 0xc3 }, 0, 0 },
	{ "rcl %cl, %eax", { 0xd3, 0xd0 }, CF, 0 },
	{ "repz cmpsb: perhaps never", { 0xf3, 0xa6 }, ZF, 0 },
	{ "cmpsb", { 0xa6 }, 0, ALL },
	{ "jbe", { 0x76, 0x00 }, CF | ZF, 0 },
	{ "jg", { 0x7f, 0x00 }, ZF | SF | OF, 0 },
	{ "cmovp %eax, %ebx", { 0x0f, 0x4a, 0xd8 }, PF, 0 },
	{ "seto %al", { 0x0f, 0x90, 0xc0 }, OF, 0 },
	{ "loopne", { 0xe0, 0x00 }, ZF, 0 },
	{ "pushf", { 0x9c }, ALL, 0 },
	{ "popf", { 0x9d }, 0, ALL },
	{ "lahf", { 0x9f }, ALL, 0 },
	{ "sahf", { 0x9e }, 0, ALL & ~OF },
	{ "cmc", { 0xf5 }, CF, CF },
	{ "clc", { 0xf8 }, 0, CF },
	{ "syscall gives them back", { 0x0f, 0x05 }, 0, 0 },
	{ "int3: whoever handles it", { 0xcc }, ALL, 0 },
	{ "ucomisd %xmm0, %xmm1", { 0x66, 0x0f, 0x2e, 0xc8 }, 0, ALL },
};

static void flags_are_as_the_manuals_say(void **state)
{
	enum { NROW = sizeof(rows) / sizeof(rows[0]) };
	bool good = true;
	struct insn insn;
	vaddr target;

	(void)state;
	/* the second time from memory, if they are remembered */
	for (size_t k = 0; k < 2 * (size_t)NROW; k++) {
		size_t i = k % NROW;
		struct bytes code = { rows[i].code, sizeof(rows[i].code) };
		assert_true(insn_decode(code, 0, &insn, &target));
		struct flags f = flags_of(code);

		if (f.reads == rows[i].reads && f.writes == rows[i].writes)
			continue;
		print_message("# %s: reads %#x, writes %#x\n", rows[i].text, f.reads, f.writes);
		good = false;
	}
	assert_true(good);
}

/* Nothing is known of it: all live, none overwritten. */
static void what_does_not_decode_reads_all(void **state)
{
	static const uint8_t bad[] = { 0x06 };
	struct flags f = flags_of((struct bytes){ bad, sizeof(bad) });

	(void)state;
	assert_int_equal(f.reads, ALL);
	assert_int_equal(f.writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_as_the_manuals_say),
		cmocka_unit_test(what_does_not_decode_reads_all),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
