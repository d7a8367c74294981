# Instructions in the middle of functions, at addresses that are round numbers and at such that are
# none.  NAME is the function, use_NAME compares something with the address, which is BEFORE and
# MORE bytes behind where code.NAME is linked to.

	.set	BEFORE, 16

	.macro begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro rounded name more=0
	.section code.\name, "ax"
begin \name
	.fill	BEFORE + \more, 1, 0x90
L_\name:
	mov	(%rdi), %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.text
begin use_\name
	cmp	$L_\name, %rdi
	sete	%al
	ret
	.cfi_endproc
	.size	use_\name, .-use_\name
	.endm

	.text
	.globl	_start
_start:
rounded low_half 15		# 0x47000f: the lower half is less than 16
rounded low_half_16 16		# 0x4b0010: it is not
rounded mask			# 0x3fffff: all bits below one
rounded flags			# 0x480010: three bits
rounded flags_4			# 0x4c0010: four
	.section .note.GNU-stack, "", @progbits
