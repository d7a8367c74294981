# Two versions of one program: with NEW=1 it is the later one.
#
# start calls steps and, behind an instruction that is new, other; far is the same source, but its
# branch has become long; steps has one block more and another constant; twins are the same code
# twice; gone and fresh are in one version only, and have nothing in common with anything.
.ifndef NEW
.set NEW, 0
.endif
# FIXED=1: addresses are constants, as in programs that are linked to a fixed place
.ifndef FIXED
.set FIXED, 0
.endif

.macro function name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
.endm
.macro end name
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
.if NEW
function fresh
	xorps %xmm0, %xmm0
	mulsd %xmm1, %xmm0
	addsd %xmm2, %xmm0
	sqrtsd %xmm0, %xmm0
	divsd %xmm3, %xmm0
	subsd %xmm1, %xmm0
	maxsd %xmm4, %xmm0
	minsd %xmm4, %xmm0
	ret
end fresh
.endif
function _start
	push %rbx
	mov %rdi, %rbx
	call steps
.if NEW
	lea 8(%rbx), %rdi
.endif
	test %eax, %eax
	je 1f
	mov %ebx, %edi
	call other
1:
.if FIXED
	mov $first_text, %esi
.else
	lea first_text(%rip), %rsi
.endif
	lea second_text(%rip), %rdx
	lea table(%rip), %rcx
	pop %rbx
	ret
end _start

function first_twin
	imul %rdi, %rdi
	add %rsi, %rdi
	xor %rdx, %rdi
	shl $3, %rdi
	sub %rcx, %rdi
	not %rdi
	bswap %rdi
	mov %rdi, %rax
	ret
end first_twin
function second_twin
	imul %rdi, %rdi
	add %rsi, %rdi
	xor %rdx, %rdi
	shl $3, %rdi
	sub %rcx, %rdi
	not %rdi
	bswap %rdi
	mov %rdi, %rax
	ret
end second_twin

function steps
	mov $0, %eax
	test %rdi, %rdi
	je 4f
1:	add (%rdi), %eax
	cmp $(100 + 27 * NEW), %eax
	jg 3f
.if NEW
	test $1, %al
	je 2f
	inc %eax
2:
.endif
	mov 8(%rdi), %rdi
	test %rdi, %rdi
	jne 1b
	ret
3:	neg %eax
	sar $2, %eax
	ret
4:	or $-1, %eax
	ret
end steps

function other
	mov %edi, %eax
	imul $77, %eax, %eax
	and $0xff, %eax
	cmp $16, %eax
	ja 1f
	add $3, %eax
1:
.if FIXED
	mov $table, %edx
.else
	lea table(%rip), %rdx
.endif
	movzbl (%rdx,%rax), %eax
	ret
end other

function far
	rol $5, %edi
	mov %edi, %eax
	btc $7, %eax
	dec %eax
	js 1f
.if NEW
	.rept 60
	nopl 0(%rax,%rax,1)
	.endr
.endif
	xchg %al, %ah
	ror $3, %eax
1:	ret
end far
.if !NEW
function gone
	cpuid
	rdtsc
	lfence
	mov %eax, (%rsi)
	mov %edx, 4(%rsi)
	mov %ebx, 8(%rsi)
	mov %ecx, 12(%rsi)
	sfence
	ret
end gone
.endif
	.section .rodata
.if NEW
	.zero 64
.endif
table:	.zero 256
first_text:
	.asciz "what it says first"
second_text:
	.asciz "what it says then"
	.asciz "nobody refers to this"
