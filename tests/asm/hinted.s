# Branches and jumps with prefixes that change nothing: hints, and what marks bounds.  Each
# function has them short and, over room that they cannot leap, near.

	.macro branches name, prefix, room
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:	.cfi_startproc
	xor	%eax, %eax
	test	%edi, %edi
	.byte	\prefix
	jne	1f
	inc	%eax
	.byte	\prefix
	jmp	2f
	.fill	\room, 1, 0x90
1:	add	$2, %eax
	test	%esi, %esi
	.byte	\prefix
	js	3f
2:	add	$4, %eax
	ret
	.fill	\room, 1, 0x90
3:	add	$8, %eax
	.byte	\prefix
	jmp	2b
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
	branches hinted_short, 0x3e, 1
	branches hinted_near, 0x3e, 200
	branches unlikely_short, 0x2e, 1
	branches unlikely_near, 0x2e, 200
	branches bound_short, 0xf2, 1
	branches bound_near, 0xf2, 200
	.section .note.GNU-stack, "", @progbits
