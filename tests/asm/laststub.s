# A call of a stub with which its segment ends, since the text is aligned to more than a page: one of
# 8 bytes, as functions get whose address is taken, too.

	.text
	.p2align 15
	.fill	16, 1, 0xcc
	.globl	calls
	.type	calls, @function
calls:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	other@GOTPCREL(%rip), %rbx
	call	other@plt
	mov	%rbx, %rax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	calls, .-calls

	.section .note.GNU-stack, "", @progbits
