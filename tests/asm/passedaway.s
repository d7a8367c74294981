# What comes from a jump table, and no jump has used, is an argument of a callee.

# A register holds the table's address while something throws, and is passed at the landing pad.

	.text
	.globl	throws_a_base
	.type	throws_a_base, @function
	.p2align 4
throws_a_base:
	.cfi_startproc
	.cfi_personality 0x9b, personality
	.cfi_lsda 0x1b, exceptions
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -24
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_offset %r12, -32
	mov	%edi, %ebp
	lea	table(%rip), %rbx
.Lcall:
	call	may_throw@plt
.Lbehind:
	cmp	$3, %ebp
	ja	19f
	movslq	(%rbx,%rbp,4), %rax
	add	%rbx, %rax
	jmp	*%rax
10:	mov	$10, %eax
	jmp	20f
11:	mov	$11, %eax
	jmp	20f
12:	mov	$12, %eax
	jmp	20f
13:	mov	$13, %eax
	jmp	20f
19:	xor	%eax, %eax
20:	pop	%r12
	.cfi_adjust_cfa_offset -8
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 24
.Lpad:	mov	%rax, %r12
	mov	%rbx, %rdi
	call	looks_at_it@plt
	mov	%r12, %rdi
	call	_Unwind_Resume@plt
	.cfi_endproc
	.size	throws_a_base, .-throws_a_base

# A callee gets an entry that no jump has used.
	.globl	passes_an_entry
	.type	passes_an_entry, @function
	.p2align 4
passes_an_entry:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%edi, %ebx
	cmp	$3, %ebx
	ja	39f
	lea	other_table(%rip), %rcx
	movslq	(%rcx,%rbx,4), %rdi
	call	looks_at_it@plt
	lea	other_table(%rip), %rcx
	movslq	(%rcx,%rbx,4), %rax
	add	%rcx, %rax
	jmp	*%rax
30:	mov	$10, %eax
	jmp	39f
31:	mov	$11, %eax
	jmp	39f
32:	mov	$12, %eax
	jmp	39f
33:	mov	$13, %eax
39:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	passes_an_entry, .-passes_an_entry

	.section .rodata
	.p2align 2
other_table:
	.long	30b-other_table, 31b-other_table, 32b-other_table, 33b-other_table
	.long	0x7ffffff0
table:	.long	10b-table, 11b-table, 12b-table, 13b-table
	.long	0x7ffffff0			# no entry: here the table ends

	.data
	.p2align 3
personality:
	.quad	__gcc_personality_v0

	.section .gcc_except_table, "a", @progbits
	.p2align 2
exceptions:
	.byte	0xff, 0xff, 0x01	# no LPStart, no types, call sites as uleb128
	.uleb128 5f-4f
4:	.uleb128 .Lcall-throws_a_base
	.uleb128 .Lbehind-.Lcall
	.uleb128 .Lpad-throws_a_base
	.uleb128 0
5:
	.section .note.GNU-stack, "", @progbits
