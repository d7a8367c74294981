# A library with functions that others promise never to return.

	.text
	.globl	err
	.type	err, @function
err:	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	err, .-err
	.globl	abort
	.type	abort, @function
abort:	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	abort, .-abort
	.section .note.GNU-stack, "", @progbits
