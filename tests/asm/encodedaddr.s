# An unwind rule with an expression of six bytes, the first of which is an undefined operation (0xf2);
# tests put other operations there.  And functions too small to be moved: one with a CIE of its own,
# two with rules that tests change, one with an unknown operation.

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

	.globl	stays
	.type	stays, @function
stays:
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 0x70
	ret
	.cfi_endproc
	.size	stays, .-stays

	.globl	stays_too
	.type	stays_too, @function
stays_too:
	.cfi_startproc
	nop
	.cfi_escape 0x0c, 7, 0x60
	ret
	.cfi_endproc
	.size	stays_too, .-stays_too

	.globl	odd
	.type	odd, @function
odd:
	.cfi_startproc
	.cfi_escape 0x2d
	ret
	.cfi_endproc
	.size	odd, .-odd

	.section .note.GNU-stack, "", @progbits
