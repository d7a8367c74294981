# Functions whose inner addresses other code has, or only seems to have.  NAME is the function,
# use_NAME the code that has the address.

	.include "tests/asm/hidden.inc"

	.text
# As the C library's handler of the signal by which threads are cancelled does.
begin waits
	mov	(%rdi), %eax
	test	$0x10, %eax
	jne	1f
	mov	%rsi, %rax
	syscall
L_waits_end:
	ret
1:	ud2
end waits
begin use_waits
	lea	L_waits_end(%rip), %rax
	cmp	%rax, 168(%rdx)
	jae	1f
	mov	$1, %eax
	ret
1:	xor	%eax, %eax
	ret
end use_waits

# Everything from its entry on is meant.
begin first_of_all
	lea	1(%rdi), %rax
	ret
end first_of_all
begin use_first_of_all
	lea	first_of_all(%rip), %rax
	cmp	%rax, %rdi
	setae	%al
	ret
end use_first_of_all

# The same, as programs that are asked how far they have come do.
begin measured
	lea	3(%rdi), %rax
	ret
end measured
begin use_measured
	lea	measured(%rip), %rax
	sub	%rax, %rdi
	cmp	$16, %rdi
	setb	%al
	ret
end use_measured

# Only whether it is this function.
begin known_by_name
	lea	2(%rdi), %rax
	ret
end known_by_name
begin use_known_by_name
	lea	known_by_name(%rip), %rax
	cmp	%rax, %rdi
	sete	%al
	ret
end use_known_by_name

# A load that may fault, and where to go on then.
begin may_fail
	lea	0x1234(%rsi), %rdx
	mov	%esi, %eax
L_may_fail:
	mov	(%rdi), %eax
L_failed:
	ret
end may_fail
	.section .data.rel.ro, "aw"
	.quad	L_may_fail, L_failed
	.text

# An interpreter; its labels are for itself.
begin threaded
	lea	L_labels(%rip), %rdx
	jmp	*(%rdx,%rdi,8)
L_one:	mov	$1, %eax
	ret
L_two:	mov	$2, %eax
	ret
end threaded
	.section .data.rel.ro, "aw"
L_labels:
	.quad	L_one, L_two
	.text

# It may jump anywhere, but not by what a section of its own lists.
begin keyed
	mov	$0x12345678, %eax
L_key:	nopl	0(%rax,%rax)
	jmp	*(%rdi)
L_keyed:
	mov	$6, %eax
	ret
end keyed
	.section keys, "aw"
	.quad	L_key, L_keyed, 1
	.text

# It tells a handler, or whom it calls, where it will be.
begin remembers
	lea	1f(%rip), %rax
	mov	%rax, (%rdi)
	nop
1:	mov	$3, %ecx
	ret
end remembers

# The same where it may want to go there by itself.
begin goes_there
	lea	1f(%rip), %rax
	mov	%rax, (%rdi)
	jmp	*(%rsi)
1:	mov	$4, %ecx
	ret
end goes_there

# It may want to go somewhere, but not where its call returns: it asks whether that came back.
begin comes_back
	push	%rbx
	.cfi_adjust_cfa_offset 8
	mov	%rsi, %rbx
	call	*(%rdi)
1:	mov	-8(%rsp), %rcx
	lea	1b(%rip), %rdx
	cmp	%rdx, %rcx
	cmovne	%rcx, %rax
	mov	(%rbx,%rax), %rax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
end comes_back

# Its own place is a base to find something else by.
begin has_base
	mov	$5, %ecx
1:	lea	1b(%rip), %rax
	add	%rdi, %rax
	lea	1f(%rip), %rdx
1:	mov	%rdx, (%rdi)
	ret
end has_base

# Control arrives there, nothing else.
begin jumped_into
	test	%edi, %edi
	jne	L_jumped
	mov	$1, %eax
	ret
L_jumped:
	mov	$2, %eax
	ret
end jumped_into
begin use_jumped_into
	inc	%edi
	jmp	L_jumped
end use_jumped_into

# The kernel restarts it when another thread was run on the processor meanwhile.
begin restarts
	mov	(%rdi), %eax
	inc	%eax
	mov	%eax, (%rdi)
	ret
end restarts
	.section __rseq_cs, "aw"
	.quad	restarts
	.text

# The same where a symbol that others may have their own of stands for the place.
begin restarts_by_name
	mov	(%rdi), %eax
	dec	%eax
	mov	%eax, (%rdi)
	ret
end restarts_by_name
	.globl	known_restarts
	.set	known_restarts, restarts_by_name
	.section __rseq_cs, "aw"
	.quad	known_restarts
	.text
begin may_fail_by_name
	mov	%esi, %eax
	lea	0x1234(%rsi), %rdx
L_may_fail_by_name:
	mov	(%rdi), %eax
	ret
end may_fail_by_name
	.globl	known_may_fail
	.set	known_may_fail, may_fail_by_name
	.section .data.rel.ro, "aw"
	.quad	known_may_fail + 9
	.text

# Four bytes right in front of another function, and who calculates with where they are.
begin tagged
	lea	9(%rdi), %eax
	ret
end tagged
	.globl	behind_tagged
	.type	behind_tagged, @function
behind_tagged:
	.cfi_startproc
	mov	(%rdi), %eax
	add	$12, %eax
	ret
end behind_tagged
begin use_tagged
	lea	tagged(%rip), %rax
	and	$-32, %rax
	jmp	*%rax
end use_tagged
