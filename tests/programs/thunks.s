# thunks.s - the thunks of gcc -mindirect-branch=thunk-extern, functions that only jump on; with
# MEMORY=1 by way of memory, and they are called as well, as they are for calls through pointers
	.text
	.macro	thunk reg
	.globl	__x86_indirect_thunk_\reg
	.type	__x86_indirect_thunk_\reg, @function
__x86_indirect_thunk_\reg:
	.cfi_startproc
	.ifdef MEMORY
	mov	%\reg, -8(%rsp)
	.rept	4
	nop
	.endr
	jmp	*-8(%rsp)
	.else
	lfence
	jmp	*%\reg
	.endif
	.cfi_endproc
	.size	__x86_indirect_thunk_\reg, . - __x86_indirect_thunk_\reg
	.endm
	.irp	reg, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	thunk	\reg
	.endr

	.ifdef MEMORY
	.globl	calls_thunks
	.type	calls_thunks, @function
calls_thunks:
	.cfi_startproc
	.irp	reg, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	call	__x86_indirect_thunk_\reg
	.endr
	ret
	.cfi_endproc
	.size	calls_thunks, . - calls_thunks
	.endif
	.section .note.GNU-stack, "", @progbits
