# Functions whose addresses are kept as data or formed by code, each in a way of its own.
# NAME is the function, use_NAME the code that forms its address.

	.include "tests/asm/local.inc"
	.macro leaf name
begin \name
	lea	1(%rdi), %rax
	ret
end \name
	.endm
	.macro use name
begin use_\name
	lea	\name(%rip), %rax
	ret
end use_\name
	.endm

	.text
leaf held
leaf formed
use formed
leaf inside				# by code of which another address is kept
begin use_inside
	lea	inside(%rip), %rax
	.globl	in_the_middle
	.hidden	in_the_middle
in_the_middle:
	test	%edi, %edi
	jz	1f
	ret
1:	jmp	*%rsi			# for all that is known, to there
end use_inside
leaf branched				# by code that another function jumps into
begin use_branched
	mov	$1, %eax
9:	lea	branched(%rip), %rax
	ret
end use_branched
begin intruder
	test	%edi, %edi
	jz	9b
	mov	$2, %eax
	ret
end intruder
leaf entered				# by code that a function jumps into which cannot be moved
begin use_entered
	mov	$1, %eax
8:	lea	entered(%rip), %rax
	ret
end use_entered
begin unmoved
	.cfi_signal_frame
	test	%edi, %edi
	jz	8b
	mov	$2, %eax
	ret
end unmoved
	.ifdef	PLT			# only then .dynamic says where the GOT is (DT_PLTGOT)
begin calls
	jmp	elsewhere@PLT
end calls
	.endif
	.ifdef	GOT			# here a section does
begin asks_for_it
	lea	_GLOBAL_OFFSET_TABLE_(%rip), %rax
	ret
end asks_for_it
	.endif
leaf gotoff				# as a constant that is a distance from the GOT
begin use_gotoff
	movabs	$gotoff@GOTOFF, %rax
	ret
end use_gotoff
leaf unproven				# by code that jumps who knows where
begin use_unproven
	push	%rbx
	.cfi_adjust_cfa_offset 8
	lea	unproven(%rip), %rax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
	jmp	*%rdi
end use_unproven
leaf tail				# by code that jumps to another function
begin use_tail
	lea	tail(%rip), %rax
	jmp	*%rdi
end use_tail
leaf compared				# formed in 32 bits, which the address of the image may not fit
begin use_compared
	lea	compared(%rip), %eax
	cmp	%eax, %edi
	setz	%al
	movzbl	%al, %eax
	ret
end use_compared
leaf outside				# by code without unwind information
	lea	outside(%rip), %rax
	ret
	.p2align 4
leaf distant				# as a distance in data
leaf distant_typed			# in a section of another type
leaf distant_between			# between functions
leaf listed				# as a distance in a table
begin use_listed
	lea	list(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	ret
end use_listed
begin thunk
	jmp	held
end thunk
	.globl	exported
leaf exported
	.globl	summed
leaf summed				# by the loader, which adds to it
leaf sum

	.section .rodata
	.p2align 3
	.long	distant - .
	.section .typed, "aw", @0x6fff0007
	.p2align 2
	.long	distant_typed - .
	.section .text.between, "ax"
	.p2align 2
	.long	distant_between - .
	.section .rodata
	.long	0x12345
list:	.long	0
	.long	listed - list

	.data
	.p2align 3
	.irp name, held, held, formed, inside, branched, entered, gotoff, unproven, tail, compared, outside, distant, distant_typed, distant_between, listed, thunk
	.quad	\name
	.endr
	.quad	in_the_middle
	.quad	summed + 16
	.quad	exported_alias
	.hidden	exported_alias
	.set	exported_alias, exported
	.section .note.GNU-stack, "", @progbits
