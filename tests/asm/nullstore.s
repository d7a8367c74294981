# What compilers leave of a null pointer that is written to: GCC isolates such ways
# (-fisolate-erroneous-paths-dereference, at -O2), with a trap behind the store.  PLACE is where it stores;
# with RUNS_ON there is no trap.

	.include "tests/asm/global.inc"

	.ifndef	PLACE
	.set	PLACE, 0
	.endif

	.text
begin switching
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
11:	mov	%rsi, PLACE
	.ifdef	RUNS_ON
	xor	%esi, %esi
	.else
	ud2
	.endif
10:	mov	$10, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
end switching

	.section .rodata
	.p2align 2
table:	.long	10b - table, 11b - table, 12b - table, 13b - table
	.section .note.GNU-stack, "", @progbits
