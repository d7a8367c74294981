# A jump that calculates its target as a distance from a label, where a table leads to it; control that
# runs into it brings an entry of another table.

	.text
	.type	interpret_met, @function
interpret_met:				# edi what to do, esi which entry
	.cfi_startproc
	movabs	$0, %r11		# an entry jump lies in it
	push	%rbx			# jumps without a frame would be tail calls
	.cfi_adjust_cfa_offset 8
	mov	held_met(%rip), %r8	# the label
	movslq	apart(%rip), %rax	# how far another is from it
	cmp	$3, %edi
	ja	op_run
	mov	%edi, %ecx
	lea	first(%rip), %rdx
	movslq	(%rdx,%rcx,4), %rcx
	add	%rdx, %rcx
	jmp	*%rcx
op_into:	mov	%esi, %ecx
	lea	second(%rip), %r8
	movslq	(%r8,%rcx,4), %rax
.Lsum:	add	%r8, %rax
	jmp	*%rax
op_run:	mov	held_run(%rip), %rdx
	jmp	*%rdx
op_met:	mov	$1, %eax
op_end:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	interpret_met, .-interpret_met

	.section .rodata, "a"
	.p2align 2
first:	.long	op_into - first, .Lsum - first, op_met - first, op_end - first
	.long	0x7ffffff0		# no entry: here the table ends
second:	.long	op_met - second, op_end - second
	.long	0x7ffffff0
apart:	.long	op_end - op_met

	.data
	.p2align 3
held_met:
	.quad	op_met
held_run:
	.quad	op_met
	.section .note.GNU-stack, "", @progbits
