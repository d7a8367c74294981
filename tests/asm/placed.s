# Functions of which programs ask where they are.  NAME is the function; each has a pointer in data.
# ASKS=1: code asks where the code ends.  FIXED=1: what programs at a fixed address do.

	.macro begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size	\name, .-\name
	.section .data.rel.ro, "aw"
	.quad	\name
	.text
	.endm
	.macro plain name
begin \name
	lea	1(%rdi), %rax
	nop
	ret
end \name
	.endm

	.text
	.globl	_start
_start:
	.nops	16
	.p2align 4
	plain ordinary
	.p2align 6
	plain aligned			# to 64
	.p2align 4
	.quad	0x1122334455667788	# prefix data
	.quad	0x1122334455667788
	plain fronted
	.p2align 4
	nop				# padding
	.p2align 4
	plain padded
	.p2align 4
	.globl	stub
	.hidden	stub
	.type	stub, @function
stub:	.rept	3
	.p2align 4
	.cfi_startproc
	lea	1(%rdi), %rax
	mov	$1, %ecx
	ret
	.cfi_endproc
	.endr
	.size	stub, 10
	.section .data.rel.ro, "aw"
	.quad	stub
	.text
	.p2align 4
begin joined			# code behind a ret that nothing leads to
	lea	1(%rdi), %rax
	mov	$1, %ecx
	ret
	.p2align 4
	lea	2(%rdi), %rax
	ret
end joined
	.section trusted, "ax"
	plain in_section
	.p2align 4
	plain read_from
begin reads
	lea	read_from(%rip), %rax
	movzbl	1(%rax), %eax
	ret
end reads
	.p2align 4
	plain read_at
begin reads_at
	movzbl	read_at(%rip), %eax
	nop
	ret
end reads_at
	.ifndef FIXED
	.p2align 4
	plain copied
begin copies
	lea	copied(%rip), %rsi
	mov	$48, %edx
	call	memcpy@PLT
	ret
end copies
	.p2align 4
	plain protected
begin protects
	lea	protected(%rip), %rdi
	mov	$5, %edx
	jmp	*mprotect@GOTPCREL(%rip)
end protects
	.p2align 4
	plain handed_on
begin hands_on
	lea	handed_on(%rip), %rsi
	mov	$2, %edi
	call	signal@PLT
	ret
end hands_on
	.endif
	.p2align 4
	plain read_by_uncovered
	.p2align 4
	mov	read_by_uncovered(%rip), %r10	# as code does that is copied in front of its data
	jmp	*%r10
	.p2align 4
	plain ordered
begin orders
	lea	ordered(%rip), %rax
	cmp	%rax, %rdi
	setae	%al
	ret
end orders
	.p2align 4
	plain entered
begin enters
	lea	entered(%rip), %rax
	add	%rsi, %rax
	jmp	*%rax
end enters
	.p2align 4
	plain negated
begin negates				# rdi - negated - 1
	lea	negated(%rip), %rax
	not	%rax
	add	%rdi, %rax
	cmp	$30, %rax
	setb	%al
	ret
end negates
	.p2align 4
begin bounded
	lea	1(%rdi), %rax
	nop
	lea	2(%rax), %rax
	ret
end bounded
begin bounds				# a byte that begins no instruction
	lea	bounded+6(%rip), %rax
	cmp	%rax, %rdi
	setb	%al
	ret
end bounds
	.p2align 4
	plain bounded_behind
	.p2align 4
begin bounds_behind			# what follows is padding
	lea	bounded_behind+8(%rip), %rax
	cmp	%rax, %rdi
	setb	%al
	ret
end bounds_behind
	.p2align 4
	plain named			# called, stored and compared
begin names
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	lea	named(%rip), %rbx
	mov	%rbx, (%rdi)
	cmp	%rbx, (%rsi)
	je	1f
	call	*%rbx
1:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end names
	.p2align 4
begin finds_got				# code of the large model; nobody looks at it
	lea	finds_got(%rip), %rbx
	movabs	$0x1234, %r11
	add	%r11, %rbx
	ret
end finds_got
	.ifdef FIXED
	.p2align 4
	plain read_by_constant
begin reads_by_constant
	mov	$read_by_constant, %eax
	movzbl	1(%rax), %eax
	ret
end reads_by_constant
	.p2align 4
	plain ordered_by_constant
begin orders_by_constant
	cmp	$ordered_by_constant, %rdi
	setae	%al
	ret
end orders_by_constant
	.p2align 4
begin bounded_by_constant
	lea	1(%rdi), %rax
	nop
	lea	2(%rax), %rax
	ret
end bounded_by_constant
begin bounds_by_constant
	cmp	$bounded_by_constant+6, %rdi
	ja	1f
	ret
1:	xor	%eax, %eax
	ret
end bounds_by_constant
	.p2align 4
	plain only_named
begin names_by_constant			# nobody asks where it is
	cmp	$only_named, %rdi
	sete	%al
	ret
end names_by_constant
	.endif
	.ifdef ASKS
	.p2align 4
begin asks
	.hidden	etext
	.if ASKS == 1
	lea	etext(%rip), %rax
	.elseif ASKS == 2		# from the GOT
	movabs	$etext@GOTOFF, %rax
	add	%rbx, %rax
	.else				# where some linkers put etext
	.hidden	segment_end
	lea	segment_end(%rip), %rax
	.endif
	cmp	%rax, %rdi
	setb	%al
	ret
end asks
	.endif
	.p2align 4
	ret
	.section .text.page, "ax"
	.p2align 12
	.skip	32, 0x90
	.p2align 12
	plain paged
	.section .note.GNU-stack, "", @progbits
