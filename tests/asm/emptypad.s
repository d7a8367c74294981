# A landing pad that is nothing but a nop in front of a loop, as alignment makes them; an entry that
# is nothing but nops.

	.text
	.globl	cleans_up
	.type	cleans_up, @function
cleans_up:
	.cfi_startproc
	.cfi_personality 0x9b, personality
	.cfi_lsda 0x1b, exceptions
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%edi, %ebx
	test	%ebx, %ebx
	je	3f
call_begins:
	call	may_throw@plt
call_ends:
	xor	%eax, %eax
	jmp	4f
pad:	nopl	0(%rax)
loop:	dec	%ebx
	je	3f
	nop
	jmp	loop
3:	mov	$1, %eax
4:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	cleans_up, .-cleans_up

	.globl	begins_with_nops
	.type	begins_with_nops, @function
begins_with_nops:
	.cfi_startproc
	nopl	0(%rax)
	nopl	0(%rax)
1:	dec	%edi
	jne	1b
	ret
	.cfi_endproc
	.size	begins_with_nops, .-begins_with_nops

	.data
	.p2align 3
personality:
	.quad	__gcc_personality_v0

	.section .gcc_except_table, "a", @progbits
	.p2align 2
exceptions:
	.byte	0xff, 0xff, 0x01	# no LPStart, no types, call sites as uleb128
	.uleb128 5f-4f
4:	.uleb128 call_begins-cleans_up
	.uleb128 call_ends-call_begins
	.uleb128 pad-cleans_up
	.uleb128 0
5:
	.section .note.GNU-stack, "", @progbits
