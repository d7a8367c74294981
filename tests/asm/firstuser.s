# The first function of the code forms the address of the other one, and nothing else does.

	.include "tests/asm/hidden.inc"

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
