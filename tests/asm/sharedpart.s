# Two functions that both jump to one fragment.  One of them has an indirect jump to an unknown place;
# the other forms the address of a function that data holds as well.

	.text
	.globl	forms
	.type	forms, @function
forms:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	lea	held(%rip), %rax
	cmp	$3, %edi
	ja	shared
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	forms, .-forms

	.globl	jumps
	.type	jumps, @function
jumps:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	cmp	$3, %edi
	ja	shared
	jmp	*%rsi
	.cfi_endproc
	.size	jumps, .-jumps

	.type	held, @function
	.p2align 4
held:
	.cfi_startproc
	lea	1(%rdi), %rax
	ret
	.cfi_endproc
	.size	held, .-held

	.type	shared, @function
shared:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	0, %eax
	ud2
	.cfi_endproc
	.size	shared, .-shared

	.section .data.rel.ro, "aw"
	.quad	held
