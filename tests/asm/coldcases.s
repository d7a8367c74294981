# The cold part of a function has an FDE of its own that begins like a function's.  A branch leads to its
# start; to what stands behind its first trap leads a table only, amid entries that lead into the hot part.
# The comparison admits indices up to MOST; none is made if that is 0.  With STAY the hot part
# stays where it is, and its table with it; with NEAR the place is where an entry jump would be.
# With ALSO there is a second jump by the table, without a comparison, with ANYWHERE one that may go anywhere;
# with OTHER another table begins among the entries that are admitted.
	.ifndef	MOST
	.set	MOST, 5
	.endif

	.include "tests/asm/hidden.inc"

	.text
begin hot
	.ifdef	STAY
	call	5f
5:	pop	%rcx
	.endif
	.ifdef	ALSO
	test	%edx, %edx
	js	6f
	.endif
	.ifdef	ANYWHERE
	test	%edx, %edx
	js	7f
	.endif
	.if	MOST
	cmpb	$MOST, 8(%rdi)
	ja	L_cold
	.else
	test	%esi, %esi
	je	L_cold
	.endif
	movzbl	8(%rdi), %eax
	lea	L_cases(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	mov	$1, %eax
	ret
2:	mov	$2, %eax
	ret
	.ifdef	ALSO
6:	mov	16(%rdi), %eax
	lea	L_cases(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.endif
	.ifdef	ANYWHERE
7:	push	%rbx
	.cfi_adjust_cfa_offset 8
	jmp	*%rsi
	.endif
end hot

	.ifdef	OTHER
begin other
	cmp	$1, %rdi
	ja	8f
	lea	L_cases+16(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
8:	mov	$5, %eax
	ret
end other
	.endif

begin cold
L_cold:
	.ifndef	NEAR
	mov	$3, %esi
	mov	$0x12345678, %edi
	.endif
	ud2
3:	mov	$4, %esi
	mov	$0x12345678, %edi
	ud2
end cold

	.section .rodata
	.p2align 2
L_cases:
	.long	1b - L_cases, 2b - L_cases, 1b - L_cases, 3b - L_cases, 2b - L_cases
	.long	3b - L_cases, 0x7ffffff0
