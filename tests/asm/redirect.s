# Pointers to functions from every kind of place.  Names say what must be known of their pointers:
# known_*, stray_* (unknown), none_*; user_* hold the instructions.  _start, for a PIE without
# libraries, compares pointers that come from different places and exits with the number of the
# first pair that differs, 0 if none.

	.include "tests/asm/local.inc"
	.macro plain name, value	# a function that returns its number
begin \name
	mov	$\value, %eax
	ret
end \name
	.endm

	.text
	.nops	16			# no function begins where the section is aligned to
	plain	known_data, 1		# two pointers in data
	plain	known_lea, 2		# formed by moved code only
	plain	known_both, 3
	.globl	known_exported, known_alias
	.set	known_alias, known_exported
	.set	local_alias, known_exported
	plain	known_exported, 4	# symbols of two names, data, lea
	plain	known_unsealed, 5	# formed by code whose original may still run
	plain	stray_operand, 6	# its code is read
	plain	stray_gap, 7		# formed by code without an FDE
	plain	stray_short, 8		# formed in 32 bits
	plain	stray_word, 9		# a distance from the word itself
	plain	stray_typed, 25		# in a section of a type of its own
	plain	stray_between, 26	# between functions
	plain	stray_table, 10		# a distance from the table's start
	plain	stray_got, 11		# a distance from the GOT
	.globl	stray_notype
	.p2align 4
stray_notype:
	.cfi_startproc
	mov	$13, %eax
	ret
	.cfi_endproc
	plain	stray_added, 15		# calculated with, compared by order, read through
	plain	stray_subtracted, 16
	plain	stray_ordered, 17
	plain	stray_copied, 18
	plain	known_mangled, 19	# neither of these
	plain	known_equal, 20
	plain	known_given, 21
	plain	none_called, 14		# calls and jumps are no pointers
	.globl	summed
	plain	summed, 22		# perhaps added to by the loader
	plain	sum, 23			# the sum
	.globl	spanned
	plain	spanned, 24		# a distance that the loader calculates
	.globl	stray_ifunc
	.type	stray_ifunc, @gnu_indirect_function
	.p2align 4
stray_ifunc:
	.cfi_startproc
	lea	known_data(%rip), %rax
	ret
	.cfi_endproc

begin user_sealed
	lea	known_lea(%rip), %rax
	lea	known_both(%rip), %rdx
	lea	local_alias(%rip), %rcx
	lea	known_unsealed(%rip), %rsi
	ret
end user_sealed

begin user_unsealed			# an address inside of it is known elsewhere
	xor	%eax, %eax
	test	%edi, %edi
	jz	.Linside
	nop
.Linside:
	lea	known_unsealed(%rip), %rax
	ret
end user_unsealed

begin user_calculates
	lea	stray_added(%rip), %rax
	movabs	$0x123456789ab, %rdx
	add	%rax, %rdx
	lea	stray_subtracted(%rip), %r9
	mov	%r9, %rcx
	xor	%r9d, %r9d
	cmovz	%rcx, %r10
	sub	%r10, %rsi
	lea	stray_ordered(%rip), %rax
	cmp	%rax, %rsi
	mov	$1, %eax
	jb	1f
	lea	stray_copied(%rip), %rsi
	lea	8(%rsp), %rdi
	movsl
1:	ret
end user_calculates

begin user_hands_on
	lea	known_mangled(%rip), %rax
	xor	%fs:0x30, %rax
	rol	$17, %rax
	mov	%rax, (%rsp)
	lea	known_equal(%rip), %rbx
	cmp	%rbx, %rsi
	sete	%al
	movq	%rbx, %xmm0
	xor	%ebx, %ebx
	add	$1, %rbx
	lea	known_given(%rip), %rdi
	mov	%rdi, 8(%rsp)
	call	*%rdi
	add	$8, %rdi		# a call ends what it held
	ret
end user_hands_on

begin user_strays
	pushq	stray_operand(%rip)
	.cfi_adjust_cfa_offset 8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	lea	stray_short(%rip), %eax
	lea	table(%rip), %rax
	lea	_GLOBAL_OFFSET_TABLE_(%rip), %rbx
	movabs	$stray_got@GOTOFF, %rax
	call	none_called
	lea	(%rip), %rax		# of itself: an address inside
	ret
end user_strays

	lea	stray_gap(%rip), %rax	# no FDE here

	.globl	_start
begin _start
	.cfi_undefined rip
	call	user_sealed
	mov	$1, %edi
	call	*%rax			# 1: it leads to the function
	cmp	$2, %eax
	jne	.Lexit
	call	user_sealed
	inc	%edi			# 2: data and lea
	cmp	both(%rip), %rdx
	jne	.Lexit
	inc	%edi			# 3: lea and symbol
	cmp	exported_by_symbol(%rip), %rcx
	jne	.Lexit
	inc	%edi			# 4: symbol of another name, data
	cmp	alias_by_symbol(%rip), %rcx
	jne	.Lexit
	inc	%edi			# 5: sealed and unsealed code
	mov	%rsi, %rbx
	push	%rdi
	mov	$1, %edi
	call	user_unsealed
	pop	%rdi
	cmp	%rax, %rbx
	jne	.Lexit
	inc	%edi			# 6: the same, entered inside
	push	%rdi
	call	*inside(%rip)
	pop	%rdi
	cmp	%rax, %rbx
	jne	.Lexit
	inc	%edi			# 7: pointers in data
	mov	data(%rip), %rax
	cmp	data+8(%rip), %rax
	jne	.Lexit
	inc	%edi			# 8: C++ uses the lowest bit, others a few more
	test	$15, %al
	jnz	.Lexit
	inc	%edi			# 9..11: they lead to the functions
	call	*%rax
	cmp	$1, %eax
	jne	.Lexit
	inc	%edi
	call	*both(%rip)
	cmp	$3, %eax
	jne	.Lexit
	inc	%edi
	call	*exported_by_symbol(%rip)
	cmp	$4, %eax
	jne	.Lexit
	xor	%edi, %edi
.Lexit:	mov	$231, %eax
	syscall
	ud2
end _start

	.p2align 10
	.skip	768
	plain	stray_later, 25		# another one, of many entries

	.section .rodata, "a"
	.p2align 2
	.long	stray_word - .
	.long	stray_later - .
table:	.long	0
	.long	stray_table - table

	.section .typed, "aw", @0x6fff0007
	.p2align 2
	.long	stray_typed - .
	.section .text.between, "ax"
	.p2align 2
	.long	stray_between - .

	.section .data.rel.ro, "aw"
	.p2align 3
data:	.quad	known_data, known_data
both:	.quad	known_both
inside:	.quad	.Linside
exported_by_symbol:
	.quad	known_exported
alias_by_symbol:
	.quad	known_alias
	.quad	stray_notype
	.quad	summed + 16
	.quad	spanned - .
	.section .note.GNU-stack, "", @progbits
