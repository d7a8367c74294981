# Places at which the flags that `inc` changes are live, or are not: at each stands a NOP of seven
# bytes, as long as a counter.  live_N and dead_N are the functions.  In front of each place is one
# where they are dead.  CALLED=1: flags are read behind a call through a pointer in memory, JUMPED=1:
# behind a call of what jumps through it, CONSTANT=1: behind one through a pointer that never changes,
# HIDDEN=1: on the second way behind a call through a register, FAR=1: far behind such a one.
# UNTOLD=1: behind a call of what has no FDE and jumps to it.  ELSEWHERE=1: jumps as a program at a
# fixed address has them.  ODD=1, ODD=2: see there.
	.ifndef	ODD
	.set	ODD, 0
	.endif
	.text
	.macro	fn name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.byte	0xf3, 0x0f, 0x1e, 0xfa		# endbr64
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.balign	16
	.endm
	.macro	place
	test	%edi, %edi
	.byte	0x0f, 0x1f, 0x80, 0, 0, 0, 0
	.endm

fn begin				# calls all, reads flags behind one call
	call	dead_return
	.ifdef CALLED
	call	*pointer(%rip)
	je	1f
	.endif
	.ifdef CONSTANT
	call	*constant(%rip)
	je	1f
	.endif
	.ifdef JUMPED
	call	by_pointer
	je	1f
	.endif
	.ifdef HIDDEN				# behind the first way, which does not end
	lea	dead_return(%rip), %rax
	call	*%rax
	jc	8f
	je	1f
	.endif
	.ifdef FAR				# farther than the Editor looks, not than the Verifier
	lea	dead_return(%rip), %rax
	call	*%rax
	.rept	500
	mov	%rax, %rcx
	.endr
	je	1f
	.endif
	.ifdef UNTOLD
	call	untold
	je	1f
	.endif
	xor	%eax, %eax
	call	live_return
	je	1f
	call	live_behind_tail
	jne	1f
	call	live_in_front
	js	1f
	mov	dead_slot@GOTPCREL(%rip), %rax
	call	*%rax
	test	%eax, %eax
	jne	begin
1:	call	loops
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	hlt
	.ifdef HIDDEN
8:	mov	%rax, %rax
	jmp	8b
	.endif
end begin

fn loops				# what the Editor counts in: ways of branches, a loop
	mov	$10, %ecx
	xor	%eax, %eax
2:	add	%ecx, %eax
	test	$3, %al
	je	3f
	add	$5, %eax
3:	dec	%ecx
	jne	2b
	cmp	$7, %eax
	jb	4f
	ja	5f
	add	$1, %eax
4:	add	$2, %eax
5:	add	$3, %eax
	ret
end loops

fn live_branch
	place
	je	1f
	nop
1:	ret
end live_branch

fn live_set
	place
	mov	%rdi, %rax
	sets	%al
	ret
end live_set

fn live_jump
	place
	jmp	1f
	int3
1:	cmovo	%rdi, %rax
	ret
end live_jump

fn live_taken				# one of two ways, behind a branch that reads CF alone
	place
	jb	1f
	xor	%eax, %eax
	ret
1:	jp	2f
	xor	%eax, %eax
2:	ret
end live_taken

fn live_pushed
	place
	pushf
	.cfi_adjust_cfa_offset 8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
end live_pushed

fn live_shift				# which does nothing if the count is zero
	place
	shl	%cl, %eax
	jne	1f
	nop
1:	ret
end live_shift

fn live_rotation			# by nine bits of nine, and of OF alone
	place
	rcl	$9, %al
	jo	1f
	nop
1:	ret
end live_rotation

fn live_system				# it hands the flags out in r11
	place
	mov	$39, %eax
	syscall
	ret
end live_system

fn live_prefixed				# so it does behind a prefix
	place
	mov	$39, %eax
	.byte	0x48
	syscall
	ret
end live_prefixed

fn live_loop				# which does not end
	place
	call	loops_on
	ret
end live_loop

sums_from:				# a name that is no symbol of others
fn writes_flags
	xor	%eax, %eax
	ret
end writes_flags

fn loops_on
1:	jmp	1b
end loops_on

fn live_callee
	place
	call	reads_flags
	ret
end live_callee

fn reads_flags
	sete	%al
	ret
end reads_flags

fn live_computed			# a jump inside the function
	push	%rax
	.cfi_adjust_cfa_offset 8
	place
	jmp	*%rdi
	.cfi_adjust_cfa_offset -8
end live_computed

	.ifdef JUMPED
fn by_pointer
	jmp	*pointer(%rip)
end by_pointer
	.endif

fn live_return
	place
	ret
end live_return

fn live_in_front			# runs into the next function, and returns where that does
	xor	%eax, %eax
	.cfi_endproc
	.size	live_in_front, . - live_in_front
fn live_run_into
	place
	ret
end live_run_into

fn live_behind_tail			# returns where this one does
	jmp	live_tail
end live_behind_tail

fn live_tail
	place
	ret
end live_tail

fn live_carry_only			# ZF lives on behind what writes CF
	place
	stc
	je	1f
	nop
1:	ret
end live_carry_only

fn dead_write
	place
	add	%rdi, %rax
	ret
end dead_write

fn dead_carry				# inc leaves CF alone
	place
	adc	%rdi, %rax
	ret
end dead_carry

fn dead_ways
	place
	jb	1f
	xor	%eax, %eax
	ret
1:	test	%edi, %edi
	ret
end dead_ways

fn dead_return
	place
	ret
end dead_return

fn dead_rotation			# by one bit, which writes OF for sure
	place
	rolw	$1, %di
	sahf
	setl	%al
	ret
end dead_rotation

fn dead_narrow				# a count that is not zero
	place
	shr	$7, %al
	je	1f
	nop
1:	ret
end dead_narrow

fn dead_slot
	place
	jmp	*slot(%rip)
end dead_slot

fn dead_tail				# with the frame of the entry
	place
	jmp	*%rax
end dead_tail

fn live_label				# a jump as in a tail call, but a pointer leads inside
	place
	lea	live_labels(%rip), %rax
	mov	(%rax,%rdi,8), %rax
	jmp	*%rax
1:	xor	%eax, %eax
	ret
2:	sete	%al
	ret
	.section .data.rel.ro, "aw", @progbits
	.balign	8
live_labels:
	.quad	1b, 2b
	.text
end live_label

fn live_any_label			# both overwrite the flags, but distances may be added
	place
	lea	any_labels(%rip), %rax
	mov	(%rax,%rdi,8), %rax
	jmp	*%rax
1:	xor	%eax, %eax
	ret
2:	add	%edi, %eax
	ret
	.section .data.rel.ro, "aw", @progbits
	.balign	8
any_labels:
	.quad	1b, 2b
	.text
end live_any_label

	.macro	framed name, reads		# a jump inside of the function, with a frame of its own
	fn	\name
	push	%rbx
	.cfi_adjust_cfa_offset 8
	and	$1, %edi
	place
	lea	\name\()_ways(%rip), %rax
	movslq	(%rax,%rdi,4), %rdx
	lea	(%rdx,%rax), %rdx
	jmp	*%rdx
1:	xor	%eax, %eax
	jmp	3f
2:	\reads	%al
3:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.section .rodata
	.balign	4
\name\()_ways:
	.long	1b - \name\()_ways, 2b - \name\()_ways
	.text
	end	\name
	.endm
framed dead_framed, neg				# overwrites the flags
framed live_framed, sete			# reads them

fn dispatches				# calls, and jumps behind that
	push	%rbx
	.cfi_adjust_cfa_offset 8
	and	$1, %ebx
	call	dead_dispatched
	lea	dispatched_ways(%rip), %rcx
	movslq	(%rcx,%rbx,4), %rdx
	lea	(%rdx,%rcx), %rdx
	jmp	*%rdx
1:	xor	%eax, %eax
2:	neg	%eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.section .rodata
	.balign	4
dispatched_ways:
	.long	1b - dispatched_ways, 2b - dispatched_ways
	.text
end dispatches

fn dead_dispatched
	place
	mov	%rdi, %rax
	ret
end dead_dispatched

	.macro	again name, reads		# comes by the same jump again, and leads on
	fn	\name				# a call, for what cannot be counted in has no image
	place
	call	\name\()_inside
	ret
	end	\name
	fn	\name\()_inside
	lea	\name\()_ways(%rip), %rcx
1:	mov	(%rcx,%rdi,8), %rax
	jmp	*%rax
2:	mov	%rsi, %rdi
	jmp	1b
3:	\reads	%al
	ret
	.section .data.rel.ro, "aw", @progbits
	.balign	8
\name\()_ways:
	.quad	2b, 3b
	.text
	end	\name\()_inside
	.endm
again live_again, sete				# reads them

	.macro	half name, before		# a frame, and of two ways inside by distances one is known
	fn	live_\name			# in front of a call, for code that cannot be moved has no image
	place
	call	\name
	ret
	end	live_\name
	fn	\name
	\before
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	\name\()_ways(%rip), %rax
	movswq	(%rax,%rdi,2), %rdx
	lea	1f(%rip), %rax
	lea	(%rdx,%rax), %rdx
	jmp	*%rdx
1:	xor	%eax, %eax
	jmp	3f
2:	sete	%al
3:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.section .rodata
	.balign	4
\name\()_ways:
	.short	1b - 1b, 2b - 1b
	.text
	end	\name
	.endm
	.macro	undecoded
	jmp	9f
	.byte	0x06
9:
	.endm
half half_known
half half_decoded, undecoded			# nobody has a list of its jumps

fn live_distances			# the same without a frame
	place
	call	distances
	ret
end live_distances
fn distances
	movslq	%edi, %rdi
	lea	distances_ways(%rip), %rax
	movsbq	(%rax,%rdi), %rdx
	lea	1f(%rip), %rax
	lea	(%rdx,%rax), %rdx
	jmp	*%rdx
1:	xor	%eax, %eax
	ret
2:	sete	%al
	ret
	.section .rodata
distances_ways:
	.byte	1b - 1b, 2b - 1b
	.text
end distances

fn live_sum				# a label that stands nowhere: at a distance from another function
	place
	lea	sum_ways(%rip), %rcx
	mov	(%rcx,%rdi,8), %rax
	lea	sums_from(%rip), %rcx
	lea	(%rax,%rcx), %rax
	jmp	*%rax
1:	xor	%eax, %eax
	ret
2:	sete	%al
	ret
	.section .rodata
	.balign	8
sum_ways:
	.quad	1b - sums_from, 2b - sums_from
	.text
end live_sum

fn live_brought_sum			# as before, on one of two ways
	mov	%rdi, %rcx
	mov	(%rdi), %rax
	jrcxz	3f
	lea	brought_ways(%rip), %rax
	mov	(%rax,%rcx,8), %rax
	lea	sums_from(%rip), %rcx
	lea	(%rax,%rcx), %rax
3:	place
	jmp	*%rax
1:	xor	%eax, %eax
	ret
2:	sete	%al
	ret
	.section .rodata
	.balign	8
brought_ways:
	.quad	1b - sums_from, 2b - sums_from
	.text
end live_brought_sum

fn dead_fetched				# brought as it was fetched, or copied, or is an argument
	mov	(%rdi), %rdx
	mov	%rsi, %rcx
	jrcxz	1f
	mov	8(%rdi), %rdx
1:	place
	mov	%rdx, %rdi
	jmp	*%rdx
end dead_fetched

fn dead_fetched_by_others		# a mov with a prefix, as assemblers pad with
	jrcxz	1f
	.byte	0x2e
	mov	8(%rdi), %rdx
	jmp	2f
1:	mov	8(%rsi), %rdx
2:	place
	jmp	*%rdx
end dead_fetched_by_others

fn dead_copied				# fetched, and copied in the same block
	place
	mov	(%rdi), %rdx
	mov	%rdx, %rax
	jmp	*%rax
end dead_copied

fn live_behind_call			# which may overwrite the register
	mov	(%rdi), %rax
	call	loops
	place
	jmp	*%rax
end live_behind_call

fn live_kept_in_frame				# what may have been calculated before
	mov	-8(%rsp), %rdx
	place
	jmp	*%rdx
end live_kept_in_frame

fn live_unreached			# by no way that is seen
	ret
	place
	jmp	*%rdx
end live_unreached

fn dead_cold				# in a piece of its own
	push	%rbx
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	je	cold_at
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end dead_cold
	.cfi_startproc
	.cfi_def_cfa_offset 16
	xor	%eax, %eax
cold_at:
	place
	mov	8(%rdi), %rax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.balign	16

fn dead_backwards			# by a long way against the order
	mov	(%rdi), %rdx
	jmp	3f
2:	place
	jmp	*%rdx
	.rept	40
1:	jmp	2b
2:	jmp	1b
	.endr
3:	lea	(%rdi,%rdi), %rcx
	jmp	2b
end dead_backwards

fn live_called_inside			# calls what is no function, and jumps there
	place
	call	called_inside
	ret
end live_called_inside
fn called_inside
	lea	inside_ways(%rip), %rcx
	mov	(%rcx,%rdi,8), %rdx
	lea	sums_from(%rip), %rcx
	lea	(%rdx,%rcx), %rdx
	call	1f
	ret
1:	.cfi_adjust_cfa_offset 8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	jmp	*%rdx
2:	sete	%al
	ret
	.section .rodata
	.balign	8
inside_ways:
	.quad	2b - sums_from
	.text
end called_inside

	.ifdef ELSEWHERE
fn live_narrow_labels			# in words of four bytes
	place
	mov	narrow_ways(,%rdi,4), %eax
	jmp	*%rax
1:	xor	%eax, %eax
	ret
2:	sete	%al
	ret
	.section .rodata
	.balign	4
narrow_ways:
	.long	1b, 2b
	.text
end live_narrow_labels
fn live_shared				# what loads an entry is in front of the jump, but not alone
	place
	call	shared
	ret
end live_shared
fn shared
	mov	%rdi, %rcx
	jrcxz	4f
	mov	shared_ways(,%rcx,8), %rax
3:	jmp	*%rax
4:	mov	$1f, %eax
	jmp	3b
1:	sete	%al
	ret
2:	xor	%eax, %eax
	ret
	.section .rodata
	.balign	8
shared_ways:
	.quad	2b, 2b
	.text
end shared
fn live_thunk				# by a function that only jumps on
	place
	call	by_thunk
	ret
end live_thunk
fn by_thunk
	lea	thunk_ways(%rip), %rax
	mov	(%rax,%rdi,8), %rax
	jmp	thunk
1:	xor	%eax, %eax
	ret
2:	sete	%al
	ret
	.section .rodata
	.balign	8
thunk_ways:
	.quad	1b, 2b
	.text
end by_thunk
fn thunk
	lfence
	jmp	*%rax
end thunk
fn live_sum_by_thunk
	place
	lea	sum_ways(%rip), %rcx
	mov	(%rcx,%rdi,8), %rax
	lea	sums_from(%rip), %rcx
	lea	(%rax,%rcx), %rax
	jmp	sum_thunk
end live_sum_by_thunk
fn sum_thunk
	jmp	*%rax
end sum_thunk
fn calls_sum_thunk
	call	sum_thunk
	ret
end calls_sum_thunk
fn calls_thunk
	call	thunk
	ret
end calls_thunk
fn live_elsewhere			# two of four ways by a table lead into another function
	push	%rbx
	.cfi_adjust_cfa_offset 8
	mov	%edi, %eax
	cmp	$3, %eax
	ja	1f
	place
	jmp	*elsewhere(,%rax,8)
1:	xor	%eax, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.section .rodata
	.balign	8
elsewhere:
	.quad	1b, 1b, 2f, 3f
	.text
end live_elsewhere
fn another
	push	%rbx
	.cfi_adjust_cfa_offset 8
	xor	%eax, %eax
2:	sete	%al
3:	movzbl	%al, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end another
	.endif

fn live_label_variable			# a variable holds the label, and is jumped through
	place
	call	label_variable
	ret
end live_label_variable
fn label_variable
	jmp	*label_at(%rip)
1:	sete	%al
	ret
	.data
	.balign	8
label_at:
	.quad	1b
	.text
end label_variable

fn live_constant_label			# as before, but nothing writes the word
	place
	call	constant_label
	ret
end live_constant_label
fn constant_label
	jmp	*constant_label_at(%rip)
1:	sete	%al
	ret
	.section .data.rel.ro, "aw", @progbits
	.balign	8
constant_label_at:
	.quad	1b
	.text
end constant_label

fn live_constant			# with CONSTANT
	place
	ret
	.section .data.rel.ro, "aw", @progbits
	.balign	8
constant:
	.quad	live_constant
	.text
end live_constant

fn dead_trap
	place
	ud2
	nop
end dead_trap

fn live_trap				# whose signal's handler goes on behind it
	test	%edi, %edi
	jrcxz	1f
	place
	ud2
1:	sete	%al
	ret
end live_trap

	.ifdef UNTOLD
untold:	jmp	dead_return		# without an FDE
	.balign	16
	.endif
	.if	ODD == 2
fn reads_late
	.rept	1100
	mov	%rdi, %rcx
	.endr
	sete	%al
	ret
end reads_late
	.endif

	.data
	.balign	8
slot:	.quad	0
	.section .note.GNU-stack, "", @progbits

	.data
	.balign	8
pointer:
	.quad	dead_return
	.if	ODD == 1			# a pointer to what begins by reading flags
	.quad	reads_flags
	.endif
	.if	ODD == 2			# or may do so
	.quad	reads_late
	.endif
