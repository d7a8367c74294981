# Instructions of which test_insntime.c knows what they need, each behind a label.
	.text
	.globl	timed
	.type	timed, @function
timed:
	.cfi_startproc
l_add:	add	%rbx, %rax
l_zero:	xor	%ecx, %ecx
l_mul:	imul	%rsi, %rdx
l_div:	div	%r8
l_load:	mov	8(%rdi,%rbx,4), %r9d
l_store:	movb	%al, 3(%rsp)
l_update:	addq	$1, (%r10)
l_lea:	lea	8(%rdi,%rbx,4), %r11
l_float:	addsd	%xmm1, %xmm2
l_nop:	nop
l_setc:	sbb	%rax, %rax
l_push:	push	%rbp
l_pop:	pop	%rbx
l_move:	mov	%rbx, %rax
l_part:	mov	%bl, %al
l_poprsp: pop	%rsp
l_jump:	jc	timed
l_vzero: vxorps	%xmm3, %xmm3, %xmm3
l_ones:	pcmpeqd	%xmm4, %xmm4
l_vxor:	vxorps	%xmm5, %xmm3, %xmm3
l_swap:	xchg	%rbx, %rax
l_movups: movups %xmm3, %xmm4
	ret
	.cfi_endproc
	.size	timed, .-timed
