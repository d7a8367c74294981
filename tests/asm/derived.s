# A program whose data differ from one version to the next, and its code does not; the code has a jump of the
# form that leads to new text.
	.text
	.globl	_start
_start:
	.byte	0xe9
	.long	1f - . - 4
	.skip	256, 0x90
1:	ret
	.section .rodata
	.ifdef NEWER
	.ascii	"a newer version"
	.else
	.ascii	"the old version"
	.endif
	.section .note.GNU-stack, "", @progbits
