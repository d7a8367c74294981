# A function whose frame changes behind 1, 100, 1,000 and 70,000 bytes more: unwind tables have a form
# of its own for each of these distances.

	.text
	.globl	far
	.hidden	far
	.type	far, @function
far:
	.cfi_startproc
	.nops	1
	.cfi_def_cfa_offset 16
	.nops	100
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24		# two changes at one place
	.nops	1000
	.cfi_def_cfa_offset 32
	.nops	70000
	.cfi_def_cfa_offset 40
	.nops	100000
	ret
	.cfi_endproc
	.size	far, .-far
	.section .note.GNU-stack,"",@progbits
