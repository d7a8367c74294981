# A program that is refused: each of the symbols GO, GPROF, HEAP, MAP, OCAML and TEXTREL (-Wa,--defsym) adds
# the property for which it is.

	.text
	.globl	f
	.type	f, @function
f:	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc

.ifdef GO
	.section .gopclntab, "a"
	.quad	0
.endif
.ifdef GPROF
	.text
	call	__monstartup@plt
.if GPROF > 1
	call	mcount@plt
.endif
.endif
.ifdef HEAP
	.text
	call	personality@plt
.if HEAP > 1
	call	sbrk@plt
.endif
.endif
.ifdef MAP
	.section .morph.map, "a"
	.quad	0
.endif
.ifdef TEXTREL
	.text
	.quad	f + 1
.endif
.ifdef OCAML
	.text
g:	.cfi_startproc
	.rept	OCAML
	call	f@plt
1:	nop
	.section .data.rel.ro, "aw"
	.quad	1b
	.text
	.endr
	ret
	.cfi_endproc
.endif
	.section .note.GNU-stack, "", @progbits
