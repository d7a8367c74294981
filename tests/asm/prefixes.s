# Blocks whose first instructions may get prefixes that bring the branches at the blocks' ends into
# lines of 32 bytes.  The blocks in front of them fall into them.

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
	dec	%ecx
	jne	1b
	mov	%rdx, %rsi
2:	lea	1(%rax,%rsi), %rax
	mov	%rax, %rdx
	dec	%edi
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
