# Branches for test_postdom.c: each is at NAME_branch, and its two ways meet at NAME_postdom, if they
# do.  The test says what is written in between.

	.text
	.globl	code
	.type	code, @function
code:

# Written on one way only.
one_branch:
	je	one_postdom
	mov	$1, %ecx
one_postdom:
	ret

# On both, with an inner branch, and flags.
nested_branch:
	jb	nested_else
	test	%eax, %eax
	js	nested_inner
	mov	%dl, %sil
nested_inner:
	xchg	%r8, %r9
	jmp	nested_postdom
nested_else:
	lea	1(%rbx), %r15
nested_postdom:
	ret

# Only what the loop writes counts, and all of it, though the branch is in its middle.
loop_head:
	inc	%eax
loop_branch:
	je	loop_postdom
	mov	%rax, %r10
	jmp	loop_head
loop_postdom:
	mov	$1, %r11d
	ret

# At r12 and at the stack as they were at the branch.
stores_branch:
	je	stores_postdom
	mov	%eax, 8(%r12)
	push	%rbx
	movq	$0, 24(%rsp)
	movups	%xmm0, -32(%rsp)
	pop	%rax
stores_postdom:
	ret

# Who knows where: r13 changes, and an index.
anywhere_branch:
	je	anywhere_postdom
	movb	$0, (%r13)
	mov	$1, %r13d
anywhere_postdom:
	ret
indexed_branch:
	je	indexed_postdom
	movb	$0, (%r13,%rax)
indexed_postdom:
	ret

calls_branch:
	je	calls_postdom
	sub	$8, %rsp
	call	*%rbp
	add	$8, %rsp
calls_postdom:
	ret

# The stack is the same on both ways, and another one than before.
frame_branch:
	je	frame_else
	add	$24, %rsp
	jmp	frame_postdom
frame_else:
	lea	16(%rsp), %rsp
	pop	%rbp
frame_postdom:
	ret

# Of the way into the trap nothing comes back.
trap_branch:
	je	trap_postdom
	mov	$1, %edi
	ud2
trap_postdom:
	ret
abort_branch:
	je	abort_postdom
	mov	$1, %edi
	call	abort@plt
	mov	$1, %esi
	ret
abort_postdom:
	ret
circle_branch:
	je	circle_postdom
circle:	inc	%edi
	jmp	circle
circle_postdom:
	ret

far_branch:
	je	far_postdom
	.rept	200
	nop
	.endr
far_postdom:
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
