# Functions of which each needs something that the Editor and the Verifier assume; a part in a
# test breaks that in one of the two (tests/unit/verify/test_assumptions.c).

	.include "tests/asm/hidden.inc"
	.macro four_cases
10:	mov	$10, %eax
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	.endm
	.macro dispatch_by t
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	\t(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.endm

	.text
# Short and long branches, an operand that depends on the place.
begin branches
	test	%edi, %edi
	je	1f
	lea	shown(%rip), %rax
	cmpb	$1, (%rax)
	jne	2f
1:	mov	$1, %eax
	ret
2:	mov	%edi, %eax
	ret
end branches

# Two operations with one opcode, of which one has a constant; read as code, that is a return and
# NOPs.
begin one_opcode
	neg	%ecx
	test	$0x909090c3, %ecx
	je	1f
	mov	%ecx, %eax
1:	ret
end one_opcode

# Loops whose first instructions read memory; with prefixes they would bring the branches at the
# loops' ends into lines of 32 bytes (prefixes.s).
	.macro loops name, first
begin \name
	xor	%eax, %eax
	mov	$\first, %ecx
1:	mov	1(%rax,%rdi), %rax
	mov	%rax, %rdx
	sub	%rcx, %rdx
	dec	%ecx
	jne	1b
	mov	%rdx, %rsi
2:	mov	1(%rax,%rsi), %rax
	mov	%rax, %rdx
	dec	%edi
	jne	2b
	ret
end \name
	.endm
	loops	loads_first, 1
	loops	loads_second, 2
	loops	loads_third, 3
	loops	loads_fourth, 4

# A handler goes on behind int3.
begin breaks
	test	%edi, %edi
	je	1f
	int3
	nopl	0x45(%rax)
	mov	$5, %eax
1:	add	$1, %eax
	ret
end breaks

# The library function comes back: then nothing bounds the index.  Whether the table ends is in
# doubt.
begin calls
	cmp	$3, %edi
	jbe	1f
	push	%rdi
	.cfi_def_cfa_offset 16
	call	comes_back@PLT
	pop	%rdi
	.cfi_def_cfa_offset 8
1:	mov	%edi, %edi
	lea	T_calls(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	four_cases
	.section .rodata
	.p2align 2
T_calls:
	.long	10b-T_calls, 11b-T_calls, 12b-T_calls, 13b-T_calls, L_foreign-T_calls, 0x7ffffff0
	.text
end calls

# Nothing bounds the index, and the table may have one more entry.
begin in_doubt
	lea	T_doubt(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	four_cases
	.section .rodata
	.p2align 2
T_doubt:
	.long	10b-T_doubt, 11b-T_doubt, 12b-T_doubt, 13b-T_doubt, L_foreign-T_doubt, 0x7ffffff0
	.text
end in_doubt

begin constant_table
	dispatch_by	T_constant
	four_cases
	.section .rodata
	.p2align 2
T_constant:
	.long	10b-T_constant, 11b-T_constant, 12b-T_constant, 13b-T_constant, 0x7ffffff0
	.text
end constant_table

begin writable_table
	dispatch_by	T_writable
	four_cases
	.data
	.p2align 2
T_writable:
	.long	10b-T_writable, 11b-T_writable, 12b-T_writable, 13b-T_writable, 0x7ffffff0
	.text
end writable_table

# The address of the table is an argument first.
begin passed
	mov	%edi, %ecx
	lea	T_passed(%rip), %rdi
	call	takes
	mov	%ecx, %edi
	dispatch_by	T_passed
	four_cases
	.section .rodata
	.p2align 2
T_passed:
	.long	10b-T_passed, 11b-T_passed, 12b-T_passed, 13b-T_passed, 0x7ffffff0
	.text
end passed
begin takes
	mov	(%rdi), %eax
L_foreign:
	nop
	nop
	ret
end takes

	.section .rodata
shown:	.byte	1, 2
	.ifdef	POINTER			# inside of what an entry jump would be written over
	.data
	.p2align 3
	.quad	branches + 2
	.endif
	.section .note.GNU-stack, "", @progbits
