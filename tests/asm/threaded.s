# Direct threading: an interpreter that jumps to labels through tables.  interpret runs its program
# (bytes at %rdi) by labels that only data holds; interpret_lea stores one itself; dispatch_nothing
# has a table of labels, but no jump of its own that could use it.  _start, for a PIE, exits with 0
# when the program computed what it must and labels from different places are equal.

	.macro begin name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
begin interpret				# rdi program, rdx table; result in eax, rcx address of .Lhalt
	push	%rbx			# jumps without a frame would be tail calls
	.cfi_adjust_cfa_offset 8
	xor	%eax, %eax
	lea	labels(%rip), %rdx
	movzbl	(%rdi), %esi
	jmp	*(%rdx,%rsi,8)
.Ladd:	add	$3, %eax
	inc	%rdi
	movzbl	(%rdi), %esi
	jmp	*(%rdx,%rsi,8)
.Ldouble:
	add	%eax, %eax
.Lskip:	jmp	.Lnext			# a label of nothing but a jump
.Lalso:	nop				# and one that begins with a NOP
.Lnext:	inc	%rdi
	movzbl	(%rdi), %esi
	mov	(%rdx,%rsi,8), %rsi
	jmp	*%rsi
.Lhalt:	mov	24(%rdx), %rcx
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret

begin interpret_lea
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	.Lleft(%rip), %rax
	mov	%rax, -8(%rsp)
	jmp	*-8(%rsp)
.Lleft:	mov	held_left(%rip), %rcx
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_lea

begin dispatch_nothing
	test	%edi, %edi
	jz	1f
	xor	%eax, %eax
1:	ret
end dispatch_nothing

	.globl	_start
begin _start
	.cfi_undefined rip
	lea	bytes(%rip), %rdi
	call	interpret
	mov	$1, %edi
	cmp	$12, %eax		# ((0 + 3) + 3) * 2
	jne	.Lexit
	inc	%edi
	cmp	held_halt(%rip), %rcx
	jne	.Lexit
	inc	%edi
	mov	labels+16(%rip), %rax	# labels that are close stay different
	cmp	labels+32(%rip), %rax
	je	.Lexit
	call	interpret_lea
	mov	$4, %edi
	cmp	%rax, %rcx
	jne	.Lexit
	xor	%edi, %edi
.Lexit:	mov	$231, %eax
	syscall
	ud2
end _start

	.section .rodata, "a"
bytes:	.byte	0, 0, 1, 2, 3

	.section .data.rel.ro, "aw"
	.p2align 3
labels:	.quad	.Ladd, .Ldouble, .Lskip, .Lhalt, .Lnext
held_halt:
	.quad	.Lhalt
held_left:
	.quad	.Lleft
	.quad	dispatch_nothing + 4
	.section .note.GNU-stack, "", @progbits
