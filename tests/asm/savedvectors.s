# Functions that save vector and mask registers for their callers, with unwind rules for these; and two
# with unwind programs that cannot be run.  Neither of the two holds an address, though both have
# bytes that would begin one in another place.

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

# %k4 and %zmm16 (122 and 67) lie at rbp - 8 and rbp - 0x50; %r31 (145) as before
	.globl	masks
	.type	masks, @function
masks:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$0x50, %rsp
	mov	%rdi, -8(%rbp)
	.cfi_escape 0x10, 122, 2, 0x76, 0x78
	mov	%rsi, -0x50(%rbp)
	.cfi_escape 0x05, 67, 1
	.cfi_escape 0x08, 0x91, 0x01
	test	%rdi, %rdi
	je	1f
	.cfi_remember_state
	call	calls@plt
	mov	-8(%rbp), %rdi
	.cfi_escape 0x06, 122
	mov	-0x50(%rbp), %rsi
	.cfi_escape 0x06, 67
	leave
	.cfi_def_cfa %rsp, 8
	ret
1:	.cfi_restore_state
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	masks, .-masks

# a rule for register 254
	.globl	unheard_of
	.type	unheard_of, @function
unheard_of:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x05, 0xfe, 0x01, 1
	mov	%edi, %eax
	nopw	(%rax)
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	unheard_of, .-unheard_of

# more is restored than was remembered
	.globl	forgotten
	.type	forgotten, @function
forgotten:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x0b
	.cfi_escape 0x10, 122, 2, 0x08, 0x01
	mov	%edi, %eax
	nopw	(%rax)
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	forgotten, .-forgotten
