# Jump tables of absolute addresses, as in programs that are not position-independent.

	.macro cases
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
19:	xor	%eax, %eax
	ret
	.endm
	.include "tests/asm/global.inc"
	.macro table t
	.section .rodata
	.p2align 3
\t:	.quad	10b, 11b, 11b, 0
	.text
	.endm

	.text
begin _start
	cmp	$2, %edi
	ja	19f
	mov	%edi, %edi
	jmp	*T_direct(,%rdi,8)
	cases
	table	T_direct
end _start

begin loaded
	cmp	$2, %edi
	ja	19f
	mov	%edi, %edi
	mov	T_loaded(,%rdi,8), %rax
	jmp	*%rax
	cases
	table	T_loaded
end loaded

begin unbounded
	jmp	*T_unbounded(,%rdi,8)
	cases
	table	T_unbounded
end unbounded

	# Only of the second one a comparison tells how long it is.
begin a_bounded_one_near
	test	%esi, %esi
	je	1f
	jmp	*T_first(,%rdi,8)
1:	cmp	$2, %edi
	ja	19f
	mov	%edi, %edi
	jmp	*T_bounded(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_first:
	.quad	10b, 11b, 0
T_bounded:
	.quad	11b, 10b, 19b, 0
	.text
end a_bounded_one_near

begin two_without_a_bound
	test	%esi, %esi
	je	1f
	jmp	*T_whole(,%rdi,8)
1:	jmp	*T_whole+16(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_whole:
	.quad	10b, 11b, 11b, 19b, 0
	.text
end two_without_a_bound

begin in_doubt
	jmp	*T_doubt(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_doubt:
	.quad	10b, 11b, 11b, L_foreign, 0
	.text
end in_doubt

	# So is the last word of a section.
begin in_doubt_at_the_end
	jmp	*T_doubt_end(,%rdi,8)
	cases
	.section .words.absolute, "a"
	.p2align 3
T_doubt_end:
	.quad	10b, 11b, 11b, L_foreign
	.text
end in_doubt_at_the_end

	# The comparison tells that the word in doubt is an entry.
begin compare_tells
	cmp	$3, %rdi
	ja	19f
	jmp	*T_tells(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_tells:
	.quad	10b, 11b, L_foreign, 11b, 0
	.text
end compare_tells

	# One of the words that the comparison admits cannot be an entry.
begin compare_too_far
	cmp	$4, %rdi
	ja	19f
	jmp	*T_far(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_far:
	.quad	10b, 11b, L_foreign, 11b, 0
	.text
end compare_too_far

	# A new table for the first ends where the second begins, although its words go on.
begin two_in_a_row
	test	%esi, %esi
	je	1f
	cmp	$1, %edi
	ja	19f
	mov	%edi, %edi
	jmp	*T_row1(,%rdi,8)
1:	cmp	$2, %edi
	ja	19f
	mov	%edi, %edi
	jmp	*T_row2(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_row1:	.quad	10b, 11b
T_row2:	.quad	11b, 10b, 19b, 0
	.text
end two_in_a_row

	# The comparison reaches beyond where the second begins: so does the table.
begin two_that_overlap
	test	%esi, %esi
	je	1f
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	jmp	*T_over1(,%rdi,8)
1:	cmp	$1, %edi
	ja	19f
	mov	%edi, %edi
	jmp	*T_over1+16(,%rdi,8)
	cases
	.section .rodata
	.p2align 3
T_over1:
	.quad	10b, 11b, 11b, 19b, 0
	.text
end two_that_overlap

	# Behind where another table seems to begin, entries lead to a larger index.
begin seems_cut
	cmp	$5, %edi
	ja	19f
	mov	%edi, %edi
	test	%edx, %edx
	je	1f
	jmp	*T_seems_cut(,%rdi,8)
1:	mov	T_seems_cut+32(,%rdi,8), %rax
	ret
10:	cmp	$1, %esi
	ja	19f
	mov	%esi, %esi
2:	jmp	*T_inner(,%rsi,8)
14:	mov	$3, %esi
	jmp	2b
11:	mov	$11, %eax
	ret
19:	xor	%eax, %eax
	ret
	.section .rodata
	.p2align 3
T_seems_cut:
	.quad	10b, 11b, 11b, 11b, 14b, 14b, 0
T_inner:
	.quad	11b, 19b, 11b, 19b, 0
	.text
end seems_cut

	# Behind the call that does not come back is dead code, which does not say what rdx is at 2; to
	# the last dispatch leads a word alone, and so nothing in the image.
begin dead_code
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	T_dead(%rip), %rdx
	mov	%rdx, 8(%rsi)
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
2:	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	xor	%eax, %eax
	jmp	*%rcx
11:	mov	$11, %eax
	pop	%rbx
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_restore_state
19:	call	stops
	xor	%edx, %edx
	jmp	2b
L_by_word:
	cmp	$1, %esi
	ja	11b
	mov	%esi, %esi
	jmp	*T_by_word(,%rsi,8)
	.section .rodata
	.p2align 3
	.quad	L_by_word
T_by_word:
	.quad	10b, 11b, 0
T_dead:
	.long	10b-T_dead, 11b-T_dead, 11b-T_dead, 10b-T_dead, 0x7ffffff0
	.text
end dead_code
begin stops
	mov	$60, %eax
1:	hlt
	jmp	1b
end stops

begin another
	mov	$1, %eax
L_foreign:
	ret
end another

	.section .note.GNU-stack, "", @progbits
