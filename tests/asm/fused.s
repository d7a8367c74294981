# As prefixes.s, but the instructions that branches are behind may get prefixes as well: the Editor
# gives them none, and test_shift.c moves some there.

	.macro loops name, first
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:	.cfi_startproc
	xor	%eax, %eax
	mov	$\first, %ecx
1:	lea	1(%rax,%rdi), %rax
	mov	%rax, %rdx
	sub	%rcx, %rdx
	jne	1b
	mov	%rdx, %rsi
2:	lea	1(%rax,%rsi), %rax
	mov	%rax, %rdx
	sub	%rcx, %rdx
	jne	2b
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
	loops	one, 1
	loops	two, 2
	loops	three, 3
	loops	four, 4
	.section .note.GNU-stack, "", @progbits
