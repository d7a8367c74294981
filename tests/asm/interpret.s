# Functions with one way each to decide where control goes, or to leave it open; test_interpret.c says
# which.

	.include "tests/asm/global.inc"

	.text
begin by_register
	cmp	$5, %edi
	jb	below
above:	mov	$1, %eax
	ret
below:	xor	%eax, %eax
	ret
end by_register

begin by_flags
	nop
flags_set:
	jle	is_le
is_gt:	mov	$1, %eax
	ret
is_le:	xor	%eax, %eax
	ret
end by_flags

# Three rounds, then out.
begin counted
round:	add	%rax, %rdx
	dec	%ecx
	jne	round
counted_out:
	test	%edx, %edx
	js	counted_negative
counted_positive:
	ret
counted_negative:
	neg	%edx
	ret
end counted

begin by_table
	cmp	$3, %edi
	ja	no_case
in_table:
	lea	cases(%rip), %rdx
	mov	%edi, %eax
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
case_0:	mov	$10, %eax
	ret
case_1:	mov	$11, %eax
	ret
case_2:	mov	$12, %eax
	ret
case_3:	mov	$13, %eax
	ret
no_case:
	xor	%eax, %eax
	ret
end by_table

begin by_stack
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
in_frame:
	cmpl	$7, 8(%rsp)
	je	is_seven
is_other:
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_adjust_cfa_offset 24
is_seven:
	mov	$1, %eax
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
end by_stack

# The load from the heap leaves the first branch open, and its ways do not meet.
begin by_heap
	mov	(%rdi), %eax
	test	%eax, %eax
	je	heap_zero
heap_some:
	cmp	$1, %esi
	je	heap_zero
	ret
heap_zero:
	xor	%eax, %eax
	ret
end by_heap

begin stores_to_heap
	mov	%esi, (%rdi)
	cmpl	$9, (%rdi)
	je	stored_nine
	ret
stored_nine:
	inc	%eax
	ret
end stores_to_heap

# What is stored is known until something unknown may have been stored over it.
begin by_own_store
	movl	%esi, -8(%rsp)
	cmpl	$3, -8(%rsp)
	je	store_three
store_other:
	mov	(%rdi), %rdx
	movl	$1, (%rdx)
	cmpl	$3, -8(%rsp)
	je	store_again
	ret
store_again:
	inc	%eax
	ret
store_three:
	xor	%eax, %eax
	ret
end by_own_store

begin callee
	test	%edi, %edi
	je	callee_zero
callee_other:
	lea	1(%rdi), %eax
	ret
callee_zero:
	xor	%eax, %eax
	ret
end callee

begin caller
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
dcall:	call	callee
back:	cmp	$8, %eax
	je	caller_eight
caller_other:
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
caller_eight:
	mov	$1, %eax
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end caller

begin calls_caller
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
ocall:	call	caller
oback:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end calls_caller

# It is callee that runs then, not what was called.
begin calls_tail
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	jumps_on
tback:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end calls_tail

begin jumps_on
	jmp	callee
end jumps_on

begin through_register
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
icall:	call	*%rax
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end through_register

begin through_constant_pointer
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	constant_pointers(%rip), %rdx
	and	$1, %esi
ccall:	call	*(%rdx,%rsi,8)
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end through_constant_pointer

begin through_variable
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	*variable_pointer(%rip)
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end through_variable

begin conditional_tail_call
	test	%edi, %edi
tail:	je	by_register
not_tail:
	mov	$2, %eax
	ret
end conditional_tail_call

begin indirect_tail_call
	nop
itail:	jmp	*%rax
end indirect_tail_call

begin guarded
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	mov	%fs:0x28, %rax
	mov	%rax, 8(%rsp)
guard_check:
	mov	8(%rsp), %rax
	sub	%fs:0x28, %rax
	jne	guard_changed
guard_same:
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_adjust_cfa_offset 24
guard_changed:
	ud2
end guarded

begin chosen
	cmp	$1, %edi
	cmove	%esi, %eax
	cmp	$9, %eax
	je	chosen_nine
chosen_other:
	ret
chosen_nine:
	inc	%eax
	ret
end chosen

begin unknown_choice
	cmp	$1, %edi
	cmove	(%rsi), %eax
	cmp	$9, %eax
	je	unknown_nine
	ret
unknown_nine:
	inc	%eax
	ret
end unknown_choice

begin spins
	jmp	spins
end spins

begin counts_forever
forever:
	inc	%rax
	jmp	forever
end counts_forever

begin makes_a_system_call
	mov	$39, %eax
	syscall
	test	%edi, %edi
	je	1f
	inc	%eax
1:	ret
end makes_a_system_call

begin by_loop_insns
	mov	$2, %ecx
again:	add	%ecx, %eax
	loop	again
loop_done:
	jrcxz	rcx_zero
	inc	%eax
rcx_zero:
	ret
end by_loop_insns

# What is written on one way only is not known where the ways meet; all else is.
begin ways_meet
	movl	$1, -8(%rsp)
	movl	$2, -16(%rsp)
	mov	(%rdi), %eax
	test	%eax, %eax
	je	together
	mov	$9, %ecx
	movl	$3, -8(%rsp)
together:
	cmpl	$2, -16(%rsp)
	je	stored_two
stored_other:
	ret
stored_two:
	cmp	%esi, %edx
	je	meet_same
meet_other:
	ret
meet_same:
	cmpl	$1, -8(%rsp)
	je	meet_end
	nop
meet_end:
	cmp	$1, %ecx
	je	1f
	ret
1:	inc	%eax
	ret
end ways_meet

begin stores_somewhere
	movl	$1, -8(%rsp)
	mov	(%rdi), %rax
	test	%rax, %rax
	je	stored
	movb	$0, (%rax)
stored:	cmpl	$1, -8(%rsp)
	je	stored_one
	ret
stored_one:
	inc	%eax
	ret
end stores_somewhere

begin moves_stack
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	mov	%esi, 16(%rsp)
	mov	(%rdi), %eax
	test	%eax, %eax
	je	moves_else
	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
	jmp	moved
	.cfi_adjust_cfa_offset 16
moves_else:
	lea	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
moved:	cmpl	$4, (%rsp)
	je	moved_four
moved_other:
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
moved_four:
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	ret
end moves_stack

# A function that cannot be followed to its end leaves its caller's registers as they were.
begin saves_and_asks
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	$9, %ebx
	mov	(%rdi), %eax
	test	%eax, %eax
	je	asks_zero
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
asks_zero:
	inc	%eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end saves_and_asks

begin asks_and_looks
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
acall:	call	saves_and_asks
asked:	cmp	$3, %ebx
	je	looked_three
looked_other:
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
looked_three:
	cmp	$1, %r8d
	je	looked_other
	mov	$1, %eax
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end asks_and_looks

# Behind an unknown function the stack is known, other memory and its result are not.
begin passes_calls
	sub	$24, %rsp
	.cfi_adjust_cfa_offset 24
	mov	%esi, 8(%rsp)
	movl	$7, (%rbx)
	call	*variable_pointer(%rip)
	cmpl	$4, 8(%rsp)
	je	passed_four
passed_other:
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_adjust_cfa_offset 24
passed_four:
	cmp	$7, %eax
	je	1f
	nop
1:	cmpl	$7, (%rbx)
	je	passed_other
	mov	$1, %eax
	add	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
end passes_calls

begin stub
	jmp	*variable_pointer(%rip)
end stub

begin calls_stub
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	stub
	cmp	$5, %ebx
	je	stub_five
stub_other:
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
stub_five:
	cmp	$1, %r8d
	je	stub_other
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end calls_stub

	.section .rodata
	.p2align 2
cases:	.long	case_0 - cases, case_1 - cases, case_2 - cases, case_3 - cases

	.section .data.rel.ro, "aw"
	.p2align 3
constant_pointers:
	.quad	by_register, callee

	.data
	.p2align 3
variable_pointer:
	.quad	callee
	.section .note.GNU-stack, "", @progbits
