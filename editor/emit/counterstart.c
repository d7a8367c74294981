/* counterstart.c - the instructions of the start of a program with private counters
 *
 *	push all registers that a system call may change or gets
 *	mmap(COUNTERS, SIZE, READ | WRITE, SHARED | FIXED | ANONYMOUS | NORESERVE, -1, 0)
 *	movq $1, COUNTERS(%rip)
 *	pop them; jmp NEXT
 *
 * No instruction of it changes a flag.  The Verifier has the same bytes from its own hand
 * (verify/counting.c).
 *
 * Tested by tests/programs/counting.sh (programs and libraries run it, with and without memory)
 * and, as the Verifier reads it, tests/unit/verify/test_counting.c.
 */
#include "editor/emit/counterstart.h"

#include <assert.h>

#define PUT(out, ...) do {					\
	static const uint8_t bytes_[] = { __VA_ARGS__ };	\
	wr_raw(out, bytes_, sizeof(bytes_));			\
} while (0)

void counterstart_write(new_vaddr at, new_vaddr counters, uint32_t size, vaddr next,
			struct wr *out)
{
	const size_t start = out->n;

	PUT(out, 0x50, 0x51, 0x52, 0x56, 0x57);			/* push rax rcx rdx rsi rdi */
	PUT(out, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53);	/* r8 r9 r10 r11 */
	PUT(out, 0x48, 0x8d, 0x3d);				/* lea COUNTERS(%rip), %rdi */
	wr_u32(out, (uint32_t)(counters - (at + (out->n - start) + 4)));
	PUT(out, 0xbe);						/* mov $SIZE, %esi */
	wr_u32(out, size);
	PUT(out, 0xba, 3, 0, 0, 0);				/* mov $PROT, %edx */
	PUT(out, 0x41, 0xba, 0x31, 0x40, 0, 0);			/* mov $FLAGS, %r10d */
	PUT(out, 0x49, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff);	/* mov $-1, %r8 */
	PUT(out, 0x41, 0xb9, 0, 0, 0, 0);			/* mov $0, %r9d */
	PUT(out, 0xb8, 9, 0, 0, 0, 0x0f, 0x05);			/* mov $9, %eax; syscall */
	PUT(out, 0x48, 0xc7, 0x05);				/* movq $1, COUNTERS(%rip) */
	wr_u32(out, (uint32_t)(counters - (at + (out->n - start) + 8)));
	wr_u32(out, 1);
	PUT(out, 0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58);	/* pop r11 r10 r9 r8 */
	PUT(out, 0x5f, 0x5e, 0x5a, 0x59, 0x58);			/* rdi rsi rdx rcx rax */
	PUT(out, 0xe9);
	wr_u32(out, (uint32_t)(next - (at + (out->n - start) + 4)));
	assert(out->n - start == COUNTERSTART_SIZE);
}
