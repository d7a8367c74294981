# Calls and tail jumps over the procedure linkage table, to functions that another module could
# interpose.

	.include "tests/asm/global.inc"

	.text
begin twice
	lea	(%rdi,%rdi), %rax
	ret
end twice

begin thrice
	lea	(%rdi,%rdi,2), %rax
	ret
end thrice

begin calls				# 2n + 3n
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	push	%rdi
	.cfi_adjust_cfa_offset 8
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	twice@PLT
	mov	%rax, %rbx
	mov	8(%rsp), %rdi
	call	thrice@PLT
	add	%rbx, %rax
	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end calls

begin jumps				# 3(n + 1), or 2(n + 1) when n is odd
	inc	%rdi
	test	$1, %dil
	jz	1f
	jmp	thrice@PLT
1:	jmp	twice@PLT
end jumps

begin decides				# a branch to a stub keeps its condition
	test	%rdi, %rdi
	jnz	twice@PLT
	mov	$7, %eax
	ret
end decides
	.section .note.GNU-stack, "", @progbits
