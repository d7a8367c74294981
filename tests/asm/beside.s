# Jump tables whose addresses the code also stores.  So images form the original's address, and their
# loads from the table get a displacement instead.  test_shift.c damages the code that shows which
# address a load reads from.

	.include "tests/asm/local.inc"
	.macro cases
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
19:	xor	%eax, %eax
	.endm
	.macro table t
	.section .rodata
	.p2align 2
\t:	.long	10b-\t, 11b-\t, 12b-\t, 13b-\t, 0x7ffffff0
	.text
	.endm

	.text
begin leaf
	mov	%edi, %eax
	ret
end leaf

begin plain
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_plain(%rip), %rdx
	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	ret
	table	T_plain
end plain

begin around
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	test	%ecx, %ecx
	je	1f
	cmp	$9, %ecx
	je	3f				# will be one to 2f
	lea	T_around(%rip), %rdx
	jmp	2f
3:	mov	%ecx, (%rsi)
1:	lea	T_around(%rip), %rdx
2:
	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	ret
	table	T_around
end around

begin over_a_call
	mov	$0, %eax
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	lea	T_over(%rip), %rbx		# will be %rcx
	mov	%rbx, (%rsi)
	call	leaf
	cmp	$3, %eax
	ja	19f
	mov	%eax, %eax
	movslq	(%rbx,%rax,4), %rax		# likewise
	add	%rbx, %rax			# likewise
	jmp	*%rax
	cases
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	table	T_over
end over_a_call

begin held
	movabs	$0, %r11			# an entry jump lies in it
	test	%ecx, %ecx
	je	1f
	lea	L_labels(%rip), %rcx
	jmp	*(%rcx,%rax,8)
1:	cmp	$3, %edi
	ja	19f
9:	lea	T_held(%rip), %rdx
	mov	%rdx, (%rsi)
	and	$3, %edi
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
8:	ret
	table	T_held
end held

	.section .data.rel.ro, "aw"
	.p2align 3
L_labels:
	.quad	9b, 8b				# the first will be that of the load
