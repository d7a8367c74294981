# Dispatches of which the size of the index, or a comparison that other pieces of the function lead to,
# shows how many entries the table has.  Behind the table stands a word that leads into another function.

	.text
# a byte leads to one of 256 entries, whatever it is
	.globl	bytes
	.type	bytes, @function
	.p2align 4
bytes:
	.cfi_startproc
	mov	$1, %r9d
	movzbl	%dil, %edi
	lea	T_bytes(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
	.cfi_endproc
	.size	bytes, .-bytes
	.section .rodata
	.p2align 2
T_bytes:
	.rept	128
	.long	10b-T_bytes, 11b-T_bytes
	.endr
	.long	L_foreign-T_bytes, 0x7ffffff0
	.text

# three pieces, of which the last one leads back to the comparison
	.globl	parted
	.type	parted, @function
	.p2align 4
parted:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	mov	$1, %r9d
	mov	%edi, %ebx
L_again:
	cmp	$2, %ebx
	ja	L_none
	mov	%ebx, %ebx
	lea	T_parted(%rip), %rdx
	movslq	(%rdx,%rbx,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	lea	1(%rbx), %edi
	jmp	L_second_piece
11:	lea	2(%rbx), %edi
	jmp	L_third_piece
12:	mov	$12, %eax
	pop	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
L_none:
	xor	%eax, %eax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	parted, .-parted
	.type	parted.second, @function
parted.second:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	nop
L_second_piece:
	lea	(%rbx,%rbx), %ebx
	jmp	L_third_piece
	.cfi_endproc
	.size	parted.second, .-parted.second
	.type	parted.third, @function
parted.third:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	nop
L_third_piece:
	add	%edi, %ebx
	jmp	L_again
	.cfi_endproc
	.size	parted.third, .-parted.third
	.section .rodata
	.p2align 2
T_parted:
	.long	10b-T_parted, 11b-T_parted, 12b-T_parted, L_foreign-T_parted
	.long	0x7ffffff0
	.text

	.globl	foreign
	.type	foreign, @function
	.p2align 4
foreign:
	.cfi_startproc
	mov	$1, %eax
L_foreign:
	mov	$2, %eax
	mov	$3, %eax
	ret
	.cfi_endproc
	.size	foreign, .-foreign
	.section .note.GNU-stack, "", @progbits
