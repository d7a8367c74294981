# A library with a function err() that comes back.

	.text
	.globl	err
	.type	err, @function
err:	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	err, .-err
	.section .note.GNU-stack, "", @progbits
