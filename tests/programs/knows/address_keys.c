/* address_keys.c - an interpreter with branches that are switched on while it runs: a section
 * lists the NOPs that jumps are written over */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct key {
	uintptr_t code, target, id;
};

#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN const struct key __start_jump_table[], __stop_jump_table[];

#define KEY(id, label)							\
	__asm__ goto(".balign 8\n"					\
		     "1:\t.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"		\
		     "\t.pushsection jump_table, \"aw\"\n"		\
		     "\t.balign 8\n"					\
		     "\t.quad 1b, %l[" #label "], " #id "\n"		\
		     "\t.popsection" : : : : label)

/* The jumps calculate where they go. */
__attribute__((noinline, noclone)) unsigned run(const unsigned char *p, unsigned x)
{
	static const int ops[] = { &&add - &&add, &&mul - &&add, &&mix - &&add, &&end - &&add };
	unsigned traced = 0;

	KEY(0, trace_start);
started:
	x += 7;
	goto *(&&add + ops[*p]);
add:
	x += 3;
	KEY(1, trace_add);
added:
	goto *(&&add + ops[*++p]);
mul:
	x *= 5;
	goto *(&&add + ops[*++p]);
mix:
	x ^= x >> 3;
	goto *(&&add + ops[*++p]);
trace_start:
	traced += 10000;
	goto started;
trace_add:
	traced++;
	goto added;
end:
	return x + traced * 1000003;
}

static void enable(uintptr_t id)
{
	enum { JUMP = 5 };

	for (const struct key *k = __start_jump_table; k < __stop_jump_table; k++) {
		void *page = (void *)(k->code & ~(uintptr_t)4095);
		int32_t distance = (int32_t)(k->target - k->code - JUMP);
		unsigned char jump[JUMP] = { 0xe9 };

		if (k->id != id)
			continue;
		memcpy(jump + 1, &distance, sizeof(distance));
		mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy((void *)k->code, jump, JUMP);
		mprotect(page, 8192, PROT_READ | PROT_EXEC);
	}
}

int main(void)
{
	static const unsigned char program[] = { 0, 1, 2, 0, 0, 1, 2, 1, 3 };
	unsigned sum = 0;

	for (unsigned i = 0; i < 9000; i++) {
		if (i == 3000 || i == 6000)
			enable(i / 6000);
		sum = sum * 31 + run(program, i);
	}
	printf("%u\n", sum);
	return 0;
}
