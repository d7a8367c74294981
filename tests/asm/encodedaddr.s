# An unwind rule with an expression of six bytes of which the first is an operation that nobody has given a
# meaning (0xf2): tests put others there.  And a function too small to be moved, with a CIE of its own.

	.text
	.globl	place
	.type	place, @function
place:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x10, 3, 6, 0xf2, 0x1b, 4, 0, 0, 0
	mov	%edi, %eax
	test	%edi, %edi
	je	1f
	inc	%eax
1:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	place, .-place

	.globl	tiny
	.type	tiny, @function
tiny:
	.cfi_startproc
	.cfi_signal_frame
	ret
	.cfi_endproc
	.size	tiny, .-tiny

	.section .note.GNU-stack, "", @progbits
