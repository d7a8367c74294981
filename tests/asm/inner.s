# Functions of which data, a symbol or a constant knows an instruction in the middle.  NAME is the
# function, L_NAME the instruction.  With FIXED=1 what only programs at a fixed address have.

	.macro begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	mov	%esi, %eax
	lea	0x1234(%rsi), %rdx
L_\name:
	mov	(%rdi), %eax
2:	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
	.globl	_start
_start:
begin unknown
begin half			# distances in a section of their own
	.section faults, "a"
	.p2align 2
	.long	L_half - .
	.text
begin half_of_entry		# the function itself, for who patches it
	.section faults
	.long	half_of_entry - .
	.text
begin full_of_entry
	.section faults
	.p2align 3
	.quad	full_of_entry - .
	.text
begin half_packed		# behind a byte
	.section packed, "a"
	.byte	1
	.long	L_half_packed - .
	.text
begin half_of_two		# among constants, beside another one
	.section .rodata
	.p2align 3
	.quad	0x1122334455667788
	.long	L_half_of_two - ., 2b - .
	.text
begin half_alone		# by chance, for all that is known
	.section .rodata
	.p2align 3
	.quad	0x1122334455667788
	.long	L_half_alone - ., 0x11223344
	.quad	0x1122334455667788
	.text
	.macro between n		# distances that lead into an instruction, as numbers do
	.rept \n
	.long	L_unknown - 3 - .
	.endr
	.endm
begin half_amid			# among as many that lead to none
	.section .rodata
	.p2align 3
	.zero	64
	between 1
	.long	L_half_amid - ., 2b - .
	between 1
	.zero	64
	.text
	.type	undecoded, @function
	.p2align 4
undecoded:			# nobody knows where its instructions begin
	.cfi_startproc
	mov	(%rdi), %eax
	ret
	.byte	0x0f, 0x0a
	.cfi_endproc
	.size	undecoded, .-undecoded
begin half_amid_unknown		# among some that lead there
	.section .rodata
	.p2align 3
	.zero	64
	.rept	2
	.long	undecoded + 4 - .
	.endr
	.long	L_half_amid_unknown - ., 2b - .
	.rept	2
	.long	undecoded + 4 - .
	.endr
	.zero	64
	.text
begin half_most			# ... and more that do
	.section .rodata
	.p2align 3
	.zero	64
	between 1
	.long	L_half_most - ., 2b - ., 2b - .
	between 1
	.zero	64
	.text
	.macro jump n			# over 128 KiB, where other code is
	.section .text.away\n, "ax"
	.fill	0x20000, 1, 0xcc
begin away\n
	.endm
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	jump	\n
	.endr
begin half_far			# one of eight that lead far from each other
	.section .rodata
	.p2align 3
	.quad	0x1122334455667788
	.irp	n, 1, 2, 3, 4
	.long	L_away\n - ., 0x11223344
	.endr
	.long	L_half_far - ., 0x11223344
	.irp	n, 5, 6, 7
	.long	L_away\n - ., 0x11223344
	.endr
	.quad	0x1122334455667788
	.text
begin half_of_numbers		# in a section of its own, but by chance
	.section numbers, "a"
	.p2align 2
	.rept 20
	between 4
	.long	L_half_of_numbers - .
	.endr
	.text
begin half_of_more		# too many for chance: 34 of 100
	.section entries, "a"
	.p2align 2
	.rept 33
	between 2
	.long	L_half_of_more - .
	.endr
	.long	L_half_of_more - .
	.text
begin half_of_note		# whatever the section is
	.section .note.faults, "a", @note
	.p2align 2
	.long	L_half_of_note - .
	.text
begin half_of_kind
	.section kind, "a", @0x6fff0007
	.p2align 2
	.long	L_half_of_kind - .
	.text
begin half_behind_code		# ... behind code that reads as distances of no instructions
	.type	digits, @function
	.p2align 4
digits:
	.cfi_startproc
	.rept	8
	xchg	%ax, %ax
	.byte	0x8d, 0x80		# lea of what follows and rax
	.long	L_unknown - 3 - .
	.endr
	ret
	.cfi_endproc
	.size	digits, .-digits
	.p2align 3, 0xcc
	.long	L_half_behind_code - ., 2b - .
	.fill	64, 1, 0xcc
begin half_gap			# right behind code, with numbers between
	.type	tight, @function
	.p2align 4
tight:
	.cfi_startproc
	mov	%edi, %eax
	add	$0x11223344, %eax
	ret
	.cfi_endproc
	.size	tight, .-tight
	.long	L_half_gap - ., 5, L_half - ., 6
	.fill	64, 1, 0xcc
begin half_between		# between functions, near both
	.p2align 2
	.long	L_half_between - ., 2b - .
	.p2align 5, 0
	.long	L_half_in_front - ., L_half_in_front + 2 - .
begin half_in_front
begin full_between
	.p2align 5
	.quad	2b - ., L_full_between - ., 2b - .
	.section .text.nops, "ax"	# NOPs seem to be distances to it
	.p2align 4
	.fill	12, 1, 0xcc
	.byte	0x1f, 0x40, 0, 0, 0x1f, 0x40, 0, 0
	.fill	0x401f - 8 - 11, 1, 0xcc
begin half_of_nops
	.text
begin full
	.section .rodata
	.p2align 3
	.quad	0, L_full - ., 2b - ., 0
	.text
	.macro wide_between n		# ... of 64 bits
	.rept \n
	.quad	L_unknown - 3 - .
	.endr
	.endm
begin full_alone
	.section .rodata
	.p2align 3
	.zero	128
	.quad	0, L_full_alone - ., 0, 0
	.text
begin full_amid			# among more that lead to none
	.section .rodata
	.p2align 3
	.zero	128
	wide_between 2
	.quad	0, L_full_amid - ., 2b - ., 0
	wide_between 1
	.zero	128
	.text
begin full_most			# ... and fewer
	.section .rodata
	.p2align 3
	.zero	128
	wide_between 1
	.quad	0, L_full_most - ., 2b - ., 0
	.zero	128
	.text
	.macro apart			# from words that belong to others
	.section .rodata
	.p2align 3
	.zero	160
	.endm
begin full_second		# of pairs with a number
	apart
	.quad	1, L_full_second - ., 2, L_half - ., 3
	.text
begin full_spread		# ... that nothing else in a table is
	apart
	.quad	0x1122334455667788, L_full_spread - ., 0x1122334455667788, L_half - ., 2
	.text
begin full_and_halves		# ... with two of 32 bits
	apart
	.long	L_half - ., 0x11223344
	.quad	L_full_and_halves - .
	.long	L_half - ., 0x11223344
	.quad	L_half - .
	.text
	.macro wide_record to		# so long that rows of words of 32 bits end in it
	.quad	\to - .
	.fill	9, 8, 0x1122334455667788
	.endm
begin full_far			# one of eight that lead far from each other
	apart
	.irp	n, 1, 2, 3, 4
	wide_record L_away\n
	.endr
	wide_record L_full_far
	.irp	n, 5, 6, 7
	wide_record L_away\n
	.endr
	apart
	.text
begin full_pair			# among numbers
	.section .rodata
	.p2align 3
	.zero	128
	.quad	0x1122334455667788, L_full_pair - ., 2b - ., 0x1122334455667788
	.text
	.macro record n			# with two numbers, and where it may fault
begin record\n
	.section .rodata
	.long	L_record\n - ., 0x11223344, 0x11223344
	.text
	.endm
	.section .rodata
	.p2align 3
	.zero	128
	.text
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8
	record	\n
	.endr
	.section .rodata
	.zero	128
	.text
begin full_beside_memory		# among distances to memory that the file does not have
	.section .rodata
	.p2align 3
	.quad	0
	.quad	L_memory - ., L_full_beside_memory - ., L_memory - .
	.bss
	.zero	0x20000
L_memory:
	.zero	8
	.text
	.globl	known_label
begin symbol
	.globl	by_symbol
	.set	by_symbol, L_symbol
begin from_outside			# by code that no FDE covers
	.type	outside, @function
	.p2align 4
outside:
	lea	L_from_outside(%rip), %rax
	ret
	.size	outside, .-outside
begin listed_for_collector	# by its entry and distances from there
	.section .llvm_stackmaps, "aw"
	.p2align 3
	.quad	listed_for_collector, 8, 1, L_listed_for_collector - listed_for_collector
	.text
begin listed_for_handler
	.section .llvm_faultmaps, "aw"
	.p2align 3
	.quad	listed_for_handler
	.text
begin listed_for_tracer		# by distances to its entry, as XRay has them
	.section xray_instr_map, "a"
	.p2align 3
	.quad	listed_for_tracer - ., listed_for_tracer - .
	.byte	0, 1, 0, 2
	.zero	12
	.text
begin listed			# by its entry
	.section __patchable_function_entries, "aw"
	.quad	listed
	.text
	.p2align 4
	.nops	16
begin listed_in_front		# by padding in front of it
	.section __mcount_loc, "aw"
	.quad	listed_in_front - 8
	.text
	.p2align 4
	.nops	16
begin listed_last		# ... by the last four bytes of a section
	.section xray_fn_idx, "a"
	.long	listed_last - 8 - .
	.text
	.p2align 4
	.nops	16
begin listed_half_in_front	# ... by a distance of four bytes
	.section __mcount_loc
	.long	listed_half_in_front - 8 - ., 0
	.text
	.section .text.halves, "ax"	# by chance, as two equal numbers of 16 bits: 0x10001
	.p2align 4
	.fill	8, 1, 0xcc
	.long	L_half_of_halves - ., L_half_of_halves - .
	.fill	0xfff0, 1, 0xcc
begin half_of_halves
	.text

# A jump table is full of such distances.
	.globl	switches
	.hidden	switches
	.type	switches, @function
	.p2align 4
switches:
	.cfi_startproc
	cmp	$3, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_switch(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:	mov	$10, %eax
	nop
	nop
	nop
	ret
11:	mov	$11, %eax
	ret
12:	mov	$12, %eax
	ret
13:	mov	$13, %eax
	ret
19:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	switches, .-switches
	.section .rodata
	.p2align 2
T_switch:
	.long	10b-T_switch, 11b-T_switch, 12b-T_switch, 13b-T_switch
	.text

# One whose words, read as distances from themselves, lead between instructions, beside others.
begin half_beside_table
	.globl	switches_more
	.hidden	switches_more
	.type	switches_more, @function
	.p2align 4
switches_more:
	.cfi_startproc
	cmp	$11, %edi
	ja	19f
	mov	%edi, %edi
	lea	T_more(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
10:
	.rept	12
	movabs	$0x1122334455667788, %rax
	ret
	.endr
19:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	switches_more, .-switches_more
	.section .rodata
	.p2align 2
	.zero	64
	.long	L_half_beside_table - ., L_half_beside_table + 2 - .
T_more:
	.set	case, 0
	.rept	12
	.long	10b + 11 * case - T_more
	.set	case, case + 1
	.endr
	.text

	.ifdef FIXED
begin word_alone		# by chance
	.section .rodata
	.p2align 3
	.zero	128
	.quad	L_word_alone
	.zero	128
	.text
begin word_far			# one of eight that lead far from each other
	.section .data
	.p2align 3
	.quad	0x1122334455667788
	.irp	n, 1, 2, 3, 4
	.quad	L_away\n, 0x1122334455667788
	.endr
	.quad	L_word_far, 0x1122334455667788
	.irp	n, 5, 6, 7
	.quad	L_away\n, 0x1122334455667788
	.endr
	.text
begin word			# a table of plain words
	.section .data
	.p2align 3
	.quad	L_word, 2b
	.text
	.p2align 8			# a table of small numbers, but for one byte
begin word_of_small_bytes
	.section .data
	.p2align 3
	.quad	L_word_of_small_bytes, 2b
	.text
begin word_unaligned		# behind what is no word
	.section .data
	.p2align 3
	.ascii	"abc"
	.quad	L_word_unaligned, 2b
	.text
	# L_NAME has that address, modulo 256
	.macro at_low_byte name low
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 8
	.zero	(\low - 16) & 0xff
\name:
	.cfi_startproc
	mov	%esi, %eax
	lea	0x1234(%rsi), %rdx
	lea	0x1234(%rsi), %rdx
L_\name:
	mov	(%rdi), %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.section .data
	.p2align 3
	.zero	6
	.quad	L_\name, L_\name
	.zero	2
	.text
	.endm
at_low_byte word_of_numbers 0		# parts of numbers of 16 bits
at_low_byte word_of_mask 0xff
begin constant
	.globl	use_constant
	.type	use_constant, @function
	.p2align 4
use_constant:
	.cfi_startproc
	cmp	$L_constant, %rdi
	sete	%al
	ret
	.cfi_endproc
	.size	use_constant, .-use_constant
begin loaded
	.globl	use_loaded
	.type	use_loaded, @function
	.p2align 4
use_loaded:
	.cfi_startproc
	mov	$L_loaded, %eax
	ret
	.cfi_endproc
	.size	use_loaded, .-use_loaded
	.endif
	.section .note.GNU-stack, "", @progbits
