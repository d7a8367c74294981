# What stands behind traps.

	.include "tests/asm/hidden.inc"

	.text
# A message, as the distance from itself, and a number: all of that is code, too.
begin told
	test	%edi, %edi
	jne	1f
	ud2
	.byte	0x74, 0x02, 0x90, 0x90
1:	mov	$1, %eax
	ret
end told

# A number that is the first byte of a branch.
begin numbered
	mov	$2, %eax
	int3
	.byte	0x74
	.byte	0x00
	add	%edi, %eax
	ret
end numbered

# A NOP that is no padding: what follows is not aligned.
begin nopped
	test	%edi, %edi
	jne	1f
	mov	$3, %eax
	ud2
	.byte	0x90
1:	mov	$13, %eax
	ret
end nopped

# Traps behind a trap, then what something leads to.
begin trapped
	test	%edi, %edi
	jne	1f
	int3
	ud2
	ud2
1:	mov	$4, %eax
	ret
end trapped

# The NOP says what the trap means.
begin meaning
	test	%edi, %edi
	jne	1f
	int3
	nopl	0x45(%rax)
1:	mov	$14, %eax
	ret
end meaning

# A jump as assertions end with, and what could be the start of one.
begin asserting
	mov	$0x12345678, %eax
	test	%edi, %edi
	jne	2f
1:	mov	$15, %eax
	ret
2:	test	%esi, %esi
	jne	3f
	int3
	jmp	1b
3:	mov	$16, %eax
	ret
end asserting
begin seeming
	test	%edi, %edi
	je	2f
	mov	$17, %eax
	int3
	.byte	0xeb
1:	add	%edi, %eax
2:	ret
end seeming

begin prefixed
	mov	$0x12345678, %eax
	test	%edi, %edi
	jne	2f
1:	mov	$18, %eax
	ret
2:	test	%esi, %esi
	jne	3f
	int3
	.byte	0x48
	jmp	1b
3:	mov	$19, %eax
	ret
end prefixed

# Padding, then the same.
begin padded
	test	%edi, %edi
	jne	1f
	mov	$0x12345678, %eax
	ud2
	.p2align 4
1:	mov	$5, %eax
	ret
end padded

# Nothing is behind it.
begin last
	test	%edi, %edi
	jne	1f
	mov	$6, %eax
	ret
1:	ud2
	nop
end last

# It may jump there.
begin jumping
	mov	$7, %eax
	jmp	*%rdi
	ud2
	mov	$8, %eax
	ret
end jumping

# A table leads there.
begin switching
	cmp	$1, %edi
	ja	9f
	mov	%edi, %edi
	lea	L_table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	ud2
2:	mov	$9, %eax
	ret
9:	mov	$10, %eax
	ret
end switching
	.section .rodata
	.p2align 2
L_table:
	.long	1b - L_table, 2b - L_table
