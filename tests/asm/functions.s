# Functions that have one property of functions, blocks or edges each; test_analyze.c says which.

	.include "tests/asm/global.inc"

	.text
begin counted_loop
	endbr64
	mov	$10, %ecx
1:	add	%ecx, %eax
	dec	%ecx
	jne	1b
	ret
end counted_loop

begin loop_insns
	mov	$10, %ecx
	xor	%eax, %eax
1:	add	%ecx, %eax
	loop	1b
	jrcxz	2f
	inc	%eax
2:	ret
end loop_insns

begin loop_at_the_entry
	inc	%eax
1:	dec	%edi
	jne	1b
	ret
end loop_at_the_entry

begin loop_behind_endbr64
	endbr64
1:	dec	%edi
	jne	1b
	xor	%eax, %eax
	ret
end loop_behind_endbr64

begin tiny
	ret
end tiny

begin calls_next
	call	1f
1:	pop	%rax
	ret
end calls_next

begin calls_inside
	call	1f
	.asciz	"PPP"
	.byte	0x40, 0x00		# which go on with an instruction of their own
1:	pop	%rax
	ret
end calls_inside

begin comes_back_later
	test	%edi, %edi
	je	1f
	call	tiny@plt
	ret
1:	mov	$1, %eax
	ret
end comes_back_later

begin comes_back_later_over_nops
	xor	%eax, %eax
	call	*%rdi
	ret
	nop
	nopl	(%rax)
	mov	$1, %eax
	ret
end comes_back_later_over_nops

begin returns_behind_a_call
	xor	%eax, %eax
	mov	$3, %ecx
	call	*%rdi
	ret
	nop
end returns_behind_a_call

begin traps_twice
	test	%edi, %edi
	jne	1f
	ud2
	nop
1:	mov	$1, %eax
	hlt
	nopl	(%rax)
end traps_twice

begin middle_of_insn
	test	%edi, %edi
	je	1f + 1
1:	lock incl (%rsi)
	ret
end middle_of_insn

begin middle_of_insn_later
	lea	0x12345678(%rdi), %rax
	lea	0x12345678(%rdi), %rdx
	test	%edi, %edi
	je	1f + 1
1:	lock incl (%rsi)
	ret
end middle_of_insn_later

begin falls_out
	mov	$1, %eax
	mov	$2, %edx
end falls_out

begin gives_up
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	abort@plt
end gives_up

begin gives_up_later
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	je	1f
	call	local_gives_up
1:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end gives_up_later

	.macro trusts name callee
begin \name
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	je	1f
	call	\callee
1:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end \name
	.endm
trusts trusts_what_runs_on local_runs_on
trusts trusts_what_calls_first local_calls_first
trusts trusts_what_traps local_traps
trusts trusts_what_jumps local_jumps

	.hidden	local_has_no_way_out
begin local_has_no_way_out
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	abort@plt
end local_has_no_way_out

	.hidden	local_calls_first
begin local_calls_first			# there is a return
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	abort@plt
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end local_calls_first

	.hidden	local_traps
begin local_traps			# there is a way to the return, if somebody skips the trap
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	je	1f
	ud2
	jmp	2f
1:	call	abort@plt
2:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end local_traps

	.hidden	local_jumps
begin local_jumps			# likewise, but what is behind the jump is not on it
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	jmp	1f
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
1:	call	abort@plt
end local_jumps

	.hidden	local_runs_on
begin local_runs_on			# 16 bytes: no padding before what it runs into
	mov	$2, %edx
	.skip	11, 0x90
end local_runs_on

begin is_run_into
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	local_has_no_way_out
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end is_run_into

	.hidden	local_gives_up
begin local_gives_up
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	mov	$1, %edi
	call	abort@plt
	nop
end local_gives_up

# asks calls local_asks calls local_gives_up
begin asks
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	local_asks
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end asks

	.hidden	local_asks
begin local_asks
	test	%edi, %edi
	je	local_gives_up
	xor	%eax, %eax
	ret
end local_asks

begin has_padding
	jmp	1f
	nopw	0x0(%rax,%rax,1)
	nop
1:	mov	$3, %eax
	ret
end has_padding

begin jumps_into_another
	test	%edi, %edi
	jne	L_inside
	xor	%eax, %eax
	ret
end jumps_into_another

begin jumped_into
	mov	$1, %eax
	mov	$2, %edx
L_inside:
	mov	$3, %ecx
	ret
end jumped_into

begin address_taken_inside
	lea	1f(%rip), %rax
	mov	%rax, (%rdi)
	nop
1:	mov	$3, %ecx
	ret
end address_taken_inside

begin handler
	.cfi_signal_frame
	mov	$15, %eax
	syscall
	ret
end handler

begin catches
	.cfi_lsda 0x1b, L_lsda
	mov	$1, %eax
	ret
end catches
	.section .gcc_except_table, "a"
L_lsda:	.byte	0xff, 0xff, 1, 0
	.text

begin aborts_transaction
	xbegin	1f
	xend
	ret
1:	mov	$1, %eax
	ret
end aborts_transaction

	# Split functions.  A fragment begins with a frame that it did not make.
begin split
	push	%rbx
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	je	split_cold
	mov	$1, %eax
1:	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
L_split_back = 1b
end split

begin shares_1
	push	%rbx
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	je	shared_cold
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end shares_1

begin shares_2
	push	%rbx
	.cfi_adjust_cfa_offset 8
	test	%edi, %edi
	jne	shared_cold
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end shares_2

	.section .text.unlikely, "ax", @progbits
split_cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	mov	$2, %eax
	test	%esi, %esi
	je	split_coldest
	jmp	L_split_back
	.cfi_endproc
split_coldest:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	mov	$3, %eax
	jmp	L_split_back
	.cfi_endproc
	.globl	shared_cold
	.hidden	shared_cold
shared_cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	mov	$2, %eax
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
