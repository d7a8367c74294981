# registers.s - a loop whose branch is taken one time in four, with a marker in a register
#
# One time in 16 another asks what stands where a word points that a register points to.
# N iterations; the marker stays in r15 and lies at the top of the stack.

	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$0x5ec2e7c0de5ec2e7, %r15
	push	%r15
	movabs	$N, %rbx
	lea	cell(%rip), %rax
	mov	%rax, holder(%rip)
	lea	holder(%rip), %r14
again:
	test	$3, %bl
	jz	quarter
often:
	imul	$3, %rax, %rax
	add	%rbx, %rax
	jmp	both
quarter:
	ror	$7, %rax
both:
	call	leaf
	test	$15, %bl
	jnz	seldom
	mov	(%r14), %rcx
	testl	$4, 8(%rcx)
	jnz	is_five
	ror	$9, %rax
is_five:
	imul	$3, %rax, %rax
seldom:
	dec	%rbx
	jnz	again
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	hlt
	.cfi_endproc
	.size	_start, . - _start

	.type	leaf, @function
leaf:
	.cfi_startproc
	xor	%rbx, %rax
	ret
	.cfi_endproc
	.size	leaf, . - leaf
	.type	never, @function
never:				# text enough that profiles of it have room
	.cfi_startproc
	.rept	2048
	imul	$3, %rax, %rax
	.endr
	ret
	.cfi_endproc
	.size	never, . - never

	.data
	.balign	4096
cell:	.quad	0, 5
	.skip	4096
holder:	.quad	0

	.section .note.GNU-stack, "", @progbits
