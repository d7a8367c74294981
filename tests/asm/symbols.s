# Functions whose names or places are difficult for the symbols of new text; test_accepted.c says why.

	.include "tests/asm/global.inc"

	.text
	.type	one_name, @function
	.p2align 4
one_name:			# local symbols come first
begin other_name
	test	%edi, %edi
	je	other_name.cold
	lea	1(%rdi), %eax
	ret
end other_name
	.size	one_name, .-one_name

begin wrongly_named
	test	%edi, %edi
	je	somebody.cold
	lea	2(%rdi), %eax
	ret
end wrongly_named

	.section .text.unlikely, "ax", @progbits
	.type	other_name.cold, @function
other_name.cold:
	.cfi_startproc
	mov	$100, %eax
	ret
	.cfi_endproc
	.size	other_name.cold, .-other_name.cold

	.type	somebody.cold, @function
somebody.cold:
	.cfi_startproc
	mov	$101, %eax
	ret
	.cfi_endproc
	.size	somebody.cold, .-somebody.cold

	# Something for the loader, which an FDE calls code.
	.section .rodata
	.globl	no_code
	.type	no_code, @function
no_code:
	.cfi_startproc
	nop
	nop
	nop
	nop
	nop
	nop
	ret
	.cfi_endproc
	.size	no_code, .-no_code

	# Not loaded, so at address 0: by its size alone it has all addresses of the code.
	.section .wide, "", @progbits
	.zero	0x8000

	.section .note.GNU-stack, "", @progbits
