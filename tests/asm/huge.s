# More than two huge pages of code, 64 functions: a program that runs all of them and, when it has an
# argument, waits then, when it has more, does so for ever; as a library, run() runs them.

	.altmacro
	.macro function n
	.p2align 4
	.type	h\n, @function
h\n:
	.cfi_startproc
	mov	%edi, %eax
	.rept 7000
	movabs	$0x123456789abcdef0, %rcx
	.endr
	add	%ecx, %eax
	ret
	.cfi_endproc
	.size	h\n, .-h\n
	.endm

	.macro call_it n
	call	h\n
	.endm

	.text
	i = 0
	.rept 64
	function %i
	i = i + 1
	.endr

	.globl	run
	.type	run, @function
	.p2align 4
run:
	.cfi_startproc
	mov	$1, %edi
	i = 0
	.rept 64
	call_it %i
	i = i + 1
	.endr
	ret
	.cfi_endproc
	.size	run, .-run

	.globl	_start
	.hidden	_start
	.type	_start, @function
	.p2align 4
_start:
	.cfi_startproc
	.cfi_undefined rip
	mov	(%rsp), %ebx
again:	call	run
	cmp	$2, %ebx
	ja	again
	mov	$1, %eax			# write(1, "done\n", 5)
	mov	%eax, %edi
	lea	done(%rip), %rsi
	mov	$5, %edx
	syscall
	cmp	$1, %ebx
	je	1f
	mov	$34, %eax			# pause()
	syscall
1:	mov	$60, %eax			# exit(0)
	xor	%edi, %edi
	syscall
	hlt
	.cfi_endproc
	.size	_start, .-_start

	.section .rodata
done:	.ascii	"done\n"
	.section .note.GNU-stack, "", @progbits
