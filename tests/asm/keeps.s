# A callee that seems to overwrite registers, and gives them back.  Behind the call the caller jumps by the
# table's address that one of them has still, which no compiler does that knows the convention only.

	.include "tests/asm/local.inc"

	.text
begin switching
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	table(%rip), %rcx
	movslq	(%rcx,%rdi,4), %rax
	add	%rcx, %rax
	jmp	*%rax
10:	mov	%esi, %edi
	call	keeps
	.ifndef	FORGETS
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	movslq	(%rcx,%rdi,4), %rax
	add	%rcx, %rax
	jmp	*%rax
	.endif
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
end switching

begin keeps
	push	%rcx
	.cfi_adjust_cfa_offset 8
	xor	%ecx, %ecx
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	ret
end keeps

	.section .rodata
	.p2align 2
table:	.long	10b - table, 11b - table, 12b - table, 13b - table
	.section .note.GNU-stack, "", @progbits
