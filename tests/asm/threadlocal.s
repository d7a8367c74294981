# Offsets in thread-local storage that, as numbers, equal addresses of code inside entry jumps.  Linked
# with the text at 0x10000: f begins there.

	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	mov	exported@gottpoff(%rip), %rax
	mov	local@gottpoff(%rip), %rcx
	sub	%rcx, %rax
	ret
	.cfi_endproc
	.size	f, .-f

	.section .tbss, "awT", @nobits
	.zero	0x10002
	.globl	exported
	.type	exported, @object
exported:
	.zero	1
	.type	local, @object
local:
	.zero	1
	.size	local, 1
