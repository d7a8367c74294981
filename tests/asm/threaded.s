# Direct threading: an interpreter that jumps to labels through tables.  `interpret` runs its program
# (bytes at %rdi) by labels that only data holds.  `interpret_lea` stores the only label that it has
# itself, `interpret_halt` one of two.  `dispatch_nothing` has a table of labels, but no jump of its
# own that could use it.  _start, for a PIE, exits with 0 when the program computed what it must and
# labels from different places are equal.

	.include "tests/asm/local.inc"

	.macro	save kept=%rbx		# not below an entry jump: a label might be there
	movabs	$0, %r11
	push	\kept
	.cfi_adjust_cfa_offset 8
	.endm

	.text
begin interpret				# rdi program, rdx table; result in eax, rcx address of op_halt
	save				# jumps without a frame would be tail calls
	xor	%eax, %eax
	lea	labels(%rip), %rdx
	movzbl	(%rdi), %esi
	jmp	*(%rdx,%rsi,8)
op_add:	add	$3, %eax
	inc	%rdi
	movzbl	(%rdi), %esi
	jmp	*(%rdx,%rsi,8)
op_double:
	add	%eax, %eax
op_skip:	jmp	op_next			# a label of nothing but a jump
.Lalso:	nop				# and one that begins with a NOP
op_next:	inc	%rdi
	movzbl	(%rdi), %esi
	mov	(%rdx,%rsi,8), %rsi
	jmp	*%rsi
op_halt:	mov	24(%rdx), %rcx
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret

begin interpret_lea
	save
	lea	op_left(%rip), %rax
	lea	keeps(%rip), %rcx
	mov	%rax, (%rcx)
	jmp	*(%rcx)
op_left:	mov	held_left(%rip), %rcx
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_lea

begin interpret_far			# its labels are distances from one of them
	save
	mov	held_near(%rip), %rdx
	add	%rdi, %rdx
	jmp	*%rdx
op_near:
	mov	$1, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_far

begin interpret_apart			# found in a register by the block that jumps
	save
	mov	held_apart(%rip), %rdx
	test	%edi, %edi
	jz	1f
	add	%rdi, %rdx
1:	jmp	*%rdx
op_apart:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_apart

	# What a frame holds may be a sum: fetched from there, by the jump itself, or below rbp.
begin interpret_framed
	save
	mov	(%rsp), %rdx
	jmp	*%rdx
op_framed:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_framed
begin interpret_by_frame
	save
	jmp	*(%rsp)
op_by_frame:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_by_frame
begin interpret_below
	save
	jmp	*-8(%rbp)
op_below:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_below
	# Above rbp, or by an index, is no frame.
begin interpret_above
	save
	test	%edi, %edi
	jz	1f
	jmp	*-8(%rbp,%rdi,8)
1:	mov	8(%rbp), %rdx
	jmp	*%rdx
op_above:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_above

begin interpret_both			# a jump table, too; the first copies what it fetched
	save
	mov	held_both(%rip), %rdx
	mov	%rdx, %rbx
	jmp	*%rbx
op_both:
	cmp	$3, %edi
	ja	op_other
	mov	%edi, %edi
	lea	switch(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
op_other:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_both

begin interpret_displaced		# by what is not the address that it read the entry by
	save
	jmp	*(%rsi)
op_displaced:
	lea	displaced+8(%rip), %rdx
	movslq	-8(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
op_end:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_displaced

begin interpret_halt			# one of its labels is formed, and kept: that one stays
	save
	lea	op_stop(%rip), %rax
	movq	%rax, %xmm0
	lea	steps(%rip), %rbx
	mov	%rax, %rcx
	mov	%rcx, 16(%rbx)
	lea	16(%rbx), %rcx		# overwrites it
	xor	%eax, %eax
	jmp	*(%rbx)
op_one:	inc	%eax
	add	$8, %rbx
	jmp	*(%rbx)
op_stop:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_halt

begin interpret_pad			# no image begins for the first: it stays
	save
	xor	%eax, %eax
	mov	held_pad(%rip), %rdx
	jmp	*%rdx
op_pad:	nop
op_real:
	inc	%eax
	cmp	$2, %eax
	jae	1f
	mov	held_pad+8(%rip), %rdx
	jmp	*%rdx
1:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_pad

begin interpret_shared			# the block of its jump finds the label in a register
	save
	xor	%eax, %eax
	mov	held_shared(%rip), %rdx
	test	%edi, %edi
	jz	2f
	jmp	1f
op_first:
	inc	%eax
	mov	held_shared+8(%rip), %rdx
1:	mov	%eax, %ecx
2:	jmp	*%rdx
op_last:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_shared

begin interpret_calls			# it comes through blocks that calls divide
	save	%rbp
	mov	held_called(%rip), %rbp
	call	dispatch_nothing
	test	%edi, %edi
	js	1f
	call	dispatch_nothing
	test	%edi, %edi
	js	1f
	call	dispatch_nothing
	test	%edi, %edi
	js	1f
	jmp	*%rbp
op_called:
	mov	$7, %eax
1:	pop	%rbp
	.cfi_adjust_cfa_offset -8
	ret
end interpret_calls

begin interpret_landed			# and somebody may jump to that block
	save
	xor	%eax, %eax
	mov	held_landed(%rip), %rdx
op_landed:
	jmp	*%rdx
op_gone:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_landed

begin interpret_sum			# code calculates with one of its labels
	save
	lea	op_sum(%rip), %rax
	add	%rdi, %rax
	lea	keeps(%rip), %rcx
	mov	%rax, (%rcx)
	jmp	*(%rcx)
op_sum:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
op_other_sum:
	ud2
end interpret_sum

begin interpret_kept			# what it fetches it has calculated before
	save
	mov	held_kept(%rip), %rdx
	movslq	far_from_kept(%rip), %rax
	add	%rdx, %rax
	lea	keeps(%rip), %rcx
	mov	%rax, (%rcx)
	jmp	*(%rcx)
op_kept:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
op_far:	jmp	op_kept
end interpret_kept

begin interpret_loop			# its own end does not lead to a loop
	save
	mov	held_loop(%rip), %rdx
	jmp	*(%rdi)
op_loop:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
1:	inc	%eax
	jnz	1b
	jmp	op_loop
end interpret_loop

begin interpret_padded			# int3 is padding
	save
	mov	held_padded(%rip), %rdx
	jmp	*(%rdi)
	int3
op_padded:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	int3
end interpret_padded

	# Two that have a part in common are one, and the second one calculates.
begin interpret_kin
	save
	mov	held_kin(%rip), %rdx
	test	%edi, %edi
	je	common
	jmp	*(%rdi)
op_kin:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_kin
begin calculates_kin
	save
	test	%edi, %edi
	je	common
	add	%rdi, %rdx
	jmp	*%rdx
end calculates_kin
common:	.cfi_startproc
	.cfi_def_cfa_offset 16
	ud2
	.cfi_endproc
	# So are these; but the second one's jump is plain, and leaves it.
begin interpret_plain_kin
	save
	mov	held_plain_kin(%rip), %rdx
	test	%edi, %edi
	je	common_plain
	jmp	*(%rdi)
op_plain_kin:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_plain_kin
begin plain_kin
	save
	test	%edi, %edi
	je	common_plain
	jmp	*(%rdi)
end plain_kin
common_plain:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	jmp	1f
1:	ud2
	.cfi_endproc

begin interpret_nop			# something leads to the code behind the NOP, for it leads to that
	save
	mov	held_nop(%rip), %rdx
	test	%edi, %edi
	je	1f
	jmp	*%rdx
op_nop:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
1:	nop
	mov	$1, %eax
	jmp	op_nop
end interpret_nop

begin interpret_index			# one of its labels is formed, as a part of an address
	save
	lea	op_index_end(%rip), %rax
	lea	steps(%rip), %rbx
	mov	%rdi, (%rbx,%rax)
	xor	%eax, %eax
	mov	held_index(%rip), %rdx
	jmp	*%rdx
op_index:
	inc	%eax
op_index_end:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_index

begin interpret_five			# and one as a part of a sum, in five bytes
	save
	lea	op_five_end(%rip), %rax
	lea	8(%rax,%rdi), %rbx
	xor	%eax, %eax
	mov	held_five(%rip), %rdx
	jmp	*%rdx
op_five:
	inc	%eax
op_five_end:
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end interpret_five

begin dispatch_nothing
	test	%edi, %edi
	jz	1f
	xor	%eax, %eax
1:	ret
end dispatch_nothing

	.globl	_start
begin _start
	.cfi_undefined rip
	lea	bytes(%rip), %rdi
	call	interpret
	mov	$1, %edi
	cmp	$12, %eax		# ((0 + 3) + 3) * 2
	jne	.Lexit
	inc	%edi
	cmp	held_halt(%rip), %rcx
	jne	.Lexit
	inc	%edi
	mov	labels+16(%rip), %rax	# labels that are close stay different
	cmp	labels+32(%rip), %rax
	je	.Lexit
	call	interpret_lea
	mov	$4, %edi
	cmp	%rax, %rcx
	jne	.Lexit
	call	interpret_halt
	mov	$5, %edi
	cmp	$2, %eax
	jne	.Lexit
	inc	%edi
	mov	steps+16(%rip), %rax	# all pointers to a label are equal
	cmp	held_stop(%rip), %rax
	jne	.Lexit
	inc	%edi
	movq	%xmm0, %rcx
	cmp	%rax, %rcx
	jne	.Lexit
	call	interpret_pad
	mov	$8, %edi
	cmp	$2, %eax
	jne	.Lexit
	inc	%edi
	mov	held_pad(%rip), %rax
	cmp	held_pad+8(%rip), %rax
	je	.Lexit
	call	interpret_shared
	mov	$10, %edi
	cmp	$1, %eax
	jne	.Lexit
	call	interpret_calls
	mov	$11, %edi
	cmp	$7, %eax
	jne	.Lexit
	xor	%edi, %edi
.Lexit:	mov	$231, %eax
	syscall
	ud2
end _start

	.section .rodata, "a"
bytes:	.byte	0, 0, 1, 2, 3
	.p2align 2
displaced:
	.long	op_end - displaced - 8, op_displaced - displaced - 8
switch:	.long	op_both - switch, op_other - switch, op_both - switch, op_other - switch

	.data
	.p2align 3
labels:	.quad	op_add, op_double, op_skip, op_halt, op_next
held_halt:
	.quad	op_halt
keeps:	.quad	0
held_left:
	.quad	op_left
held_near:
	.quad	op_near
held_apart:
	.quad	op_apart
	.quad	op_framed, op_by_frame, op_below, op_above
held_displaced:
	.quad	op_displaced
held_both:
	.quad	op_both, op_other
steps:	.quad	op_one, op_one, 0
held_stop:
	.quad	op_stop
held_pad:
	.quad	op_pad, op_real
held_shared:
	.quad	op_first, op_last
held_called:
	.quad	op_called
held_landed:
	.quad	op_landed, op_gone
held_sum:
	.quad	op_other_sum
held_nop:
	.quad	op_nop
held_kin:
	.quad	op_kin
held_plain_kin:
	.quad	op_plain_kin
held_loop:
	.quad	op_loop
held_padded:
	.quad	op_padded
held_kept:
	.quad	op_kept
far_from_kept:
	.quad	op_far - op_kept
held_index:
	.quad	op_index
held_five:
	.quad	op_five
	.quad	dispatch_nothing + 4
	.section .note.GNU-stack, "", @progbits
