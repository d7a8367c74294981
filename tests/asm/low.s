# A program without room for more program headers: right behind them stands something that has to stay.

	.section .early, "a"
	.asciz	"here"

	.text
	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	.cfi_undefined rip
	call	one
	mov	%eax, %edi
	mov	$231, %eax
	syscall
	ud2
	.cfi_endproc
	.size	_start, .-_start
	.p2align 4
	.type	one, @function
one:	.cfi_startproc
	test	%edi, %edi
	je	1f
	lea	1(%rdi), %eax
	ret
1:	mov	$2, %eax
	ret
	.cfi_endproc
	.size	one, .-one
	.section .note.GNU-stack, "", @progbits
