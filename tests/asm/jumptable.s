# Dispatches through jump tables, each in a function of its own.  Built as a shared library;
# test_jumptable.c has what must be found in each.

	.macro begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm

	# The cases and the end of a function; every case is three bytes at least.
	.macro cases
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
	.endm

	.macro end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	# Four entries, and a word that cannot be one.
	.macro table t
	.section .rodata
	.p2align 2
\t:	.long	10b-\t, 11b-\t, 12b-\t, 13b-\t, 0x7ffffff0
	.text
	.endm

	# What stands behind it leads into another function, and nothing says that it is no entry.
	.macro open_table t
	.section .rodata
	.p2align 2
\t:	.long	10b-\t, 11b-\t, 12b-\t, 13b-\t, L_foreign-\t, 0x7ffffff0
	.text
	.endm

	.macro dispatch t, index=%rdi
	lea	\t(%rip), %rdx
	movslq	(%rdx,\index,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.endm

	.text
begin pic
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_pic
	cases
	table	T_pic
end pic

begin pic_notrack
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_pic_notrack(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	notrack jmp *%rax
	cases
	table	T_pic_notrack
end pic_notrack

begin sum_in_the_base
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_sum(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rax, %rdx
	jmp	*%rdx
	cases
	table	T_sum
end sum_in_the_base

begin hoisted_across_calls
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	T_hoisted(%rip), %rbx
1:	call	pic
	cmp	$3, %eax
	ja	19f
	mov	%eax, %eax
	movslq	(%rbx,%rax,4), %rax
	add	%rbx, %rax
	jmp	*%rax
10:	jmp	1b
11:	call	sum_in_the_base
	jmp	1b
12:	mov	$1, %eax
	jmp	1b
13:	mov	$2, %ecx
	jmp	1b
19:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	table	T_hoisted
end hoisted_across_calls

begin two_share_a_base
	lea	T_two(%rip), %rdx
	cmp	$1, %edi
	ja	1f
	mov	%edi, %edi
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	cmp	$3, %esi
	ja	19f
	mov	%esi, %esi
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_two
end two_share_a_base

begin one_behind_the_other
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_outer
10:	cmp	$3, %esi
	ja	19f
	mov	%esi, %esi
	dispatch T_inner, %rsi
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	ret
	table	T_outer
	table	T_inner
end one_behind_the_other

begin compare_on_a_copy
	mov	%edi, %eax
	cmp	$3, %edi
	ja	19f
	dispatch T_copy, %rax
	cases
	table	T_copy
end compare_on_a_copy

begin compare_on_a_byte
	lea	-97(%rdi), %eax
	cmp	$3, %al
	ja	19f
	movzbl	%al, %eax
	dispatch T_byte, %rax
	cases
	table	T_byte
end compare_on_a_byte

begin compare_then_extend
	cmp	$3, %edi
	ja	19f
	movslq	%edi, %rdi
	dispatch T_extend
	cases
	table	T_extend
end compare_then_extend

begin not_above
	sub	$65, %edi
	cmp	$4, %edi
	jb	1f
	ret
1:	dispatch T_below
	cases
	table	T_below
end not_above

begin mask
	and	$3, %edi
	dispatch T_mask
	cases
	table	T_mask
end mask

begin shift
	shr	$30, %edi
	dispatch T_shift
	cases
	table	T_shift
end shift

begin compare_in_memory
	cmpl	$3, 8(%rsi)
	ja	19f
	mov	8(%rsi), %edi
	dispatch T_memory
	cases
	table	T_memory
end compare_in_memory

begin compare_with_a_bounded_register
	mov	$3, %ecx
	cmp	%rcx, %rdi
	ja	19f
	dispatch T_register
	cases
	table	T_register
end compare_with_a_bounded_register

begin longer_than_its_bound
	cmp	$1, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_longer
	cases
	table	T_longer
end longer_than_its_bound

begin entry_at_the_end
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_end
	cases
20:
	.section .rodata
	.p2align 2
T_end:	.long	10b-T_end, 20b-T_end, 12b-T_end, 20b-T_end, 0x7ffffff0
	.text
end entry_at_the_end

	# Where to jump is computed in front of a loop.
begin target_before_the_loop
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_loop(%rip), %rdx
	movslq	(%rdx,%rdi,4), %r8
	add	%rdx, %r8
1:	test	%esi, %esi
	je	19f
	sub	$1, %esi
	jmp	*%r8
10:	sub	$2, %esi
	jmp	1b
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	ret
	table	T_loop
end target_before_the_loop

begin base_is_copied
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_copied(%rip), %rcx
	mov	%rcx, %rsi
	movslq	(%rcx,%rdi,4), %rcx
	add	%rsi, %rcx
	jmp	*%rcx
	cases
	table	T_copied
end base_is_copied

	# No register keeps the base while the entry is read.
begin base_formed_again
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_again(%rip), %rcx
	movslq	(%rcx,%rdi,4), %rcx
	lea	T_again(%rip), %rdi
	add	%rdi, %rcx
	jmp	*%rcx
	cases
	table	T_again
end base_formed_again

	# It is formed anew in the register that the entry was read through.
begin base_formed_over_itself
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_itself(%rip), %rax
	movslq	(%rax,%rdi,4), %rcx
	lea	T_itself(%rip), %rax
	add	%rax, %rcx
	mov	%rdi, %rax
	jmp	*%rcx
	cases
	table	T_itself
end base_formed_over_itself

	# Nor does that register keep it behind a branch, but a copy does.
begin base_left_in_a_copy
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_left(%rip), %rax
	mov	%rax, %rdx
	movslq	(%rax,%rdi,4), %rcx
	xor	%eax, %eax
	test	%esi, %esi
	je	1f
	inc	%eax
1:	add	%rdx, %rcx
	jmp	*%rcx
	cases
	table	T_left
end base_left_in_a_copy

	# No register keeps it, and somebody jumps in between: images and originals may take turns there.
begin base_formed_elsewhere
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_elsewhere(%rip), %rcx
	movslq	(%rcx,%rdi,4), %rcx
	test	%esi, %esi
	je	1f
	nop
1:	lea	T_elsewhere(%rip), %rdi
	add	%rdi, %rcx
	jmp	*%rcx
	cases
	table	T_elsewhere
end base_formed_elsewhere

	# What remains of the target above the bits that are used is nobody's.
begin parts_of_the_target
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_parts
10:	mov	(%rsi), %ax
	xchg	%ah, %al
	movzwl	%ax, %eax
	ret
11:	test	%esi, %esi
	sete	%al
	movzbl	%al, %eax
	ret
12:	mov	$12, %eax
	ret
13:	push	%rax
	.cfi_adjust_cfa_offset 8
	call	pic
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	ret
19:	xor	%eax, %eax
	ret
	table	T_parts
end parts_of_the_target

	# What aligned the stack is gone when other registers are pushed and popped.
begin target_pushed_and_freed
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_freed
10:	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	call	pic
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	mov	(%rcx), %eax
	add	(%rdx), %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_freed
end target_pushed_and_freed

	# The addition's flags are not those of the comparison that repeats.
begin repeated_compare
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_repeated
10:	mov	$4, %ecx
	lea	L_behind(%rip), %rdi
	repz cmpsb
	seta	%al
	movzbl	%al, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	ret
	table	T_repeated
end repeated_compare

	# What GCC makes without optimization, in its two orders of the operands.
begin scaled_index
	mov	%edi, -4(%rsp)
	cmpl	$3, -4(%rsp)
	ja	19f
	mov	-4(%rsp), %eax
	lea	0(,%rax,4), %rdx
	lea	T_scaled(%rip), %rax
	mov	(%rdx,%rax), %eax
	cltq
	lea	T_scaled(%rip), %rdx
	add	%rdx, %rax
	notrack jmp *%rax
	cases
	table	T_scaled
end scaled_index

begin scaled_in_the_index
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	0(,%rdi,4), %rcx
	lea	T_scaled2(%rip), %rdx
	mov	(%rdx,%rcx), %eax
	movslq	%eax, %rsi
	add	%rdx, %rsi
	jmp	*%rsi
	cases
	table	T_scaled2
end scaled_in_the_index

begin extended_later
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_later(%rip), %rdx
	mov	(%rdx,%rdi,4), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_later
end extended_later

begin pushed_between
	cmpl	$3, (%rdi)
	ja	19f
	push	%rax
	.cfi_adjust_cfa_offset 8
	mov	(%rdi), %eax
	lea	T_pushed(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	mov	$10, %eax
	jmp	18f
11:	mov	$11, %eax
	jmp	18f
12:	mov	$12, %eax
	jmp	18f
13:	mov	$13, %eax
18:	pop	%rdx
	.cfi_adjust_cfa_offset -8
19:	ret
	open_table	T_pushed
end pushed_between

	# The word in front of the second one's table is the last of the first one's, and leads into the
	# second by chance.
begin ends_in_front
	cmp	$1, %edi
	ja	11f
	mov	%edi, %edi
	dispatch T_ends1
10:	mov	$10, %eax
	ret
11:	xor	%eax, %eax
	ret
	.section .rodata
	.p2align 2
T_ends1:
	.long	10b-T_ends1, 11b-T_ends1
	.text
end ends_in_front

	.globl	begins_behind
	.type	begins_behind, @function
begins_behind:			# 3 bytes behind the last case: what leads there by T_ends1 leads 5
	.cfi_startproc		# bytes behind the entry by T_ends2
	push	%rax
	nop
	nop
	nop
	pop	%rax
	dispatch T_ends2
	cases
	.section .rodata
T_ends2:
	.long	10b-T_ends2, 11b-T_ends2, 12b-T_ends2, 13b-T_ends2, 0x7ffffff0
	.text
end begins_behind

	# Two of them are no offset of an entry.
begin scaled_and_more			# the entries are those behind
	cmp	$2, %edi
	ja	19f
	mov	%edi, %edi
	lea	4(,%rdi,4), %rcx
	lea	T_scaled_and_more(%rip), %rdx
	mov	(%rdx,%rcx), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_scaled_and_more
end scaled_and_more

begin sum_and_more			# to the case behind
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_sum_and_more(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	lea	6(%rax,%rdx), %rax
	jmp	*%rax
	cases
	table	T_sum_and_more
end sum_and_more

begin scaled_by_two
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	0(,%rdi,2), %rcx
	lea	T_by_two(%rip), %rdx
	mov	(%rdx,%rcx), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_by_two
end scaled_by_two

	# No index, but the base twice.
begin base_is_the_index
	lea	T_twice(%rip), %rdx
	movslq	(%rdx,%rdx,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_twice
end base_is_the_index

begin base_is_the_index_of_a_word
	lea	T_twice_word(%rip), %rdx
	mov	(%rdx,%rdx,4), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_twice_word
end base_is_the_index_of_a_word

begin never_extended
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_never(%rip), %rdx
	mov	(%rdx,%rdi,4), %eax
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_never
end never_extended

begin entry_over_a_call
	push	%rbx
	.cfi_adjust_cfa_offset 8
	push	%rbp
	.cfi_adjust_cfa_offset 8
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_over2(%rip), %rbp
	movslq	(%rbp,%rdi,4), %rbx
	call	pic
	add	%rbp, %rbx
	jmp	*%rbx
10:	mov	$10, %eax
	jmp	19f
11:	mov	$11, %eax
	jmp	19f
12:	mov	$12, %eax
	jmp	19f
13:	mov	$13, %eax
19:	pop	%rbp
	.cfi_adjust_cfa_offset -8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	table	T_over2
end entry_over_a_call

	# A call may go between images and originals: the second lea may form another address.
begin word_over_a_call
	push	%rbx
	.cfi_adjust_cfa_offset 8
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_over(%rip), %rdx
	mov	(%rdx,%rdi,4), %ebx
	call	pic
	movslq	%ebx, %rax
	lea	T_over(%rip), %rdx
	add	%rdx, %rax
	jmp	*%rax
10:	mov	$10, %eax
	jmp	19f
11:	mov	$11, %eax
	jmp	19f
12:	mov	$12, %eax
	jmp	19f
13:	mov	$13, %eax
19:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	table	T_over
end word_over_a_call

	# Nothing but the table itself says how long it is.

begin no_bound
	dispatch T_none
	cases
	table	T_none
end no_bound

begin bound_of_a_byte
	movzbl	(%rsi), %edi
	dispatch T_ofbyte
	cases
	table	T_ofbyte
end bound_of_a_byte

	# The compiler knows that the other values of three bits do not occur.
begin mask_beyond_the_table
	mov	%edi, %edi
	and	$7, %edi
	dispatch T_mask7
	cases
	table	T_mask7
end mask_beyond_the_table

begin shift_beyond_the_table
	shr	$3, %edi
	dispatch T_shift3
	cases
	table	T_shift3
end shift_beyond_the_table

	# What stands before the table looks like an entry of it; a byte is not negative.
begin byte_behind_an_entry
	movzbl	(%rsi), %edi
	dispatch T_behind_entry
	cases
	.section .rodata
	.p2align 2
	.long	11b-T_behind_entry
T_behind_entry:
	.long	10b-T_behind_entry, 11b-T_behind_entry, 12b-T_behind_entry, 13b-T_behind_entry
	.long	0x7ffffff0
	.text
end byte_behind_an_entry

	# What stands before the second table looks like an entry of it, and ends the first, in which
	# a case that cannot be leads behind the function.  The index may be negative.
begin behind_a_filled_table
	cmp	$3, %esi
	ja	18f
	mov	%esi, %esi
	dispatch T_filled, %rsi
17:	.fill	40, 1, 0x90
18:	lea	-1(%rcx), %rdi
	dispatch T_behind_filled
	cases
	.section .rodata
	.p2align 2
T_filled:
	.long	10b-T_filled, L_behind_filled-T_filled, 11b-T_filled, 17b-T_filled
T_behind_filled:
	.long	10b-T_behind_filled, 11b-T_behind_filled, 12b-T_behind_filled, 13b-T_behind_filled
	.long	0x7ffffff0
	.text
end behind_a_filled_table
L_behind_filled:

	# Somebody forms what is the address of an entry, by chance.
begin address_of_an_entry
	dispatch T_address
	cases
	.section .rodata
	.p2align 2
T_address:
	.long	10b-T_address, 11b-T_address
L_address:
	.long	12b-T_address, 13b-T_address, 0x7ffffff0
	.text
end address_of_an_entry

begin forms_the_address_of_an_entry
	lea	L_address(%rip), %rax
	ret
end forms_the_address_of_an_entry

	# Bytes are counted in whole registers; the upper bits, left over, come to nothing.
begin byte_arithmetic
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_arithmetic
10:	movb	(%rsi), %al
	sub	$3, %eax
	inc	%eax
	shl	$1, %eax
	mov	%al, (%rsi)
	ret
11:	or	$-1, %rax
	ret
12:	movb	(%rsi), %dl
	add	%edx, %edx
	dec	%edx
	movzbl	%dl, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_arithmetic
end byte_arithmetic

begin byte_of_a_sum
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_of_a_sum
10:	movb	(%rsi), %al
	lea	-0x30(%rax), %ecx
	cmp	$9, %cl
	ja	19f
	ret
11:	movb	(%rsi), %al
	movb	1(%rsi), %dl
	lea	1(%rax,%rdx,2), %rax
	mov	%al, (%rsi)
	ret
12:	movb	(%rsi), %dl
	lea	0(,%rdx,8), %edx
	movzbl	%dl, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_of_a_sum
end byte_of_a_sum

begin all_of_a_sum
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_all_of_a_sum
10:	movb	(%rsi), %al
	lea	-0x30(%rax), %ecx
	mov	%ecx, (%rsi)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_all_of_a_sum
end all_of_a_sum

begin byte_kept_in_the_frame
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_frame
10:	mov	$1, %al
	mov	%eax, -8(%rsp)
	movzbl	-8(%rsp), %eax
	ret
11:	movb	(%rsi), %al
	mov	%rax, -16(%rsp)
	mov	-16(%rsp), %al
	mov	%al, (%rsi)
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_frame
end byte_kept_in_the_frame

begin byte_back_from_the_frame
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_byte_again
10:	mov	$1, %al
	mov	%eax, -8(%rsp)
	mov	-8(%rsp), %ecx
	test	$1, %cl
	setne	%al
	movzbl	%al, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_byte_again
end byte_back_from_the_frame

begin register_back_from_the_frame
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_all_back
10:	mov	$1, %al
	mov	%eax, -8(%rsp)
	mov	-8(%rsp), %ecx
	mov	%ecx, (%rsi)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_all_back
end register_back_from_the_frame

begin register_in_the_frame_compared
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_frame_compared
10:	mov	$1, %al
	mov	%eax, -8(%rsp)
	cmpl	$5, -8(%rsp)
	setne	%al
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_frame_compared
end register_in_the_frame_compared

begin register_back_from_deeper
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_deeper
10:	mov	$1, %al
	mov	%eax, -8(%rsp)
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	mov	15(%rsp), %ecx
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	mov	%ecx, (%rsi)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_deeper
end register_back_from_deeper

begin register_popped_from_the_frame
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_popped
10:	mov	$1, %al
	mov	%eax, -8(%rsp)
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	mov	%ecx, (%rsi)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_popped
end register_popped_from_the_frame

begin register_back_from_before		# of a case that was walked before
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_before
10:	mov	-8(%rsp), %ecx
	mov	%ecx, (%rsi)
	ret
11:	mov	$1, %al
	mov	%eax, -8(%rsp)
	jmp	10b
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_before
end register_back_from_before

begin target_kept_in_the_frame
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_frame_target
10:	mov	%eax, -8(%rsp)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_frame_target
end target_kept_in_the_frame

begin whole_register_arithmetic
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_whole
10:	movb	(%rsi), %al
	sub	$3, %eax
	mov	%eax, (%rsi)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_whole
end whole_register_arithmetic

	# The last call is one that does not come back: behind it is padding.
begin ends_in_a_call
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_endcall
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
19:	xor	%eax, %eax
	ret
13:	call	*(%rsi)
end ends_in_a_call
	nop
	table	T_endcall

	# The compiler knows that the callee leaves rdx alone; but who knows whether it reads it?
begin base_kept_over_a_call
	lea	T_kept(%rip), %rdx
	mov	%edi, %ecx
1:	call	leaves_rdx
	cmp	$3, %ecx
	ja	19f
	mov	%ecx, %ecx
	movslq	(%rdx,%rcx,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	movzbl	(%rsi), %ecx
	jmp	1b
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_kept
end base_kept_over_a_call

	# The case calls what does not write the register, and comes back to the same address.
begin base_spared_by_a_callee
	lea	T_spared(%rip), %rdx
1:	cmp	$3, %rdi
	ja	19f
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	call	leaves_rdx
	inc	%rdi
	jmp	1b
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_spared
end base_spared_by_a_callee

	# The callee may read the table.
begin passed_to_a_callee
	mov	%edi, %ecx
	lea	T_passed(%rip), %rdi
	call	leaves_rdx
	cmp	$3, %ecx
	ja	19f
	mov	%ecx, %ecx
	dispatch T_passed, %rcx
	cases
	table	T_passed
end passed_to_a_callee

	# What a dispatch has left is no argument.
begin left_over_at_a_call
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_overcall(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	call	leaves_rdx
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_overcall
end left_over_at_a_call

begin leaves_rdx
	.hidden	leaves_rdx
	xor	%eax, %eax
	ret
end leaves_rdx

	# How deep a callee lies depends on who asks first, who need not know as much: so far down
	# nobody looks from calls_what_overwrites_all.
	.macro deep n, next
begin deep\n
	.hidden	deep\n
	call	deep\next
	ret
end deep\n
	.endm
begin calls_what_overwrites_all
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_overwrites_all
10:	call	overwrites_all
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_overwrites_all
end calls_what_overwrites_all

begin base_lost_far_down
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_lost
10:	call	deep3
	mov	%rdx, (%rsi)
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_lost
end base_lost_far_down

begin overwrites_all
	.hidden	overwrites_all
	.irp	r, eax, ecx, edx, esi, edi, r8d, r9d, r10d, r11d
	xor	%\r, %\r
	.endr
	call	deep1
	ret
end overwrites_all
	deep	1, 2
	deep	2, 3
	deep	3, 4
	deep	4, 5
	deep	5, 6
	deep	6, 7
	deep	7, 8
	deep	8, 9
	deep	9, 10
	deep	10, 11
	deep	11, 12
	deep	12, 13
begin deep13
	.hidden	deep13
	xor	%edx, %edx
	ret
end deep13

	# A comparison that the table contradicts: what was taken for it is none.
begin compare_beyond_the_table
	cmp	$7, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_compare7
	cases
	table	T_compare7
end compare_beyond_the_table

	# Behind the table stands a string that someone else refers to.
begin something_else_behind
	lea	L_behind(%rip), %rsi
	dispatch T_behind
	cases
	.section .rodata
	.p2align 2
T_behind:
	.long	10b-T_behind, 11b-T_behind, 12b-T_behind, 13b-T_behind
L_behind:
	.long	L_foreign-T_behind
	.text
end something_else_behind

	# The words of the second table would be entries of the first.
begin two_without_a_gap
	test	%esi, %esi
	je	1f
	dispatch T_gap1
1:	dispatch T_gap2
	cases
	.section .rodata
	.p2align 2
T_gap1:	.long	10b-T_gap1, 11b-T_gap1
T_gap2:	.long	12b-T_gap2, 13b-T_gap2, 0x7ffffff0
	.text
end two_without_a_gap

	# The mask admits one entry more than the table has.  Read as one of this table, the next one's
	# first leads to 14, where the address is stored: where the table ends is not known.
begin mask_into_the_next
	test	%esi, %esi
	je	1f
	and	$7, %edi
	dispatch T_mask_next1
1:	cmp	$1, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_mask_next2
	cases
14:	mov	%rax, (%rsi)
	ret
	.fill	24, 1, 0x90
15:	mov	$15, %eax			# 14b + 28
	ret
	.section .rodata
	.p2align 2
T_mask_next1:
	.long	10b-T_mask_next1, 11b-T_mask_next1, 12b-T_mask_next1, 13b-T_mask_next1
	.long	10b-T_mask_next1, 11b-T_mask_next1, 12b-T_mask_next1
T_mask_next2:
	.long	15b-T_mask_next2, 10b-T_mask_next2, 0x7ffffff0
	.text
end mask_into_the_next

	# The same, without any bound, of the table of the function behind this one.
begin into_anothers
	dispatch T_into_anothers
	cases
	.p2align 4
14:	mov	%rax, (%rsi)
	ret
	.p2align 4
	.section .rodata
	.p2align 2
T_into_anothers:
	.rept	3
	.long	10b-T_into_anothers, 11b-T_into_anothers, 12b-T_into_anothers, 13b-T_into_anothers
	.endr
	.text
end into_anothers
begin anothers
	cmp	$1, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_anothers
	.p2align 4
10:	mov	$10, %eax			# 14b + 48
	ret
11:	mov	$11, %eax
	ret
19:	xor	%eax, %eax
	ret
	.section .rodata
T_anothers:
	.long	10b-T_anothers, 11b-T_anothers, 0x7ffffff0
	.text
end anothers

	# An entry leads to a fragment that looks like a function, its frame being gone.
begin entry_in_a_fragment
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_fragment
	cases
	.section .rodata
	.p2align 2
T_fragment:
	.long	10b-T_fragment, L_fragment-T_fragment, 12b-T_fragment, 11b-T_fragment
	.long	0x7ffffff0
	.text
end entry_in_a_fragment

	# There, the table's address may still be used.
begin entry_in_a_fragments_middle
	dispatch T_fragments
	cases
	.section .rodata
	.p2align 2
T_fragments:
	.long	10b-T_fragments, L_fragment2-T_fragments, 12b-T_fragments, 0x7ffffff0
	.text
end entry_in_a_fragments_middle

	.type	fragment, @function
	.p2align 4
	.cfi_startproc
L_fragment:
	xor	%eax, %eax
	xor	%edx, %edx
	ret
	nop
	nop
	nop
L_fragment2:
	test	%eax, %eax
	je	entry_in_a_fragment + 23
	jmp	entry_in_a_fragments_middle + 16
	.cfi_endproc

	# An index below 0 would read entries, too.
begin index_below_zero
	dispatch T_zero
	cases
	.section .rodata
	.p2align 2
	.long	10b-T_zero, 11b-T_zero
T_zero:	.long	12b-T_zero, 13b-T_zero, 0x7ffffff0
	.text
end index_below_zero

	# From here on nothing may be proven.

begin in_doubt
	dispatch T_doubt
	cases
	open_table	T_doubt
end in_doubt

	# The second table begins where the byte's two highest bits have no entry any more.  Read as one
	# of the first table, its entry leads to the first NOP.
begin shifted_byte_before_another
	movzbl	(%rsi), %edi
	test	%edx, %edx
	je	1f
	shr	$6, %edi
	dispatch T_shifted_byte
1:	cmp	$1, %edi
	ja	19f
	dispatch T_behind_shifted
	.fill	16, 1, 0x90
14:	cases
	.section .rodata
	.p2align 2
T_shifted_byte:
	.long	10b-T_shifted_byte, 11b-T_shifted_byte, 12b-T_shifted_byte, 13b-T_shifted_byte
T_behind_shifted:
	.long	14b-T_behind_shifted, 12b-T_behind_shifted, 0x7ffffff0
	.text
end shifted_byte_before_another

# A table whose index may be negative, behind one with a case that cannot be.
begin behind_one_with_a_filler
	test	%esi, %esi
	je	1f
	cmp	$2, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_with_filler
1:	and	$3, %edi
	dec	%rdi
	dispatch T_behind_it
	cases
	.section .rodata
	.p2align 2
T_with_filler:
	.long	10b-T_with_filler, L_filler-T_with_filler, 11b-T_with_filler
T_behind_it:
	.long	12b-T_behind_it, 13b-T_behind_it, 10b-T_behind_it, 0x7ffffff0
	.text
end behind_one_with_a_filler
L_filler:

# bsf of zero leaves the address where it is.
begin address_kept_by_bsf
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_bsf(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	bsf	%rsi, %rdx
	mov	%rdx, (%rcx)
	jmp	*%rax
	cases
	table	T_bsf
end address_kept_by_bsf

# And a conditional move of a word may.
begin address_kept_by_cmov
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_cmovw(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	test	%esi, %esi
	cmovew	%si, %dx
	mov	%dx, (%rcx)
	jmp	*%rax
	cases
	table	T_cmovw
end address_kept_by_cmov

# The word in doubt is the last one of a section.
begin in_doubt_at_the_end
	dispatch T_doubt_end
	cases
	.section .words.relative, "a"
	.p2align 2
T_doubt_end:
	.long	10b-T_doubt_end, 11b-T_doubt_end, L_foreign-T_doubt_end
	.text
end in_doubt_at_the_end

# Nor is there any doubt where the section ends with an entry.
begin ends_with_its_section
	dispatch T_section
	cases
	.section .words.closed, "a"
	.p2align 2
T_section:
	.long	10b-T_section, 11b-T_section, 12b-T_section, 13b-T_section
	.text
end ends_with_its_section

begin signed_compare
	cmp	$3, %edi
	jg	19f
	mov	%edi, %edi
	dispatch T_signed
	cases
	open_table	T_signed
end signed_compare

begin upper_half_unchecked
	cmp	$3, %edi
	ja	19f
	dispatch T_upper
	cases
	open_table	T_upper
end upper_half_unchecked

begin sign_extended_byte
	cmp	$200, %dil
	ja	19f
	movsbq	%dil, %rdi
	dispatch T_signbyte
	cases
	.section .rodata
	.p2align 2
T_signbyte:
	.rept	64
	.long	10b-T_signbyte, 11b-T_signbyte, 12b-T_signbyte, 13b-T_signbyte
	.endr
	.long	L_foreign-T_signbyte, 0x7ffffff0
	.text
end sign_extended_byte

begin other_flags
	cmp	$3, %edi
	add	$1, %esi
	ja	19f
	mov	%edi, %edi
	dispatch T_flags
	cases
	open_table	T_flags
end other_flags

begin pointer_changed_between
	cmpl	$3, 8(%rsi)
	ja	19f
	add	$8, %rsi
	mov	8(%rsi), %edi
	dispatch T_pointer
	cases
	open_table	T_pointer
end pointer_changed_between

begin call_between
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	cmpl	$3, 8(%rsp)
	ja	19f
	call	pic
	mov	8(%rsp), %edi
	dispatch T_between
	cases
	open_table	T_between
end call_between

begin base_of_another
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_first(%rip), %rdx
	lea	T_second(%rip), %rcx
	movslq	(%rdx,%rdi,4), %rax
	add	%rcx, %rax
	jmp	*%rax
	cases
	open_table	T_first
	open_table	T_second
end base_of_another

begin changed_after_the_compare
	cmp	$3, %edi
	ja	19f
	add	$1, %edi
	dispatch T_changed
	cases
	open_table	T_changed
end changed_after_the_compare

begin changed_in_part
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	mov	%sil, %dil
	dispatch T_part
	cases
	open_table	T_part
end changed_in_part

begin compare_behind_the_copy_of_another
	mov	%esi, %eax
	cmp	$3, %edi
	ja	19f
	dispatch T_another, %rax
	cases
	open_table	T_another
end compare_behind_the_copy_of_another

	# The copy is of the value that %eax had the last time round, before the compare.
begin copy_from_last_time_round
	mov	(%rsi), %eax
1:	mov	%eax, %ebx
	mov	4(%rsi), %eax
	add	$4, %rsi
	cmp	$3, %eax
	ja	1b
	dispatch T_last, %rbx
	cases
	open_table	T_last
end copy_from_last_time_round

begin one_way_unbounded
	test	%esi, %esi
	je	1f
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
1:	dispatch T_oneway
	cases
	open_table	T_oneway
end one_way_unbounded

begin index_lost_in_a_call
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	call	pic
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	dispatch T_call
	cases
	open_table	T_call
end index_lost_in_a_call

	# scas moves the index on, which the decoder's tables do not tell.
begin index_moved_by_a_scan
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	scasb
	dispatch T_scan
	cases
	open_table	T_scan
end index_moved_by_a_scan

	# Both of its registers.
begin index_moved_by_a_comparison
	cmp	$3, %edi
	ja	19f
	mov	%edi, %esi
	mov	%rcx, %rdi
	cmpsb
	dispatch T_cmps, %rsi
	cases
	open_table	T_cmps
end index_moved_by_a_comparison

begin store_between
	cmpl	$3, 8(%rsi)
	ja	19f
	movl	$0, (%rcx)
	mov	8(%rsi), %edi
	dispatch T_store
	cases
	open_table	T_store
end store_between

begin bit_set_between			# bit 64 of the string at 0(%rsi) is in 8(%rsi)
	cmpl	$3, 8(%rsi)
	ja	19f
	bts	%rcx, (%rsi)
	mov	8(%rsi), %edi
	dispatch T_bit
	cases
	open_table	T_bit
end bit_set_between

begin apart_between			# other bytes by the same register
	cmpl	$3, 8(%rsi)
	ja	19f
	movq	$0, (%rsi)
	mov	8(%rsi), %edi
	dispatch T_apart
	cases
	open_table	T_apart
end apart_between

	# Compilers fold x >> 2 < 9 into a comparison of x; the cases need not fill it.
begin compare_before_a_shift
	cmp	$35, %edi
	ja	19f
	shr	$2, %edi
	dispatch T_shifted
	cases
	table	T_shifted
end compare_before_a_shift

begin mask_of_a_short
	movzwl	(%rdi), %edi
	and	$63, %edi
	dispatch T_short
	cases
	table	T_short
end mask_of_a_short

	# All of it is in the byte that is compared.
begin byte_of_a_mask_compared
	and	$15, %edi
	cmp	$3, %dil
	ja	19f
	dispatch T_bytes
	cases
	open_table	T_bytes
end byte_of_a_mask_compared

begin mask_or_nothing
	and	$31, %edi
	xor	%ecx, %ecx
	test	%esi, %esi
	cmove	%ecx, %edi
	dispatch T_nothing
	cases
	table	T_nothing
end mask_or_nothing

	# More was in it than that byte.
begin byte_of_more_compared
	and	$511, %edi
	cmp	$3, %dil
	ja	19f
	dispatch T_more
	cases
	open_table	T_more
end byte_of_more_compared

begin bound_beyond_the_table
	cmp	$9, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_beyond
	cases
	open_table	T_beyond
end bound_beyond_the_table

begin address_stored
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_stored(%rip), %rdx
	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_stored
end address_stored

	# The base needs a displacement of its own in the encoding.
begin address_stored_odd_base
	push	%rbp
	.cfi_adjust_cfa_offset 8
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_odd_base(%rip), %rbp
	mov	%rbp, (%rsi)
	movslq	(%rbp,%rdi,4), %rdi
	add	%rbp, %rdi
	jmp	*%rdi
10:	mov	$10, %eax
11:	add	$11, %eax
12:	add	$12, %eax
13:	add	$13, %eax
19:	pop	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	table	T_odd_base
end address_stored_odd_base

	# What a register holds of which nobody needs anything, as compilers leave it.
begin address_left_over
	mov	$1, %eax
	cmp	$3, %edi
	ja	1f
	mov	%edi, %edi
	lea	T_left_over(%rip), %rdx
	mov	(%rdx,%rdi,4), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
10:	mov	$2, %eax
	jmp	2f
11:	xor	%eax, %eax
	mov	%rsi, %rdx
	jmp	2f
12:	mov	$3, %eax
	xor	%edx, %edx
	jmp	2f
13:	mov	$4, %eax
	mov	%rdi, %rdx
	jmp	2f
1:	mov	%rcx, %rdx
2:	mov	%eax, (%rsi)
	mov	%rdx, 8(%rsi)
	ret
	table	T_left_over
end address_left_over

begin address_stored_scaled
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	0(,%rdi,4), %rcx
	lea	T_stored_scaled(%rip), %rdx
	mov	%rdx, (%rsi)
	mov	(%rcx,%rdx), %r8d
	movslq	%r8d, %rsi
	add	%rdx, %rsi
	jmp	*%rsi
	cases
	table	T_stored_scaled
end address_stored_scaled

	# Two loads by one address, one of them by a copy of it, and a third that reads no entry.
begin address_stored_two_loads
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	T_two_loads(%rip), %rbx
	mov	%rbx, (%rsi)
	call	pic
	mov	4(%rbx), %ecx
	cmp	$3, %eax
	ja	19f
	mov	%eax, %eax
	test	%ecx, %ecx
	je	1f
	movslq	(%rbx,%rax,4), %rax
	add	%rbx, %rax
	jmp	*%rax
1:	mov	%rbx, %rdx
	movslq	(%rdx,%rax,4), %r9
	add	%rbx, %r9
	jmp	*%r9
10:	nop
11:	mov	$11, %eax
12:	mov	$12, %ecx
13:	mov	$13, %edx
19:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	table	T_two_loads
end address_stored_two_loads

	# The load has a displacement: there is no room for another one that says nothing.
begin address_stored_displaced
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_displaced(%rip), %rdx
	mov	%rdx, (%rsi)
	.byte	0x48, 0x63, 0x84, 0xba, 0, 0, 0, 0	# movslq 0(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_displaced
end address_stored_displaced

	# At the load it is one table's address, or another's.
begin address_stored_of_two
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_of_two1(%rip), %rdx
	test	%ecx, %ecx
	je	1f
	lea	T_of_two2(%rip), %rdx
1:	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_of_two1
	open_table	T_of_two2
end address_stored_of_two

	# The same, or whatever the caller has left there.
begin address_stored_one_way
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	test	%ecx, %ecx
	je	1f
	lea	T_one_way(%rip), %rdx
1:	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_one_way
end address_stored_one_way

	# The call may have left something else in the register.
begin address_stored_over_a_call
	cmp	$3, %edi
	ja	19f
	lea	T_over_a_call(%rip), %r10
	mov	%r10, (%rsi)
	push	%rdi
	.cfi_adjust_cfa_offset 8
	call	keeps_r10
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	mov	%edi, %edi
	movslq	(%r10,%rdi,4), %rax
	add	%r10, %rax
	jmp	*%rax
	cases
	open_table	T_over_a_call
end address_stored_over_a_call

	# The compiler knew that the third case cannot be; the table alone does not tell.
begin address_used_beyond_the_bound
	cmp	$1, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_used_beyond
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	%rdx, (%rsi)
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_used_beyond
end address_used_beyond_the_bound

	# Neither an entry nor the sum may be seen, whatever stays.
begin entry_and_address_stored
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_both_stored(%rip), %rdx
	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	mov	%rax, 8(%rsi)
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_both_stored
end entry_and_address_stored

begin target_and_address_stored
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_sum_stored(%rip), %rdx
	mov	%rdx, (%rsi)
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	mov	%rax, 8(%rsi)
11:	mov	$11, %eax
12:	mov	$12, %ecx
13:	mov	$13, %edx
19:	ret
	open_table	T_sum_stored
end target_and_address_stored

begin entry_stored
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_entry(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	mov	%eax, (%rsi)
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_entry
end entry_stored

begin target_used_as_a_number
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_number
10:	dec	%eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	ret
	open_table	T_number
end target_used_as_a_number

begin address_compared_elsewhere
	lea	T_compared(%rip), %rdx
	cmp	%rdx, %rsi
	je	19f
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_compared
	cases
	open_table	T_compared
end address_compared_elsewhere

	# %r10 survives the call, and the compiler knew it.
	.hidden	keeps_r10
begin keeps_r10
	mov	$1, %eax
	ret
end keeps_r10

begin address_used_after_a_call
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_after(%rip), %r10
	cmp	$0, %esi
	jne	1f
	movslq	(%r10,%rdi,4), %rax
	add	%r10, %rax
	jmp	*%rax
1:	call	keeps_r10
	mov	%r10, (%rsi)
	ret
	cases
	open_table	T_after
end address_used_after_a_call

	# What is left of it may be copied, but a part of it that is made a number is used.
begin byte_of_the_address_extended
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_extended(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	movzbl	(%rsi), %edx
11:	movzbl	%dl, %edi
	xor	%edx, %edx
	xor	%eax, %eax
	call	pic
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	ret
	open_table	T_extended
end byte_of_the_address_extended

begin half_of_the_address_extended
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_half(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	movslq	(%rsi), %rdx
11:	movslq	%edx, %rdi
	xor	%edx, %edx
	xor	%eax, %eax
	call	pic
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	ret
	open_table	T_half
end half_of_the_address_extended

	# The address is still in a register when control goes where it cannot be followed.
begin live_at_an_unknown_jump
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	T_live(%rip), %rbx
	test	%esi, %esi
	je	1f
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	movslq	(%rbx,%rdi,4), %rax
	add	%rbx, %rax
	jmp	*%rax
1:	jmp	*%rcx
	cases
	open_table	T_live
end live_at_an_unknown_jump

begin live_when_leaving
	lea	T_leaving(%rip), %rdx
	test	%esi, %esi
	je	L_foreign
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	open_table	T_leaving
end live_when_leaving

begin has_a_foreign_label
	xor	%eax, %eax
	nop
	nop
	nop
L_foreign:
	mov	%rdx, %rax
	ret
end has_a_foreign_label

# Parts of functions that look like functions: jumps lead into their middle.
	.macro away_table t, away
	.section .rodata
	.p2align 2
\t:	.long	10b-\t, \away-\t, 12b-\t, 13b-\t, 0x7ffffff0
	.text
	.endm

	.macro leaves t, away
	cmp	$3, %edi
	ja	\away
	mov	%edi, %edi
	dispatch \t
	cases
	away_table \t, \away
	.endm

begin leaves_for_a_trap
	leaves	T_trap, L_trap
end leaves_for_a_trap

begin leaves_and_comes_back
	cmp	$3, %edi
	ja	L_back
	mov	%edi, %edi
	dispatch T_back
L_again:
	test	%eax, %eax
	cases
	away_table T_back, L_back
end leaves_and_comes_back

begin leaves_and_uses
	leaves	T_used_away, L_uses
end leaves_and_uses

begin leaves_and_returns_it
	leaves	T_returned, L_returns
end leaves_and_returns_it

begin leaves_for_a_call			# which may throw
	leaves	T_called_away, L_calls
end leaves_for_a_call

begin parts_of_others
	xor	%eax, %eax
	nop
	nop
	nop
L_trap:	mov	16, %rcx
	ud2
L_back:	test	%esi, %esi
	je	1f
	xor	%edx, %edx
1:	mov	$1, %eax
	jmp	L_again
L_uses:	mov	$3, %ecx
	add	%rdx, %rcx
	ud2
L_returns:
	mov	%rdx, %rax
	ret
L_calls:
	xor	%eax, %eax
	call	*%rsi
	ud2
end parts_of_others

begin calls_at_its_end			# and behind it is a part of another function
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_last_call(%rip), %rbx
	movslq	(%rbx,%rdi,4), %rax
	add	%rbx, %rax
	jmp	*%rax
	cases
	.section .rodata
	.p2align 2
T_last_call:
	.long	10b-T_last_call, 14f-T_last_call, 12b-T_last_call, 13b-T_last_call, 0x7ffffff0
	.text
14:	push	%rax
	.cfi_def_cfa_offset 16
	call	*%rsi
	.cfi_endproc
	.cfi_startproc
	.cfi_def_cfa_offset 32
L_part:	mov	%rbx, (%rsi)
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
end calls_at_its_end

begin has_that_part
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	jmp	L_part
end has_that_part

begin writable_table
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_writable
	cases
	.data
	.p2align 2
T_writable:
	.long	10b-T_writable, 11b-T_writable, 12b-T_writable, 13b-T_writable, 0x7ffffff0
	.text
end writable_table

begin into_the_middle
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_middle
	cases
	.section .rodata
	.p2align 2
T_middle:
	.long	10b-T_middle, 11b+2-T_middle, 12b-T_middle, 13b-T_middle, 0x7ffffff0
	.text
end into_the_middle

# The comparison makes a part of the linkage table that is no stub the last case.
begin entry_in_the_linkage_table
	cmp	$4, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_linkage
	cases
	.section .rodata
	.p2align 2
T_linkage:
	.long	10b-T_linkage, 11b-T_linkage, 12b-T_linkage, 13b-T_linkage, L_lazy-T_linkage
	.long	0x7ffffff0
	.section .plt.own, "ax", @progbits
	.cfi_startproc
	.cfi_def_cfa_offset 16
L_resolver:
	push	W_loader(%rip)
	.cfi_def_cfa_offset 24
	jmp	*W_loader+8(%rip)
	.cfi_endproc
	.cfi_startproc
	jmp	*W_loader+16(%rip)
L_lazy:	push	$0
	jmp	L_resolver
	.cfi_endproc
	.data
W_loader:
	.quad	0, 0, 0
	.text
end entry_in_the_linkage_table

# What the sum of base and entry leaves in the carry flag is different for the new table.
begin carry_at_a_case
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_carry
10:	adc	$10, %esi
	mov	%esi, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_carry
end carry_at_a_case

begin carry_kept_at_a_case		# shifted by 32, which is by nothing
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_carry_kept
10:	shl	$32, %esi
	adc	$10, %esi
	mov	%esi, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_carry_kept
end carry_kept_at_a_case

begin carry_set_at_a_case
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_carry_set
10:	shl	%cl, %esi		# perhaps by nothing
	add	$1, %esi
	adc	$10, %esi
	mov	%esi, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_carry_set
end carry_set_at_a_case

begin carry_kept_by_the_kernel
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch T_kernel
10:	int	$0x80
	adc	$10, %esi
	mov	%esi, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	T_kernel
end carry_kept_by_the_kernel

# What jumps into the middle of a function may be more of it, and look at its registers.
	.macro goes_on t, other, name
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	dispatch \t
10:	jmp	\other
\name:
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	table	\t
	.endm

begin goes_on_in_another
	goes_on	T_goes_on, looks_and_comes_back, L_goes_on
end goes_on_in_another

begin looks_and_comes_back
	test	%rdx, %rdx
	jne	L_goes_on
	ret
end looks_and_comes_back

begin goes_on_beside_data
	goes_on	T_goes_on_there, looks_beside_data, L_goes_on_there
end goes_on_beside_data

begin looks_beside_data
	test	%rdx, %rdx
	jne	L_goes_on_there
	ret
	.byte	0x06			# no instruction
end looks_beside_data

# A prefix bit that means nothing: the Verifier takes no such instruction for one of a dispatch.
begin odd_prefix
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	.byte	0x4a			# rex.WX
	.byte	0x8d, 0x15
	.long	T_odd - . - 4
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	cases
	table	T_odd
end odd_prefix

# Nobody jumps through it, but it looks like a table with an entry inside the entry jump.
begin looks_like_a_table
	xor	%eax, %eax
1:	nop
	nop
	nop
	lea	T_looks(%rip), %rdx
	mov	(%rdx), %eax
2:	ret
	.section .rodata
	.p2align 2
T_looks:
	.long	2b-T_looks, 1b-T_looks, 0x7ffffff0
	.text
end looks_like_a_table

# The same behind two cases that cannot be, and one in a part that looks like a function.
begin looks_like_one_with_fillers
	xor	%eax, %eax
1:	nop
	nop
	nop
	lea	T_looks_fillers(%rip), %rdx
	mov	(%rdx), %eax
	ret
	.section .rodata
	.p2align 2
T_looks_fillers:
	.long	2f-T_looks_fillers, 2f-T_looks_fillers, 3f-T_looks_fillers, 1b-T_looks_fillers
	.long	0x7ffffff0
	.text
end looks_like_one_with_fillers
2:	nop
	.cfi_startproc
3:	ud2
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
