# A library that calls functions of libc's, and one of its own that others may replace.

	.text
	.globl	own
	.type	own, @function
own:	.cfi_startproc
	call	memcpy@PLT
	call	own@PLT
	call	abort@PLT
	.cfi_endproc
	.size	own, .-own
	.section .note.GNU-stack, "", @progbits
