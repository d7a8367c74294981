# A branch each, NAME_branch, and where its ways meet, NAME_join, if they do; test_postdom.c knows what is
# written in between.

	.text
	.globl	code
	.type	code, @function
code:

# Written on one way only.
one_branch:
	je	one_join
	mov	$1, %ecx
one_join:
	ret

# On both, with an inner branch, and flags.
nested_branch:
	jb	nested_else
	test	%eax, %eax
	js	nested_inner
	mov	%dl, %sil
nested_inner:
	xchg	%r8, %r9
	jmp	nested_join
nested_else:
	lea	1(%rbx), %r15
nested_join:
	ret

# Only what the loop writes counts, and all of it, though the branch is in its middle.
loop_head:
	inc	%eax
loop_branch:
	je	loop_join
	mov	%rax, %r10
	jmp	loop_head
loop_join:
	mov	$1, %r11d
	ret

# At r12 and at the stack as they were at the branch.
stores_branch:
	je	stores_join
	mov	%eax, 8(%r12)
	push	%rbx
	movq	$0, 24(%rsp)
	movups	%xmm0, -32(%rsp)
	pop	%rax
stores_join:
	ret

# Who knows where: r13 changes, and an index.
anywhere_branch:
	je	anywhere_join
	movb	$0, (%r13)
	mov	$1, %r13d
anywhere_join:
	ret
indexed_branch:
	je	indexed_join
	movb	$0, (%r13,%rax)
indexed_join:
	ret

calls_branch:
	je	calls_join
	sub	$8, %rsp
	call	*%rbp
	add	$8, %rsp
calls_join:
	ret

# The stack is the same on both ways, and another one than before.
frame_branch:
	je	frame_else
	add	$24, %rsp
	jmp	frame_join
frame_else:
	lea	16(%rsp), %rsp
	pop	%rbp
frame_join:
	ret

# Of the way into the trap nothing comes back.
trap_branch:
	je	trap_join
	mov	$1, %edi
	ud2
trap_join:
	ret
abort_branch:
	je	abort_join
	mov	$1, %edi
	call	abort@plt
	mov	$1, %esi
	ret
abort_join:
	ret
circle_branch:
	je	circle_join
circle:	inc	%edi
	jmp	circle
circle_join:
	ret

far_branch:
	je	far_join
	.rept	200
	nop
	.endr
far_join:
	ret

# No join.
returns_branch:
	je	returns_too
	ret
returns_too:
	ret
computed_branch:
	je	computed_too
	jmp	*%rax
computed_too:
	ret
stack_branch:
	je	stack_too
	push	%rax
stack_too:
	ret
frame_pointer_branch:
	je	frame_pointer_too
	mov	%rbp, %rsp
frame_pointer_too:
	ret
system_branch:
	je	system_too
	syscall
system_too:
	ret
doomed_branch:
	je	doomed_too
	ud2
doomed_too:
	hlt
farther_branch:
	je	farther_too
	.rept	400
	nop
	.endr
farther_too:
	ret
	.size	code, .-code
