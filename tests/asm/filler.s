# Jump tables with an entry for a case that cannot occur.  The entry leads behind the function, to no
# code at all; or to a part of the function that nothing else shows to be one.  The entries behind it
# belong to the table all the same.

	.macro	begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:	.cfi_startproc
	.endm

	.macro	end name
	.cfi_endproc
\name\()_end:
	.size	\name, .-\name
	nop
	.endm

	.macro	save
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_offset %r12, -16
	.endm

	.macro	leave
	pop	%r12
	.cfi_adjust_cfa_offset -8
	ret
	.endm

	.macro	table name, a, b, c, d
	.section .rodata
	.p2align 2
\name:	.long	\a-\name, \b-\name, \c-\name, \d-\name
	.long	0x7ffffff0			# no entry: here the table ends
	.text
	.endm

	.macro	dispatch base, index
	mov	\index, %eax
	movslq	(\base,%rax,4), %rax
	add	\base, %rax
	jmp	*%rax
	.endm

	# Another table's address is formed anew behind that entry, while this one's is used again.
	.macro	forms name, other
begin \name
	save
	lea	T1_\name(%rip), %r12
1:	cmp	$3, %edi
	ja	19f
	table	T1_\name, 10f, 11f, 12f, 13f
	dispatch %r12, %edi
10:	cmp	$3, %esi
	ja	19f
	lea	T2_\name(%rip), %rcx
	table	T2_\name, 30f, \other, 31f, 32f
	dispatch %rcx, %esi
31:	lea	T1_\name(%rip), %r12
	shr	$1, %esi
	and	$3, %esi
	dispatch %rcx, %esi
11:	mov	$11, %eax
	jmp	20f
12:	mov	$12, %eax
	jmp	20f
13:	dec	%edi
	jmp	1b
30:	mov	$30, %eax
	jmp	20f
32:	inc	%edi
	jmp	1b
19:	xor	%eax, %eax
20:	leave
end \name
	.endm

	# What differs when the other table is a new one must not be used there, either.
	.macro	stores name, other
begin \name
	save
	lea	T1_\name(%rip), %r12
1:	cmp	$3, %edi
	ja	19f
	table	T1_\name, 10f, 11f, 12f, 13f
	dispatch %r12, %edi
10:	cmp	$3, %esi
	ja	19f
	lea	T2_\name(%rip), %rcx
	table	T2_\name, 30f, \other, 31f, 32f
	dispatch %rcx, %esi
31:	mov	%r13, (%rdx)
	jmp	1b
11:	mov	$11, %eax
	jmp	20f
12:	mov	$12, %eax
	jmp	20f
13:	dec	%edi
	jmp	1b
30:	mov	$30, %eax
	jmp	20f
32:	inc	%edi
	jmp	1b
19:	xor	%eax, %eax
20:	leave
end \name
	.endm

	.text
forms forms_behind, forms_behind_end
stores stores_behind, stores_behind_end
forms forms_behind_cold, .Lcold
stores stores_behind_cold, .Lcold

	# Looks like a function.
	.p2align 4
	.cfi_startproc
.Lcold:	ud2
	.cfi_endproc

	# Nobody jumps through it, but it looks like a table.
begin leads_inside
	xor	%eax, %eax
	nop
	nop
	nop
	lea	T_inside(%rip), %rdx
	mov	(%rdx), %eax
2:	ret
	.section .rodata
	.p2align 2
T_inside:
	.long	leads_inside_end-T_inside, .Lcold-T_inside
	.long	2b-T_inside, 0x7ffffff0
	.text
end leads_inside

	# Two tables side by side: as one of the first, the second's entry leads inside the
	# entry jump.  No word is the distance of an instruction from where it stands.
begin side_by_side
	xor	%eax, %eax
	.rept	8
	nop
	.endr
2:	lea	T_left(%rip), %rdx
	mov	(%rdx), %eax
	lea	T_right(%rip), %rdx
	mov	(%rdx), %eax
	ret
	.section .rodata
	.p2align 2
T_left:
	.long	side_by_side_end - T_left, 2b - T_left
T_right:
	.long	2b - T_right, 0x7ffffff0
	.text
end side_by_side

	.section .note.GNU-stack, "", @progbits
