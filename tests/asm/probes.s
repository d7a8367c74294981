# Static probe points (SystemTap's): a NOP in the middle of a function and a note that has its address.
# `first` and `second` have one each; test_probenotes.c damages the notes of a generation.
	.macro	probe name
990:	nop
	.pushsection .note.stapsdt, "", "note"
	.balign	4
	.4byte	992f - 991f, 994f - 993f, 3
991:	.asciz	"stapsdt"
992:	.balign	4
993:	.8byte	990b, _.stapsdt.base, 0
	.asciz	"morph"
	.asciz	"\name"
	.asciz	"-4@%eax"
994:	.balign	4
	.popsection
	.endm

	.macro	function name
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	lea	1(%rdi,%rdi,2), %eax
	imul	$7, %eax, %eax
	test	%esi, %esi
	je	1f
	xor	%edi, %eax
	probe	\name
	add	$3, %eax
1:	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	function first
	function second

	.section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
	.weak	_.stapsdt.base
	.hidden	_.stapsdt.base
_.stapsdt.base:
	.space	1
	.size	_.stapsdt.base, 1
	.section .note.GNU-stack, "", @progbits
