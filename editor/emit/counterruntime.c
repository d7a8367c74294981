/* counterruntime.c - the counter runtime as assembly, whose bytes are copied
 *
 * The code is position-independent.  It uses only the words that follow it (struct words), each
 * of which holds a distance from its own address.  It calls nothing outside itself and needs no
 * stack protector and no library: in a process that has just been started nothing else can be
 * relied on.
 *
 * TARGET   Gets the target in %r11 and the number of the call or jump in %eax.  Changes %rax,
 *          %r11 and the flags.  The hash table is searched from the slot of the hash of both,
 *          at most 16 slots on.  A slot is claimed for good by setting its bit 0; bit 1 says
 *          that number and target have been stored in it.  A thread that meets a slot that
 *          another is filling goes on to the next one: one target may then have two slots,
 *          whose counts the reader adds.  A target that finds no slot is counted in counter 1.
 *
 * JUMP     Does the same, and leaves in %r11 where to go: it searches struct
 *          counterruntime_move[] for the target's block by bisection.
 *
 * START    Changes only registers that a function may change.
 *
 * Tested by tests/programs/instrument.sh: programs and libraries that are started with and
 * without a file of counts, indirect calls from many threads, computed jumps.
 */
#include "editor/emit/counterruntime.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { FRAME_TARGET = 32, FRAME_JUMP = 48, FRAME_START = 96 };

__asm__(
"	.pushsection .rodata\n"
"	.balign 8\n"
"counterruntime_code:\n"
/* target */
"	lea -32(%rsp), %rsp\n"
"counterruntime_row1:\n"
"	mov %rcx, (%rsp)\n"
"	mov %rdx, 8(%rsp)\n"
"	mov %rdi, 16(%rsp)\n"
"	mov %rsi, 24(%rsp)\n"
"	lea .Lbase(%rip), %rcx\n"
"	add (%rcx), %rcx\n"
"	sub %rcx, %r11\n"
"	cmp .Lspan(%rip), %r11\n"
"	jb 1f\n"
"	mov $-1, %r11\n"
"1:	imul $0x9e3779b1, %r11d, %ecx\n"
"	imul $0x85ebca6b, %eax, %edx\n"
"	add %edx, %ecx\n"
"	mov %ecx, %edx\n"
"	shr $15, %edx\n"
"	xor %edx, %ecx\n"
"	and .Lmask(%rip), %ecx\n"
"	lea .Lslots(%rip), %rdi\n"
"	add (%rdi), %rdi\n"
"	mov $16, %esi\n"
"2:	mov %ecx, %edx\n"
"	shl $5, %rdx\n"
"	add %rdi, %rdx\n"
"	cmpl $3, (%rdx)\n"
"	je 3f\n"
"	lock btsl $0, (%rdx)\n"
"	jc 4f\n"
"	mov %eax, 4(%rdx)\n"
"	mov %r11, 8(%rdx)\n"
"	movl $3, (%rdx)\n"
"3:	cmp 4(%rdx), %eax\n"
"	jne 4f\n"
"	cmp 8(%rdx), %r11\n"
"	jne 4f\n"
"counterruntime_lock1:\n"
"	ds incq 16(%rdx)\n"
"	jmp 5f\n"
"4:	inc %ecx\n"
"	and .Lmask(%rip), %ecx\n"
"	dec %esi\n"
"	jnz 2b\n"
"	lea .Lcounters(%rip), %rdi\n"
"	add (%rdi), %rdi\n"
"counterruntime_lock2:\n"
"	ds incq 8(%rdi)\n"
"5:	mov (%rsp), %rcx\n"
"	mov 8(%rsp), %rdx\n"
"	mov 16(%rsp), %rdi\n"
"	mov 24(%rsp), %rsi\n"
"	lea 32(%rsp), %rsp\n"
"counterruntime_row2:\n"
"	ret\n"
/* jump */
"counterruntime_start_jump:\n"
"	lea -48(%rsp), %rsp\n"
"counterruntime_row3:\n"
"	mov %r11, (%rsp)\n"
"	mov %rcx, 8(%rsp)\n"
"	mov %rdx, 16(%rsp)\n"
"	mov %rdi, 24(%rsp)\n"
"	mov %rsi, 32(%rsp)\n"
"	call counterruntime_code\n"
"	mov (%rsp), %r11\n"
"	lea .Lbase(%rip), %rcx\n"
"	add (%rcx), %rcx\n"
"	mov %r11, %rax\n"
"	sub %rcx, %rax\n"
"	mov %rax, %rdx\n"
"	shr $32, %rdx\n"
"	jnz 4f\n"
"	lea .Lmoves(%rip), %rdx\n"
"	add (%rdx), %rdx\n"
"	xor %edi, %edi\n"
"	mov .Lnmove(%rip), %esi\n"
"1:	cmp %esi, %edi\n"			/* among moves [edi, esi) */
"	jae 4f\n"
"	lea (%rdi,%rsi), %ecx\n"
"	shr $1, %ecx\n"
"	cmp %eax, (%rdx,%rcx,8)\n"
"	je 3f\n"
"	ja 2f\n"
"	lea 1(%rcx), %edi\n"
"	jmp 1b\n"
"2:	mov %ecx, %esi\n"
"	jmp 1b\n"
"3:	mov 4(%rdx,%rcx,8), %ecx\n"
"	sub %rax, %r11\n"
"	add %rcx, %r11\n"
"4:	mov 8(%rsp), %rcx\n"
"	mov 16(%rsp), %rdx\n"
"	mov 24(%rsp), %rdi\n"
"	mov 32(%rsp), %rsi\n"
"	lea 48(%rsp), %rsp\n"
"counterruntime_row4:\n"
"	ret\n"
/* start */
"counterruntime_start_entry:\n"
"	lea .Lentry(%rip), %r11\n"
"	jmp 6f\n"
"counterruntime_start_init:\n"
"	lea .Linit(%rip), %r11\n"
"6:	lea -96(%rsp), %rsp\n"
"counterruntime_row5:\n"
"	mov %rdi, (%rsp)\n"
"	mov %rsi, 8(%rsp)\n"
"	mov %rdx, 16(%rsp)\n"
"	mov %r11, 24(%rsp)\n"
"	mov $257, %eax\n"			/* openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC) */
"	mov $-100, %edi\n"
"	lea .Lpath(%rip), %rsi\n"
"	mov $0x80002, %edx\n"
"	xor %r10d, %r10d\n"
"	syscall\n"
"	test %eax, %eax\n"
"	js 9f\n"
"	mov %eax, %r8d\n"
"	xor %eax, %eax\n"			/* read(fd, frame, 48) */
"	mov %r8d, %edi\n"
"	lea 32(%rsp), %rsi\n"
"	mov $48, %edx\n"
"	syscall\n"
"	cmp $48, %rax\n"
"	jne 8f\n"
"	lea .Lhead(%rip), %rdx\n"
"	mov $40, %ecx\n"
"7:	mov 32(%rsp,%rcx), %rax\n"
"	cmp (%rdx,%rcx), %rax\n"
"	jne 8f\n"
"	sub $8, %ecx\n"
"	jns 7b\n"
"	mov $8, %eax\n"				/* lseek(fd, 0, SEEK_END) */
"	xor %esi, %esi\n"
"	mov $2, %edx\n"
"	syscall\n"
"	mov .Loffset(%rip), %r9\n"
"	mov .Lsize(%rip), %rsi\n"
"	lea (%r9,%rsi), %rdx\n"
"	cmp %rdx, %rax\n"
"	jl 8f\n"
/* mmap(counters, size, RW, SHARED | FIXED, fd, offset) */
"	mov $9, %eax\n"
"	lea .Lcounters(%rip), %rdi\n"
"	add (%rdi), %rdi\n"
"	mov $3, %edx\n"
"	mov $0x11, %r10d\n"
"	syscall\n"
"	cmp $-4096, %rax\n"
"	ja 8f\n"
"	lock incq (%rax)\n"
"8:	mov $3, %eax\n"				/* close(fd) */
"	mov %r8d, %edi\n"
"	syscall\n"
"9:	mov (%rsp), %rdi\n"
"	mov 8(%rsp), %rsi\n"
"	mov 16(%rsp), %rdx\n"
"	mov 24(%rsp), %r11\n"
"	lea 96(%rsp), %rsp\n"
"counterruntime_row6:\n"
"	add (%r11), %r11\n"
"	jmp *%r11\n"
"counterruntime_return:\n"
"	ret\n"
"	.balign 8, 0xcc\n"
"counterruntime_words:\n"			/* struct words */
".Lcounters: .quad 0\n"
".Lslots: .quad 0\n"
".Lmask: .quad 0\n"
".Lbase: .quad 0\n"
".Lspan: .quad 0\n"
".Lsize: .quad 0\n"
".Loffset: .quad 0\n"
".Lentry: .quad 0\n"
".Linit: .quad 0\n"
".Lmoves: .quad 0\n"
".Lnmove: .quad 0\n"
".Lhead: .skip 48\n"
".Lpath:\n"
"	.popsection\n");

extern const uint8_t counterruntime_code[], counterruntime_start_jump[],
	counterruntime_start_entry[], counterruntime_start_init[], counterruntime_return[],
	counterruntime_words[], counterruntime_row1[], counterruntime_row2[],
	counterruntime_row3[], counterruntime_row4[], counterruntime_row5[],
	counterruntime_row6[], counterruntime_lock1[], counterruntime_lock2[];

struct words {			/* as the assembly has them after the code */
	uint64_t counters, slots, mask, base, span, size, offset, entry, init, moves, nmove;
	uint8_t head[COUNTSFILE_HEAD];
};

static uint32_t off(const uint8_t *label)
{
	return (uint32_t)(label - counterruntime_code);
}

uint32_t counterruntime_size(const struct counterruntime *r)
{
	return (uint32_t)(off(counterruntime_words) + sizeof(struct words) +
			  strlen(r->path) + 1 + r->nmove * sizeof(*r->move));
}

uint32_t counterruntime_target(void)
{
	return 0;
}

uint32_t counterruntime_jump(void)
{
	return off(counterruntime_start_jump);
}

uint32_t counterruntime_entry(void)
{
	return off(counterruntime_start_entry);
}

uint32_t counterruntime_init(void)
{
	return off(counterruntime_start_init);
}

const struct counterruntime_row *counterruntime_rows(uint32_t *n)
{
	static struct counterruntime_row row[] = {
		{ 0, 0 }, { 0, FRAME_TARGET }, { 0, 0 }, { 0, FRAME_JUMP }, { 0, 0 },
		{ 0, FRAME_START }, { 0, 0 } };

	row[1].off = off(counterruntime_row1);
	row[2].off = off(counterruntime_row2);
	row[3].off = off(counterruntime_row3);
	row[4].off = off(counterruntime_row4);
	row[5].off = off(counterruntime_row5);
	row[6].off = off(counterruntime_row6);
	*n = sizeof(row) / sizeof(row[0]);
	return row;
}

void counterruntime_write(const struct counterruntime *r, new_vaddr at, struct wr *out)
{
	uint64_t words = at + off(counterruntime_words);
	uint64_t leave = at + off(counterruntime_return);
	struct words w = {
		.counters = r->counters - (words + offsetof(struct words, counters)),
		.slots = r->slots - (words + offsetof(struct words, slots)),
		.mask = r->nslot - 1,
		.base = r->base - (words + offsetof(struct words, base)),
		.span = r->span, .size = r->size, .offset = r->offset,
		.entry =
			(r->entry ? r->entry : leave) - (words + offsetof(struct words, entry)),
		.init = (r->init ? r->init : leave) - (words + offsetof(struct words, init)),
		.moves = sizeof(w) + strlen(r->path) + 1 - offsetof(struct words, moves),
		.nmove = r->nmove,
	};
	size_t start = out->n;

	memcpy(w.head, r->head, sizeof(w.head));
	wr_raw(out, counterruntime_code, off(counterruntime_words));
	if (r->locked)
		out->p[start + off(counterruntime_lock1)] =
			out->p[start + off(counterruntime_lock2)] = 0xf0;
	wr_raw(out, &w, sizeof(w));
	wr_str(out, r->path);
	for (uint32_t i = 0; i < r->nmove; i++) {
		wr_u32(out, r->move[i].block);
		wr_u32(out, r->move[i].image);
	}
	assert(out->n - start == counterruntime_size(r));
}
