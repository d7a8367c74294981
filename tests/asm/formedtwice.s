# Two dispatches as compilers make them without optimization: the entry is loaded into the register of
# the base, and the base is formed anew.  Where either block is not copied, the original's table is
# used.

	.macro	dispatch table, index
	mov	\index, %eax
	lea	0(,%rax,4), %rdx
	lea	\table(%rip), %rax
	mov	(%rdx,%rax,1), %eax
	cltq
	lea	\table(%rip), %rdx
	add	%rdx, %rax
	jmp	*%rax
	.endm

	.macro	table name, a, b, c, d
	.section .rodata
	.p2align 2
\name:	.long	\a-\name, \b-\name, \c-\name, \d-\name
	.long	0x7ffffff0			# no entry: here the table ends
	.text
	.endm

	.text
	.globl	dispatches
	.type	dispatches, @function
dispatches:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	$8, %ecx			# jumps come back behind the entry jump
1:	cmp	$3, %edi
	ja	19f
	table	T_first, 10f, 11f, 12f, 13f
	dispatch T_first, %edi
10:	inc	%edi
	jmp	1b
11:	mov	$11, %eax
	jmp	20f
12:	cmp	$3, %esi
	ja	19f
	.globl	second_dispatch
	.hidden	second_dispatch		# nobody else knows it
second_dispatch:
	table	T_second, 30f, 31f, 32f, 33f
	dispatch T_second, %esi
13:	dec	%edi
	jmp	1b
30:	mov	$10, %eax
	jmp	20f
31:	xor	%edi, %edi
	jmp	1b
32:	mov	%edi, %eax
	jmp	20f
33:	mov	$13, %eax
	jmp	20f
19:	xor	%eax, %eax
20:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	dispatches, .-dispatches

	.section .note.GNU-stack, "", @progbits
