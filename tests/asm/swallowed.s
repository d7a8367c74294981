# Code that is jumped over and begins inside of what decodes as other instructions: `last` is where
# a branch leads, and from there control goes back to `first`, which none that can be seen leads
# to.  ROOM bytes move them both.  `plain` and `outside` are jumps that can be seen, the latter in
# code without an FDE.

	.ifndef	ROOM
	.set	ROOM, 0
	.endif
	.include "tests/asm/hidden.inc"

	.text
	.nops	16			# no function begins where the section is aligned to
begin moved
	mov	$1, %eax
	mov	$2, %ecx
	ret
end moved

begin over
	test	%edi, %edi
	je	last
	.globl	plain
	.hidden	plain
plain:	.byte	0xe9			# jmp
	.long	1f - . - 4
	.fill	ROOM, 1, 0xcc
	.byte	0x48, 0xb8		# movabs: what follows is a number
	.globl	first
	.hidden	first
first:	.byte	0xe9			# jmp
	.long	1f - . - 4
	.fill	3, 1, 0x90
	.byte	0x48, 0xb8
	.globl	last
	.hidden	last
last:	jmp	first
	.fill	6, 1, 0x90
1:	ret
end over

	.globl	outside
	.hidden	outside
outside:
	.byte	0xe9			# jmp
	.long	1f - . - 4
1:	ret
	.section .note.GNU-stack,"",@progbits
