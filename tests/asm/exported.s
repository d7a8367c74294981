# exported.s - functions that others find by name; some of them are split when they are moved
	.include "tests/asm/global.inc"

	.text
begin lower
	test	%edi, %edi
	je	1f
	lea	1(%rdi), %eax
	ret
1:	mov	$7, %eax
	ret
end lower
begin upper
	cmp	$3, %edi
	jg	1f
	lea	2(%rdi), %eax
	ret
1:	mov	$8, %eax
	ret
end upper

	.section .note.GNU-stack, "", @progbits
