# registers.s - a loop whose branch is taken one time in four, with a marker in a register
#
# N iterations; the marker stays in r15 and lies at the top of the stack.

	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$0x5ec2e7c0de5ec2e7, %r15
	push	%r15
	mov	$N, %rbx
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
	.section .note.GNU-stack, "", @progbits
