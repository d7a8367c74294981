# Jump tables with nothing that bounds the index, as compilers leave a switch over all that can be.  So
# the images of loads compare it, and go on in the original if it is none.  test_guards.c damages them.

	.include "tests/asm/local.inc"
	.macro cases
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	xor	%eax, %eax
	ret
	.endm
	.macro table t
	.section .rodata
	.p2align 2
\t:	.long	10b-\t, 11b-\t, 12b-\t, 13b-\t, 0x7ffffff0
	.text
	.endm

	.text
begin plain
	lea	T_plain(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_plain
end plain

begin extended
	lea	T_extended(%rip), %rdx
	mov	(%rdx,%r9,4), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_extended
end extended

	# More entries than 127.
begin many
	lea	T_many(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	.section .rodata
	.p2align 2
T_many:	.rept	50
	.long	10b-T_many, 11b-T_many, 12b-T_many, 13b-T_many
	.endr
	.long	0x7ffffff0
	.text
end many

begin with_a_byte
	lea	T_byte(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	movzbl	%cl, %ecx			# will be setb %cl
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_byte
end with_a_byte

	# The addition leaves the flags as they are.
begin flags_are_read
	cmp	%esi, %edi
	lea	T_flags(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	lea	(%rdx,%rax), %rax
	jmp	*%rax
10:	sete	%cl
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	ret
	table	T_flags
end flags_are_read

	# The index is in bytes.
begin scaled
	lea	T_scaled(%rip), %rdx
	shl	$2, %rdi
	mov	(%rdx,%rdi), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_scaled
end scaled

	# At the second load there is nothing of the first table any more.
begin behind_another
	cmp	$3, %edi
	ja	18f
	mov	%edi, %edi
	lea	T_first(%rip), %r10
	movslq	(%r10,%rdi,4), %rax
	add	%r10, %rax
	jmp	*%rax
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	mov	%esi, %r10d			# will be %r9d
	lea	T_second(%rip), %rdx
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
14:	mov	$14, %ecx
15:	mov	$15, %edx
18:	xor	%eax, %eax
	ret
	table	T_first
	.section .rodata
	.p2align 2
T_second:
	.long	14b-T_second, 15b-T_second, 0x7ffffff0
	.text
end behind_another

	# What is pushed is the same.
begin pushes
	cmp	$3, %edi
	ja	18f
	mov	%edi, %edi
	lea	T_pushes(%rip), %r10
	movslq	(%r10,%rdi,4), %rax
	push	%rcx				# will be %rax
	.cfi_adjust_cfa_offset 8
	add	%r10, %rax
	jmp	*%rax
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	mov	%esi, %r10d
	lea	T_pops(%rip), %rdx
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
14:	mov	$14, %ecx
15:	mov	$15, %edx
	pop	%rcx
	.cfi_adjust_cfa_offset -8
18:	xor	%eax, %eax
	ret
	table	T_pushes
	.section .rodata
	.p2align 2
T_pops:	.long	14b-T_pops, 15b-T_pops, 0x7ffffff0
	.text
end pushes

	# There it is not.
begin pushes_an_entry
	cmp	$3, %edi
	ja	18f
	mov	%edi, %edi
	lea	T_pushed(%rip), %r10
	movslq	(%r10,%rdi,4), %rax
	push	%rax
	.cfi_adjust_cfa_offset 8
	add	%r10, %rax
	jmp	*%rax
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	mov	%esi, %r10d
	lea	T_popped(%rip), %rdx
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
14:	mov	$14, %ecx
15:	mov	$15, %edx
	pop	%rcx
	.cfi_adjust_cfa_offset -8
18:	xor	%eax, %eax
	ret
	table	T_pushed
	.section .rodata
	.p2align 2
T_popped:
	.long	14b-T_popped, 15b-T_popped, 0x7ffffff0
	.text
end pushes_an_entry

	# There it is.
begin beside_another
	cmp	$3, %edi
	ja	18f
	mov	%edi, %edi
	lea	T_kept(%rip), %r10
	movslq	(%r10,%rdi,4), %rax
	add	%r10, %rax
	jmp	*%rax
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	lea	T_other(%rip), %rdx
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
14:	mov	$14, %ecx
15:	mov	$15, %edx
18:	xor	%eax, %eax
	ret
	table	T_kept
	.section .rodata
	.p2align 2
T_other:
	.long	14b-T_other, 15b-T_other, 0x7ffffff0
	.text
end beside_another
