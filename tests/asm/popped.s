# The target of a jump table's entry is pushed, found again by its place on the stack, and read.

	.text
	.globl	reads_its_own_code
	.type	reads_its_own_code, @function
reads_its_own_code:
	.cfi_startproc
	cmp	$1, %edi
	ja	2f
	mov	%edi, %edi
	lea	T(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	sub	$16, %rsp
	.cfi_adjust_cfa_offset 16
	lea	24(%rsp), %rsp
	.cfi_adjust_cfa_offset -24
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	mov	(%rdx), %eax
	ret
2:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	reads_its_own_code, .-reads_its_own_code

	.section .rodata
	.p2align 2
T:	.long	1b-T, 2b-T, 0x7ffffff0
