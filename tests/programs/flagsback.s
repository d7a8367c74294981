# flagsback.s - a program whose assembly hands flags back from what it calls, through a pointer in
# memory, through what jumps by one (JUMPED=1) or directly (DIRECT=1), or hands them on to what it
# jumps to (READ=1) or calls (READ=1 CALLED=1, also with SHORT=1); it prints what it found

	.macro	fn name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.balign	16
	.endm
	.text
fn compares				# ways that differ: they are counted
	nopl	0(%rax)
	cmp	$5, %edi
	jg	1f
	mov	$1, %eax
	ret
1:	mov	$2, %eax
	ret
end compares

fn passes_on
	jmp	*pointer(%rip)
end passes_on

fn tells				# ways that differ, while `reads` is yet to read flags
	cmp	$5, %edi
	jp	1f
	nopl	0(%rax)
1:	.ifdef CALLED
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	xor	%eax, %eax
	cmp	$5, %edi
	jp	2f
	nopl	0(%rax)
2:	call	reads
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.else
	jmp	reads
	.endif
end tells

fn reads
	.ifdef SHORT			# than what is looked at
	setg	%al
	.else
	mov	$0, %eax
	jg	1f
	mov	$1, %eax
1:
	.endif
	ret
end reads

fn main
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -24
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	xor	%ebx, %ebx
	xor	%ebp, %ebp
1:	mov	%ebx, %edi
	.ifdef READ
	call	tells
	add	%eax, %ebp
	.else
	.ifdef JUMPED
	call	passes_on
	.else
	.ifdef DIRECT
	call	compares
	.else
	call	*pointer(%rip)
	.endif
	.endif
	jne	2f
	add	$100, %ebp
2:	jl	3f
	add	$1000, %ebp
3:
	.endif
	inc	%ebx
	cmp	$10, %ebx
	jb	1b
	lea	format(%rip), %rdi
	mov	%ebp, %esi
	xor	%eax, %eax
	call	printf@PLT
	xor	%eax, %eax
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
end main
	.section .rodata
format:	.string	"%d\n"
	.data
	.balign	8
pointer:
	.quad	compares
	.section .note.GNU-stack, "", @progbits
