# living.s - functions for tests/unit/verify/test_living.c
#
# Symbols given on the command line add what stands in the way of mapping a generation into a process:
# pointer: data leads to a function; early, late: a call that ends inside of an entry jump, or just behind it;
# lsda: a function with an exception table.
	.text
	.globl	first
	.type	first, @function
first:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	mov	%edi, %ebx
	test	%edi, %edi
	je	1f
	lea	2(%rbx), %eax
	jmp	2f
1:	mov	$7, %eax
2:	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	first, .-first
	.p2align 4

	.ifdef	early
	.globl	calls
	.type	calls, @function
calls:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	call	*%rdi
	mov	%eax, %ebx
	lea	1(%rbx), %eax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	calls, .-calls
	.p2align 4
	.endif

	.ifdef	late
	.globl	calls
	.type	calls, @function
calls:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	*%rdi
	add	$1, %eax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	calls, .-calls
	.p2align 4
	.endif

	.ifdef	lsda
	.globl	throws
	.type	throws, @function
throws:
	.cfi_startproc
	.cfi_personality 0x9b, personality
	.cfi_lsda 0x1b, table
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
3:	call	*%rdi
4:	add	$1, %eax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	throws, .-throws
	.section .gcc_except_table, "a"
	.p2align 2
table:
	.byte	0xff, 0xff, 1
	.uleb128 6f - 5f
5:	.uleb128 3b - throws
	.uleb128 4b - 3b
	.uleb128 0
	.uleb128 0
6:
	.data
	.p2align 3
	.hidden	personality
personality:
	.quad	0
	.endif

	.ifdef	pointer
	.hidden	inner
	.type	inner, @function
	.text
inner:
	.cfi_startproc
	mov	%edi, %eax
	test	%eax, %eax
	jns	7f
	neg	%eax
7:	add	$3, %eax
	ret
	.cfi_endproc
	.size	inner, .-inner
	.section .data.rel.ro, "aw"
	.p2align 3
	.globl	held
held:	.quad	inner
	.endif
	.section .note.GNU-stack, "", @progbits
