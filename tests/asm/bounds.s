# Dispatches through tables of four entries.  Behind each stands a word that leads into another
# function, and nothing says that it is no entry: only the code shows how long the table is.
# Built as a shared library; test_bounds.c changes the instructions that show it.

	.macro begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	mov	$1, %r9d		# the entry jump is put here
	.endm

	.macro end name
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.section .rodata
	.p2align 2
T_\name: .long	10b-T_\name, 11b-T_\name, 12b-T_\name, 13b-T_\name, L_foreign-T_\name
	.long	0x7ffffff0
	.text
	.endm

	.macro dispatch t, index=%rdi
	lea	T_\t(%rip), %rdx
	movslq	(%rdx,\index,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.endm

	.text
begin plain
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch plain
end plain

begin below
	cmp	$4, %edi
	jae	19f
	mov	%edi, %edi
	dispatch below
end below

# the comparison is of what the index was copied from
begin source
	mov	%edi, %ecx
	cmp	$3, %edi
	ja	19f
	dispatch source, %rcx
end source

# of a copy of the index
begin copy
	mov	%edi, %ecx
	cmp	$3, %ecx
	ja	19f
	mov	%edi, %esi
	dispatch copy, %rsi
end copy

begin byte
	movzbl	%dil, %eax
	cmp	$3, %al
	ja	19f
	dispatch byte, %rax
end byte

begin sign
	cmp	$3, %edi
	ja	19f
	movslq	%edi, %rdi
	dispatch sign
end sign

begin memory
	cmpl	$3, 8(%rsi)
	ja	19f
	mov	8(%rsi), %eax
	dispatch memory, %rax
end memory

begin stored
	cmpl	$3, 8(%rsi)
	ja	19f
	movl	$7, 16(%rsi)
	mov	8(%rsi), %eax
	dispatch stored, %rax
end stored

# as without optimization
begin frame
	mov	%edi, -4(%rsp)
	cmpl	$3, -4(%rsp)
	ja	19f
	mov	-4(%rsp), %eax
	lea	0(,%rax,4), %rdx
	lea	T_frame(%rip), %rax
	mov	(%rdx,%rax), %eax
	cltq
	lea	T_frame(%rip), %rdx
	add	%rdx, %rax
	jmp	*%rax
end frame

begin mask
	and	$3, %edi
	dispatch mask
end mask

begin shift
	shr	$30, %edi
	dispatch shift
end shift

# one of two ways has a comparison for equality
begin equal
	cmp	$3, %edi
	jb	1f
	jne	19f
1:	mov	%edi, %edi
	dispatch equal
end equal

# the nearer one of two comparisons admits more
begin twice
	cmp	$3, %edi
	ja	19f
	cmp	$100, %edi
	ja	19f
	mov	%edi, %edi
	dispatch twice
end twice

# round and round
begin loop
	mov	%edi, %ecx
	and	$3, %ecx
1:	dec	%esi
	js	19f
	test	%esi, %r8d
	jne	1b
	dispatch loop, %rcx
end loop

# a second way to the dispatch; test_bounds.c lets it have a comparison of its own, or not
begin second
	test	%esi, %esi
	je	1f
	cmp	$3, %edi
	ja	19f
	jmp	2f
1:	cmp	$2, %edi
	ja	19f
2:	mov	%edi, %edi
	dispatch second
end second

# a constant, or what is bounded
begin constant
	cmp	$3, %edi
	mov	$2, %ecx
	ja	1f
	mov	%edi, %ecx
1:	dispatch constant, %rcx
end constant

# the two highest bits of a byte
begin highest
	movzbl	(%rsi), %ecx
	shr	$6, %ecx
	dispatch highest, %rcx
end highest

# the four highest, of which what is left of the byte is compared
begin nibble
	movzbl	(%rsi), %ecx
	shr	$4, %rcx
	cmp	$3, %cl
	ja	19f
	dispatch nibble, %rcx
end nibble

# the low byte of what a shift has left
begin partly
	mov	(%rsi), %ecx
	shr	$30, %ecx
	movzbl	%cl, %ecx
	dispatch partly, %rcx
end partly

# the highest byte of a register
begin top
	mov	%rsi, %rcx
	shr	$56, %rcx
	cmp	$3, %cl
	ja	19f
	dispatch top, %rcx
end top

# one of two, whichever is compared, of which nothing is left but four bits
begin chosen
	and	$15, %eax
	and	$15, %ecx
	test	%esi, %esi
	cmovne	%rcx, %rax
	cmp	$3, %eax
	ja	19f
	dispatch chosen, %rax
end chosen

# more comparisons of other things in front of it than compilers make of a small function
begin crowd
	movzwl	(%rdi), %ecx
	cmp	$200, %ecx
	je	1f
	nop
1:	cmp	$9, %esi
	je	2f
	nop
2:	cmp	$9, %edx
	je	3f
	nop
3:	cmp	$9, %r8d
	je	4f
	nop
4:	cmp	$9, %r10d
	je	5f
	nop
5:	cmp	$3, %cx
	ja	19f
	dispatch crowd, %rcx
end crowd

begin foreign
	mov	$1, %eax
L_foreign:
	mov	$2, %eax
	mov	$3, %eax
	ret
	.cfi_endproc
	.size	foreign, .-foreign
	.section .note.GNU-stack, "", @progbits
