# A library that refers to what `which` says; for test_catches.c.
	.text
	.globl f
	.type f, @function
f:
	.cfi_startproc
	.if which == 0
	call __cxa_throw@PLT
	.elseif which == 1
	call __cxa_begin_catch@PLT
	.elseif which == 2
	call _Unwind_GetLanguageSpecificData@PLT
	.elseif which == 3
	call dl_iterate_phdr@PLT
	.elseif which == 4
	mov _ZTVSt15basic_streambufIcSt11char_traitsIcEE@GOTPCREL(%rip), %rax
	.elseif which == 5
	mov _ZTINSt6thread6_StateE@GOTPCREL(%rip), %rax
	.elseif which == 6
	mov _ZTVN10__cxxabiv117__class_type_infoE@GOTPCREL(%rip), %rax
	.elseif which == 7
	call _ZSt15set_new_handlerPFvvE@PLT
	.elseif which == 8
	call __gcc_personality_v0@PLT
	.endif
	ret
	.cfi_endproc
	.size f, . - f
	.section .note.GNU-stack, "", @progbits
