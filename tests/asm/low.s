# A program at a fixed address that has no room for more program headers if .early stands right behind
# them, because .early cannot be moved.  And one that has the address of a label as a number.

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
	.p2align 4
	.type	formed, @function
formed:	.cfi_startproc
	mov	%edi, %eax
	add	%eax, %eax
.Linside:
	inc	%eax
	ret
	.cfi_endproc
	.size	formed, .-formed
	.p2align 4
	.type	forms, @function
forms:	.cfi_startproc
	mov	$.Linside, %eax
	ret
	.cfi_endproc
	.size	forms, .-forms
	.section .note.GNU-stack, "", @progbits
