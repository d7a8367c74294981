# A static program whose functions jump to a stub like those of .plt by gold, with an FDE whose CFA is an
# expression.  The slot has what `choose` returns, for the start-up code relocates it so.  With PASSED the
# register that the callee gets as an argument still has the address of the jump table, which nothing has
# used; with OWN the slot is one of the program's own, of which nothing is known.

	.include "tests/asm/hidden.inc"

	.text
	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	.cfi_undefined rip
	mov	$2, %edi
	call	switching
	mov	%eax, %edi
	mov	$231, %eax
	syscall
	ud2
	.cfi_endproc
	.size	_start, .-_start

	.p2align 4
	.type	chosen, @gnu_indirect_function
chosen:	.cfi_startproc
	lea	one(%rip), %rax
	ret
	.cfi_endproc
	.size	chosen, .-chosen
begin one
	mov	$7, %eax
	ret
end one

	.section .plt.sec, "ax", @progbits
	.p2align 4
	.cfi_startproc
	.cfi_escape 0x0f, 0x02, 0x77, 0x08	# DW_CFA_def_cfa_expression: DW_OP_breg7 8
	ret
	.p2align 4
stub:
	.ifdef	OWN
	jmp	*own(%rip)
	.else
	.byte	0xff, 0x25		# jmp *chosen@GOTPCREL(%rip), which the linker would relax
	.long	chosen@GOTPCREL - 4
	.endif
	.cfi_endproc

	.text
begin switching
	cmp	$3, %edi
	ja	9f
	mov	%edi, %edi
	lea	L_table(%rip), %rdx
	.ifdef	PASSED
	test	%esi, %esi
	jne	stub
	.endif
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	mov	$1, %eax
	ret
2:	mov	$2, %eax
	ret
3:	jmp	stub
9:	mov	$9, %eax
	ret
end switching

	.section .rodata
	.p2align 2
L_table:
	.long	1b - L_table, 2b - L_table, 3b - L_table, 1b - L_table
	.data
	.p2align 3
own:	.quad	one
	.section .note.GNU-stack, "", @progbits
