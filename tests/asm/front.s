# Note sections with gaps in front of, between and behind them that belong to no section.  When the
# notes are moved out of the way of longer program headers, the gaps move with them.

	.macro	note name, align, bytes
	.section .note.\name, "a", @note
	.p2align \align
	.long	6, \bytes, 1
	.asciz	"Morph"
	.p2align 2
	.fill	\bytes, 1, 0x5a
	.endm

	note	wide, 5, 4
	note	wider, 6, 8

	.text
	.globl	one
	.type	one, @function
	.p2align 4
one:	.cfi_startproc
	test	%edi, %edi
	je	1f
	lea	1(%rdi), %eax
	ret
1:	mov	$2, %eax
	ret
	.cfi_endproc
	.size	one, .-one
