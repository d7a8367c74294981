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

	# A dispatch with a bound, and behind its cases one without.  `register` is pushed between the first
	# load and its jump; what r10 has at the second load, the address of the first table or something
	# else, `then` makes.
	.macro two name, first, second, then, register
begin \name
	cmp	$3, %edi
	ja	18f
	mov	%edi, %edi
	lea	\first(%rip), %r10
	movslq	(%r10,%rdi,4), %rax
	.ifnb	\register
	push	\register
	.cfi_adjust_cfa_offset 8
	.endif
	add	%r10, %rax
	jmp	*%rax
10:	mov	$10, %ecx
11:	mov	$11, %edx
12:	mov	$12, %r8d
13:	mov	$13, %r9d
	\then
	lea	\second(%rip), %rdx
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
14:	mov	$14, %ecx
15:	mov	$15, %edx
	.ifnb	\register
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	.endif
18:	xor	%eax, %eax
	ret
	table	\first
	.section .rodata
	.p2align 2
\second:
	.long	14b-\second, 15b-\second, 0x7ffffff0
	.text
end \name
	.endm

	two	behind_another, T_first, T_second, "mov %esi, %r10d"		# will be %r9d
	two	beside_another, T_kept, T_other, "mov %esi, %r9d"
	two	pushes, T_pushes, T_pops, "mov %esi, %r10d", %rcx		# will be %rax
	two	pushes_an_entry, T_pushed, T_popped, "mov %esi, %r10d", %rax

	# Entries of a table whose length nothing shows may be distances from themselves, and with them the
	# word behind: it leads to a label, so the function stays.
begin beside_words
	lea	T_words(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	mov	$10, %ecx
	.fill	80, 1, 0x90
	.rept	6
	movabs	$0x1122334455667788, %r8
	.endr
	xor	%eax, %eax
	ret
13:	mov	$13, %r9d
	xor	%eax, %eax
	ret
	.section .rodata
	.p2align 2
T_words: .rept	12
	.long	10b - T_words
	.endr
	.long	13b - .
	.long	0x7ffffff0
	.text
end beside_words
