# A static program whose start-up code would relocate by a section that no dynamic entry leads to.

	.text
	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	.cfi_undefined rip
	call	chosen
	mov	%eax, %edi
	mov	$231, %eax
	syscall
	ud2
	.cfi_endproc
	.size	_start, .-_start
	.p2align 4
	.type	chosen, @gnu_indirect_function
chosen:	.cfi_startproc
	lea	one(%rip), %rax
	ret
	.cfi_endproc
	.size	chosen, .-chosen
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
