# keyholder.s - a loop that holds a key of 16 bytes: in registers, on its stack, and where r14 points
#
# FIRST and SECOND are the complements of its halves, so that the key is not in the file; N are the
# iterations.  DUMPABLE is what it says of itself first: prctl(PR_SET_DUMPABLE).

	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	$157, %eax
	mov	$4, %edi
	mov	$DUMPABLE, %esi
	syscall
	movabs	$FIRST, %r12
	movabs	$SECOND, %r13
	not	%r12
	not	%r13
	push	%r13
	push	%r12
	lea	held(%rip), %r14
	mov	%r12, (%r14)
	mov	%r13, 8(%r14)
	movabs	$N, %rbx
again:
	test	$3, %bl
	jz	other
	imul	$3, %rax, %rax
	add	%rbx, %rax
	jmp	both
other:
	ror	$7, %rax
both:
	dec	%rbx
	jnz	again
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	hlt
	.cfi_endproc
	.size	_start, . - _start
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
	.balign	16
held:	.quad	0, 0

	.section .note.GNU-stack, "", @progbits
