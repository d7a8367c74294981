# thunks.s - the thunks of gcc -mindirect-branch=thunk-extern, functions that only jump on
	.text
	.macro	thunk reg
	.globl	__x86_indirect_thunk_\reg
	.type	__x86_indirect_thunk_\reg, @function
__x86_indirect_thunk_\reg:
	.cfi_startproc
	lfence
	jmp	*%\reg
	.cfi_endproc
	.size	__x86_indirect_thunk_\reg, . - __x86_indirect_thunk_\reg
	.endm
	.irp	reg, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	thunk	\reg
	.endr
	.section .note.GNU-stack, "", @progbits
