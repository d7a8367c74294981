# The first function of the code forms the address of the other one, and nothing else does.

	.macro begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
	.nops	16			# no function begins where the section is aligned to
begin use_second
	lea	second(%rip), %rax
	ret
end use_second

begin second
	mov	$2, %eax
	ret
end second
	.section .note.GNU-stack,"",@progbits
