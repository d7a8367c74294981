# Exception tables of every form.  Nothing of this runs: test_landing.c analyses it, emits it in many
# orders and checks where exceptions would go.

	.include "tests/asm/global.inc"
	.macro frame
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	.endm
	.macro return
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_def_cfa_offset 16
	.endm
	.macro site from, to, pad, action	# labels of the function `here`, which begins at 0
	.uleb128 \from - here
	.uleb128 \to - \from
	.uleb128 \pad
	.uleb128 \action
	.endm

	.text
begin throws				# no exception table at all
	frame
	call	leaf
	return
end throws

begin leaf
	mov	$1, %eax
	nopl	0(%rax)
	ret
end leaf

begin catches				# types, a specification, an action chain; sites side by side
	.cfi_personality 0x9b, personality_pointer
	.cfi_lsda 0x1b, L_catches
	frame
L_c0:	call	leaf
L_c1:	test	%edi, %edi
	je	1f
L_c2:	call	throws
L_c3:	call	leaf
L_c4:	mov	%eax, %ebx
	jmp	2f
1:	mov	$4, %ebx
L_c5:	call	throws
L_c6:	test	%eax, %eax
	jne	3f
2:	mov	%ebx, %eax
	return
3:	inc	%ebx
	jmp	2b
L_pad1:	cmp	$1, %edx
	jne	2b
L_pad2:	mov	%rax, %rdi
L_c7:	call	throws
	nop
L_c8:	jmp	2b
end catches
	.section .gcc_except_table, "a"
L_catches:
here = catches
	.byte	0xff, 0x9b
	.uleb128 L_catches_types - L_catches_behind
L_catches_behind:
	.byte	1
	.uleb128 L_catches_end - L_catches_sites
L_catches_sites:
	site	L_c0, L_c1, 0, 0
	site	L_c2, L_c3, L_pad1-catches, 3
	site	L_c3, L_c4, L_pad1-catches, 3
	site	L_c5, L_c6, L_pad2-catches, 5
	site	L_c7, L_c8, 0, 0
L_catches_end:
	.byte	0, 0			# 1: a cleanup, the last
	.byte	1, 0x7d			# 3: type 1, then the cleanup
	.byte	0x7f, 0x7d		# 5: the list at 0, then type 1
	.p2align 2
	.long	0			# type 3: anything
	.long	type_pointer_2 - .
	.long	type_pointer_1 - .
L_catches_types:
	.byte	2, 3, 0
	.text

begin stays_silent			# a table without sites: an exception ends the program
	.cfi_personality 0x9b, personality_pointer
	.cfi_lsda 0x1b, L_silent
	frame
	call	throws
	return
end stays_silent
	.section .gcc_except_table, "a"
L_silent:
	.byte	0xff, 0xff, 1, 0
	.text

begin split				# only its landing pad leads to the fragment, by a base of its own
	.cfi_personality 0x9b, personality_pointer
	.cfi_lsda 0x1b, L_split
	frame
L_s0:	call	throws
L_s1:	mov	$2, %eax
L_split_back:
	return
end split
	.section .gcc_except_table, "a"
L_split:
	.byte	0x1b
	.long	L_split_cold - 1 - .
	.byte	0xff, 3
	.uleb128 13
	.long	L_s0 - split, L_s1 - L_s0, L_split_pad - L_split_cold + 1
	.byte	0
L_cold:
	.byte	0xff, 0xff, 1
	.uleb128 4
	.byte	L_s2 - L_split_cold, L_s3 - L_s2, 0, 0
	.section .text.unlikely, "ax", @progbits
L_split_cold:
	.cfi_startproc
	.cfi_personality 0x9b, personality_pointer
	.cfi_lsda 0x1b, L_cold
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	nop
L_split_pad:
	mov	%rax, %rdi
L_s2:	call	throws
L_s3:	jmp	L_split_back
	.cfi_endproc
	.text

begin writes_rcx
L_writes_rcx:
	lea	3(%rdi), %ecx
	mov	%ecx, %eax
	ret
end writes_rcx

begin dispatches			# the table's register is dead at the call, and used behind it
	.cfi_lsda 0x1b, L_dispatches
	frame
	mov	%edi, %ebx
	cmp	$3, %edi
	ja	4f
	lea	table(%rip), %rcx
	movslq	(%rcx,%rbx,4), %rdx
	add	%rcx, %rdx
	jmp	*%rdx
1:	mov	$1, %ebx
	jmp	4f
2:	mov	$2, %ebx
	jmp	4f
3:	mov	$3, %ebx
4:
L_d0:	call	L_writes_rcx
L_d1:	test	%eax, %eax
	setne	%cl
	imul	%ebx, %ecx
5:	mov	%ecx, %eax
	return
L_pad3:	mov	%edx, %ecx
	jmp	5b
end dispatches
	.section .gcc_except_table, "a"
L_dispatches:
	.byte	0xff, 0xff, 1
	.uleb128 4
	.byte	L_d0 - dispatches, L_d1 - L_d0, L_pad3 - dispatches, 0
	.section .rodata
	.p2align 2
table:	.long	1b - table, 2b - table, 3b - table, 4b - table
	.text

begin row_changes_behind_nops		# which are left out
	frame
	mov	$3, %ebx
	nopw	0(%rax,%rax,1)
	.cfi_escape 0x2e, 16		# GNU_args_size
1:	call	leaf
	dec	%ebx
	jne	1b
	.cfi_escape 0x2e, 0
	return
end row_changes_behind_nops

begin goes_on_behind_a_breakpoint
	frame
	test	%edi, %edi
	jne	1f
	int3
	mov	$2, %eax
1:	return
end goes_on_behind_a_breakpoint

begin gives_up
L_gives_up:
1:	ud2
	jmp	1b
end gives_up

begin returns_by_its_handler		# the call does not come back, the exception does
L_returns:
	.cfi_lsda 0x1b, L_handler
	frame
L_h0:	call	L_gives_up
L_h1:	return
end returns_by_its_handler
	.section .gcc_except_table, "a"
L_handler:
	.byte	0xff, 0xff, 1
	.uleb128 4
	.byte	L_h0 - returns_by_its_handler, L_h1 - L_h0, L_h1 - returns_by_its_handler, 0
	.text

begin calls_one_that_returns		# runs into the next function, as far as one can see
	frame
	call	L_returns
end calls_one_that_returns

begin calls_one_that_does_not
	frame
	call	L_gives_up
end calls_one_that_does_not

begin lands_in_its_entry		# behind the push, inside the entry jump
	.cfi_lsda 0x1b, L_entry
	frame
L_e0:	xor	%eax, %eax
	call	leaf
L_e1:	return
end lands_in_its_entry
	.section .gcc_except_table, "a"
L_entry:
	.byte	0xff, 0xff, 1
	.uleb128 4
	.byte	L_e0 - lands_in_its_entry, L_e1 - L_e0, L_e0 - lands_in_its_entry, 0
	.text

begin lands_elsewhere
	.cfi_lsda 0x1b, L_else
	frame
L_l0:	call	leaf
L_l1:	return
end lands_elsewhere
begin landed_in
	frame
	mov	%edi, %eax
	nopl	0(%rax)
L_l2:	inc	%eax
	return
end landed_in
	.section .gcc_except_table, "a"
L_else:
	.byte	0xff, 0xff, 1
	.uleb128 4
	.byte	L_l0 - lands_elsewhere, L_l1 - L_l0, L_l2 - lands_elsewhere, 0
	.text

begin site_ends_in_an_instruction
	.cfi_lsda 0x1b, L_half
	frame
L_m0:	call	leaf
	return
end site_ends_in_an_instruction
	.section .gcc_except_table, "a"
L_half:
	.byte	0xff, 0xff, 1
	.uleb128 4
	.byte	L_m0 - site_ends_in_an_instruction, 4, 0, 0
	.text

begin unknown_form
	.cfi_lsda 0x1b, L_unknown
	frame
	call	leaf
	return
end unknown_form
	.section .gcc_except_table, "a"
L_unknown:
	.byte	0xff, 0xff, 0x42, 0

	.section .data.rel.ro, "aw"
	.p2align 3
personality_pointer:
	.quad	__gcc_personality_v0
type_pointer_1:
	.quad	leaf
type_pointer_2:
	.quad	throws
	.section .note.GNU-stack, "", @progbits
