# A function that saves vector registers for its caller and says so to unwinders.

	.text
	.globl	saves
	.type	saves, @function
saves:
	.cfi_startproc
	sub	$0x28, %rsp
	.cfi_adjust_cfa_offset 0x28
	movaps	%xmm6, (%rsp)
	.cfi_offset %xmm6, -0x30
	movaps	%xmm15, 0x10(%rsp)
	.cfi_offset %xmm15, -0x20
	test	%rdi, %rdi
	je	1f
	call	*%rdi
1:	movaps	(%rsp), %xmm6
	.cfi_restore %xmm6
	movaps	0x10(%rsp), %xmm15
	.cfi_restore %xmm15
	add	$0x28, %rsp
	.cfi_adjust_cfa_offset -0x28
	ret
	.cfi_endproc
	.size	saves, .-saves

	.globl	calls
	.type	calls, @function
calls:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%edi, %ebx
	xor	%edi, %edi
	call	saves@plt
	mov	%ebx, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	calls, .-calls
