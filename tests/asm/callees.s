# Functions that return or do not, and that overwrite some registers; test_returns.c says which.

	.include "tests/asm/hidden.inc"

	.text
begin clears_rcx
	xor	%ecx, %ecx
	ret
end clears_rcx

begin clears_rcx_late
	nop
	xor	%ecx, %ecx
	ret
end clears_rcx_late

begin saves_rbx
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	mov	%edi, %ebx
	test	%ebx, %ebx
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end saves_rbx

begin calls_clears_rcx
	call	clears_rcx
	ret
end calls_clears_rcx

begin ends_in_clears_rcx
	jmp	clears_rcx
end ends_in_clears_rcx

begin hangs
1:	jmp	1b
end hangs

begin calls_hangs
	call	hangs
	ret
end calls_hangs

begin may_call_hangs
	test	%edi, %edi
	je	1f
	call	hangs
1:	ret
end may_call_hangs

begin calls_itself
	call	calls_itself
	ret
end calls_itself

begin calls_itself_perhaps
	test	%edi, %edi
	je	1f
	call	calls_itself_perhaps
1:	ret
end calls_itself_perhaps

begin jumps_by_pointer
	jmp	*%rax
end jumps_by_pointer

begin calls_abort
	call	abort@PLT
	ud2
end calls_abort

begin calls_puts
	call	puts@PLT
	ret
end calls_puts

begin calls_err				# of no version: not known to be glibc's
	call	err@PLT
	ret
end calls_err

begin ends_in_abort
	jmp	abort@PLT
end ends_in_abort

begin ends_in_exit_by_slot
	xor	%ecx, %ecx
	inc	%ecx
	jmp	*exit@GOTPCREL(%rip)
end ends_in_exit_by_slot

begin ends_in_getpid_by_slot
	xor	%ecx, %ecx
	inc	%ecx
	jmp	*getpid@GOTPCREL(%rip)
end ends_in_getpid_by_slot

begin ends_in_exit_behind_endbr64
	endbr64
	jmp	*exit@GOTPCREL(%rip)
end ends_in_exit_behind_endbr64

begin may_exit_by_slot
	jrcxz	1f
	jmp	*exit@GOTPCREL(%rip)
1:	ret
end may_exit_by_slot

begin calls_exit_by_slot
	call	*exit@GOTPCREL(%rip)
	ret
end calls_exit_by_slot

begin calls_chosen
	call	chosen
	ret
end calls_chosen

	.type	chosen, @gnu_indirect_function
chosen:
	.cfi_startproc
	lea	clears_rcx(%rip), %rax
	ret
	.cfi_endproc
	.size	chosen, .-chosen

begin ends_in_call_by_slot		# and goes on into the next, which returns
	.fill	10, 1, 0x90
	call	*getpid@GOTPCREL(%rip)
end ends_in_call_by_slot

begin comes_next
	ret
end comes_next
	.section .note.GNU-stack,"",@progbits
