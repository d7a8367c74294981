# Programs in which an assumption of the Editor and the Verifier is not true: CASE says which one
# (tests/unit/verify/test_unseen.c).  Each ends with the status that it computes.

	.include "tests/asm/hidden.inc"
	.macro dispatch_by t
	lea	\t(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.endm
	.macro cases
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
	.endm

	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	call	main
	mov	%eax, %edi
	mov	$60, %eax
	syscall
	ud2
	.cfi_endproc
	.size	_start, .-_start

	.if	CASE == 1		# one FDE covers two functions
begin main
	mov	$3, %edi
	call	first
	mov	%eax, %edi
	call	second
	ret
end main
begin first
	lea	1(%rdi), %eax
	imul	%edi, %eax
	ret
	.p2align 4
	.globl	second
	.hidden	second
	.type	second, @function
second:	lea	2(%rdi), %eax
	add	%edi, %eax
	ret
end first
	.endif

	.if	CASE == 2		# a row is not true: the frame is not that of the entry
begin main
	mov	$1, %edi
	call	pushes
	ret
end main
begin pushes
	mov	$1, %r9d		# the entry jump is put here
	push	%rbx
	cmp	$3, %edi
	ja	14f
	lea	15f(%rip), %rcx
	dispatch_by	T
10:	mov	$10, %eax
	pop	%rbx
	ret
11:	jmp	*%rcx
12:	mov	$12, %eax
	pop	%rbx
	ret
13:	mov	$13, %eax
	pop	%rbx
	ret
14:	xor	%eax, %eax
	pop	%rbx
	ret
15:	lea	T(%rip), %rax
	cmp	%rax, %rdx
	mov	$20, %eax
	je	16f
	mov	$21, %eax
16:	pop	%rbx
	ret
	.section .rodata
	.p2align 2
T:	.long	10b-T, 11b-T, 12b-T, 13b-T, 0x7ffffff0
	.text
end pushes
	.endif

	.if	CASE == 3 || CASE == 9	# err() or abort() comes back
begin main
	mov	$4, %edi
	call	reports
	ret
end main
begin reports
	cmp	$3, %edi
	jbe	1f
	push	%rdi
	.cfi_def_cfa_offset 16
	.if	CASE == 3
	call	err@PLT
	.else
	call	abort@PLT
	.endif
	pop	%rdi
	.cfi_def_cfa_offset 8
1:	mov	%edi, %edi
	dispatch_by	T
	cases
	.section .rodata
	.p2align 2
T:	.long	10b-T, 11b-T, 12b-T, 13b-T, foreign-T, 0x7ffffff0
	.text
end reports
begin another
	mov	$1, %eax
	ret
foreign:
	mov	$14, %eax
	ret
end another
	.endif

	.if	CASE == 4		# an address is formed by a distance in data
begin main
	lea	main(%rip), %rax
	add	distance(%rip), %rax
	mov	held(%rip), %rdx
	cmp	%rax, %rdx
	sete	%al
	movzbl	%al, %eax
	add	$30, %eax
	push	%rax
	.cfi_def_cfa_offset 16
	call	*%rdx
	pop	%rcx
	.cfi_def_cfa_offset 8
	add	%ecx, %eax
	ret
end main
begin pointed
	mov	$5, %eax
	nop
	ret
end pointed
	.section .rodata
	.p2align 3
distance:
	.quad	pointed - main
	.section .data.rel.ro, "aw"
	.p2align 3
held:	.quad	pointed
	.text
	.endif

	.if	CASE == 5		# pointers from memory are compared by order
begin main
	mov	table(%rip), %rax
	cmp	table+8(%rip), %rax
	sbb	%eax, %eax
	and	$1, %eax
	add	$40, %eax
	ret
end main
begin lower
	mov	$1, %eax
	nop
	ret
end lower
begin upper
	mov	$2, %eax
	nop
	ret
end upper
	.section .data.rel.ro, "aw"
	.p2align 3
table:	.quad	lower, upper
	.text
	.endif

	.if	CASE == 6		# an address inside is known as a distance from elsewhere
begin main
	call	inside
	ret
end main
begin inside
	call	asks
L_inside:
	add	$50, %eax
	ret
end inside
begin asks
	lea	elsewhere(%rip), %rcx
	movslq	(%rcx), %rdx
	lea	shown(%rip), %rcx
	add	%rcx, %rdx
	cmp	%rdx, (%rsp)
	sete	%al
	movzbl	%al, %eax
	ret
end asks
	.section .rodata
	.p2align 2
	.long	3, 5, 7
elsewhere:
	.long	L_inside - shown
	.long	11, 13, 17
shown:	.long	19
	.text
	.endif

	.if	CASE == 7		# what a jump by a table has left behind is an argument
begin main
	mov	$1, %edi
	call	leaves
	ret
end main
begin leaves
	cmp	$3, %edi
	ja	14f
	mov	%edi, %edi
	dispatch_by	T
10:	mov	$10, %eax
	ret
11:	call	asks
	nop
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
14:	xor	%eax, %eax
	ret
	.section .rodata
	.p2align 2
T:	.long	10b-T, 11b-T, 12b-T, 13b-T, 0x7ffffff0
address_of_T:
	.quad	T - address_of_T
	.text
end leaves
begin asks
	lea	address_of_T(%rip), %rax
	add	(%rax), %rax
	cmp	%rax, %rdx
	sete	%al
	movzbl	%al, %eax
	add	$80, %eax
	ret
end asks
	.endif

	.if	CASE == 8		# code is written to
begin main
	call	patched
	push	%rax
	.cfi_def_cfa_offset 16
	lea	distance(%rip), %rbx
	add	(%rbx), %rbx
	mov	%rbx, %rdi
	and	$-4096, %rdi
	mov	$8192, %esi
	mov	$7, %edx
	mov	$10, %eax
	syscall
	movb	$4, 1(%rbx)
	call	patched
	pop	%rcx
	.cfi_def_cfa_offset 8
	lea	90(%rax,%rcx), %eax
	ret
end main
begin patched
	mov	$1, %eax
	nop
	ret
end patched
	.data
	.p2align 3
distance:
	.quad	patched - distance
	.text
	.endif

	.section .note.GNU-stack, "", @progbits
