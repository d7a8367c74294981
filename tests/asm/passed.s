# A function that has the address of its table in a register at a call; r11 is no argument.  Behind
# the jump by the table, what is left in rdx is none either.

	.text
	.globl	passes
	.type	passes, @function
	.p2align 4
passes:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%edi, %ebx
	nopw	0(%rax,%rax,1)
	lea	T_passed(%rip), %r11
	call	other
	cmp	$3, %ebx
	ja	19f
	lea	T_passed(%rip), %rdx
	movslq	(%rdx,%rbx,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	call	other
	jmp	20f
11:	mov	$11, %eax
	jmp	20f
12:	mov	$12, %eax
	jmp	20f
13:	mov	$13, %eax
	jmp	20f
19:	xor	%eax, %eax
20:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	passes, .-passes

	.type	other, @function
	.p2align 4
other:
	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	other, .-other

	.section .rodata
	.p2align 2
T_passed:
	.long	10b-T_passed, 11b-T_passed, 12b-T_passed, 13b-T_passed
	.long	0x7ffffff0			# no entry: here the table ends
	.section .note.GNU-stack, "", @progbits
