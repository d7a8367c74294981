# Symbols that are exported and imported, all with versions, and two hash tables to find them by.
	.text
	.globl	one, two, three
	.type	one, @function
one:	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	puts@PLT
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	one, . - one

	.type	two, @function
two:	.cfi_startproc
	jmp	malloc@PLT
	.cfi_endproc
	.size	two, . - two

	.type	three, @function
three:	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	three, . - three

	.data
	.quad	two, free
	.section .note.GNU-stack, "", @progbits
