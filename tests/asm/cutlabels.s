# Functions that form labels of their own and jump to what is calculated, or not.  Built as a shared
# library, or a program at a fixed address; the instruction behind the first is where an entry jump would lie.

	.include "tests/asm/global.inc"
	.text
	# The jump may go anywhere where the frame is as it is here: to 1 as well.
begin calculates
	xor	%ecx, %ecx
1:	inc	%rcx
	lea	2f(%rip), %rdx
	movslq	(%rdi), %rax
	add	%rdx, %rax
	jmp	*%rax
2:	mov	%rcx, %rax
	ret
end calculates

	# Another frame: not behind the push.
begin calculates_with_a_frame
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%rdi, %rbx
	sub	$16, %rsp
	.cfi_adjust_cfa_offset 16
	lea	2f(%rip), %rdx
	movslq	(%rdi), %rax
	add	%rdx, %rax
	jmp	*%rax
2:	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end calculates_with_a_frame

	# What is fetched is a whole address, of which data tells.
begin fetches
	xor	%ecx, %ecx
1:	inc	%rcx
	lea	2f(%rip), %rdx
	mov	(%rdi), %rax
	jmp	*%rax
2:	mov	%rcx, %rax
	ret
end fetches

	# Unless nothing tells of some code; then it may have been calculated before.
begin fetches_kept
	xor	%ecx, %ecx
1:	inc	%rcx
	lea	2f(%rip), %rdx
	mov	(%rdi), %rax
	jmp	*%rax
2:	mov	%rcx, %rax
	jmp	3f
	inc	%rax
3:	ret
end fetches_kept
	# What another function has, into which it jumps, says nothing of it.
begin fetches_beside
	xor	%ecx, %ecx
1:	inc	%rcx
	je	3b
	lea	2f(%rip), %rdx
	mov	(%rdi), %rax
	jmp	*%rax
2:	mov	%rcx, %rax
	ret
end fetches_beside

	# Something leads behind a call, also behind one that does not come back.
begin fetches_behind_call
	xor	%ecx, %ecx
1:	inc	%rcx
	lea	2f(%rip), %rdx
	mov	(%rdi), %rax
	jmp	*%rax
2:	call	stops
	mov	%rcx, %rax
	ret
end fetches_behind_call
begin stops
	ud2
end stops

	# A table leads to a case behind what looks like another table: two entries of it, of which the
	# function forms the address.
begin fetches_switch
	xor	%ecx, %ecx
1:	inc	%rcx
	lea	2f(%rip), %rdx
	mov	(%rdi), %rax
	jmp	*%rax
2:	mov	%esi, %esi		# nothing says how many there are
	lea	cases(%rip), %rdx
	movslq	(%rdx,%rsi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
3:	lea	cases+8(%rip), %rax
	ret
4:	movq	$5, 8(%rdi)
	ret
end fetches_switch
	.section .rodata
	.p2align 2
cases:	.long	3b - cases, 3b - cases, 4b - cases
	.text

	.ifdef FIXED
	# A constant is the label's address.
begin fetches_constant
	xor	%ecx, %ecx
1:	inc	%rcx
	mov	$2f, %edx
	mov	(%rdi), %rax
	jmp	*%rax
2:	mov	%rcx, %rax
	ret
end fetches_constant
	.endif

	# A word has the label.
begin word_has_label
	xor	%ecx, %ecx
1:	inc	%rcx
	add	(%rdi), %rax
	jmp	*%rax
4:	mov	%rcx, %rax
	ret
end word_has_label
	.data
	.p2align 3
word:	.quad	4b
	.text

	# A word that leads between two instructions is a label and something added to it, if it is
	# relocated; at a fixed address it may be any number.
begin word_leads_between
	xor	%ecx, %ecx
	inc	%rcx
	add	(%rdi), %rax
	jmp	*%rax
end word_leads_between
	.data
	.quad	word_leads_between + 6
	.text

	# It has no label of its own.
begin forms_none
	xor	%ecx, %ecx
	inc	%rcx
	add	(%rdi), %rax
	jmp	*%rax
end forms_none
	.section .note.GNU-stack, "", @progbits
