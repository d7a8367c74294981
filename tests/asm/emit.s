# Every way in which a block can end.  _start calls each function with 0..47 and a second value,
# folds the results into one word and writes it to standard output.

	.include "tests/asm/global.inc"
	.macro long			# over 127 bytes that change %rax in a way of their own
	.rept	24
	imul	$31, %rax, %rax
	inc	%rax
	.endr
	.endm

	.text
begin loops				# loop, jrcxz: their targets get out of reach of 8 bits
	mov	%rdi, %rax
	lea	1(%rdi), %rcx
1:	add	%rcx, %rax
	imul	$3, %rax, %rax
	loop	1b
	mov	%rsi, %rcx
	jrcxz	2f
	inc	%rax
2:	test	$1, %dil
	jz	3f
	long
3:	ret
end loops

begin conditional_loops			# loope, loopne, jecxz; both ways taken
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	mov	%edi, %ecx
	xor	%eax, %eax
	jecxz	4f
1:	add	$7, %rax
	cmp	%rsi, %rax
	loopne	1b
	jz	3f
	mov	$99, %ebx
	add	%rbx, %rax
3:	cmp	$5, %rsi
	loope	5f
4:	inc	%rax
5:	cmp	$8, %rdi
	jmp	6f
	nopw	(%rax)
6:	js,pn	7f
	long
7:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
end conditional_loops

begin jumps_only			# blocks that are nothing but a jmp or NOPs
	jmp	2f
1:	lea	5(%rax), %rax
	jmp	3f
	.p2align 4
2:	mov	%rdi, %rax
	test	$2, %dil
	jnz	1b
	nopl	0(%rax)
3:	jmp	4f
4:	test	$4, %dil
	jp	5f
	call	leaf
	nop
	nop
5:	ret
end jumps_only

begin leaf
	lea	(%rax,%rsi,8), %rax
	add	word(%rip), %rax
	ret
end leaf

begin conditional_tail_call		# leaves the function by a conditional jump
	mov	%rsi, %rax
	cmp	$20, %rdi
	ja	leaf
	jne	falls_out
	dec	%rax
	jmp	loops
end conditional_tail_call

begin falls_out				# runs into the next function
	mov	%rdi, %rax
	add	$3, %rax
end falls_out
	.globl	behind
	.type	behind, @function
behind:	.cfi_startproc
	neg	%rax
	long
	ret
end behind

begin table
	cmp	$7, %rdi
	ja	.L9
	lea	jump_table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
.L1:	mov	$11, %eax
	ret
.L2:	lea	22(%rsi), %rax
	ret
.L3:	mov	$33, %eax
	long
	ret
.L9:	xor	%eax, %eax
	ret
end table

begin traps				# the handler reads what the trap means behind int3
	mov	%rdi, %rax
	test	$1, %dil
	jz	1f
	int3
	nopl	0x45(%rax)
1:	test	$2, %dil
	jz	2f
	lea	3(%rax,%rax), %rax
	int3
	nopl	0x52(%rax)
	.p2align 4
2:	xor	%rsi, %rax
	ret
end traps

begin late				# what depends on where it stands is its bytes 8 to 11
	.byte	0x2e, 0x2e, 0x2e, 0x2e, 0x2e
	imul	$3, word(%rip), %rax
	test	$1, %dil
	jz	1f
	add	%rdi, %rax
1:	ret
end late

begin on_trap				# (signal, information, context): adds the operand of the NOP to %rax
	mov	168(%rdx), %rcx		# rip
	movzbl	3(%rcx), %eax
	add	%rax, 144(%rdx)		# rax
	cmpw	$0x1f0f, (%rcx)
	je	1f
	hlt
1:	ret
end on_trap

restorer:				# without unwind information, so that it stays
	mov	$15, %eax		# rt_sigreturn
	syscall

begin fold				# %rax and %r12 into %r12
	imul	$1000003, %r12, %r12
	xor	%rax, %r12
	rol	$7, %r12
	ret
end fold

begin _start
	.cfi_undefined rip
	lea	on_trap(%rip), %rax
	mov	%rax, action(%rip)
	lea	restorer(%rip), %rax
	mov	%rax, action + 16(%rip)
	mov	$13, %eax		# rt_sigaction
	mov	$5, %edi		# SIGTRAP
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	xor	%r12d, %r12d
	xor	%r13d, %r13d
1:	mov	%r13d, %esi
	and	$7, %esi
	.irp	f, loops, conditional_loops, jumps_only, conditional_tail_call, falls_out, table, traps, late
	mov	%r13, %rdi
	call	\f
	call	fold
	.endr
	inc	%r13
	cmp	$48, %r13
	jb	1b
	mov	%r12, word(%rip)
	mov	$1, %eax
	mov	$1, %edi
	lea	word(%rip), %rsi
	mov	$8, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	hlt
end _start

	.section .rodata
	.p2align 2
jump_table:
	.long	.L1 - jump_table, .L2 - jump_table, .L3 - jump_table, .L9 - jump_table
	.long	.L1 - jump_table, .L2 - jump_table, .L9 - jump_table, .L3 - jump_table

	.data
word:	.quad	5
action:	.quad	0, 0x04000004, 0, 0	# handler, SA_RESTORER | SA_SIGINFO, restorer, mask
	.section .note.GNU-stack, "", @progbits
