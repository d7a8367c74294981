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
