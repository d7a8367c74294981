# Where control comes to that is at one of these.

	.macro	begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
begin to
	ret
end to
begin by_jump
	nop
	jmp	to
end by_jump
begin by_call
	nop
	call	to
end by_call
begin by_chance
	nop
	jne	to
end by_chance
	.type	without_frame, @function	# nothing says that it is code
without_frame:
	jmp	to
	.size	without_frame, .-without_frame
	.section .note.GNU-stack, "", @progbits
