# Functions whose unwind rows are made by hand; test_unwindwalk.c says what is on their stacks.  Nothing of it
# is run.

	.macro begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm
	.macro end name
	nop
	nop
	.cfi_endproc
	.size	\name, .-\name
	.endm
# A row whose CFA is what the expression of so many bytes gives.
	.macro cfa bytes:vararg
	.cfi_escape 0x0f, \bytes
	.endm

	.text
begin start
	.cfi_undefined rip
	nop
in_start:
end start

begin leaf
	nop
end leaf

begin pushed			# two words, rbx among them
	.cfi_def_cfa rsp, 24
	.cfi_offset rbx, -16
	nop
in_pushed:
end pushed

begin framed
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	nop
in_framed:
end framed

begin by_rbx			# its CFA needs what pushed() has saved
	.cfi_def_cfa rbx, 8
	nop
in_by_rbx:
end by_rbx

begin by_rcx			# no caller's any more
	.cfi_def_cfa rcx, 8
	nop
in_by_rcx:
end by_rcx

begin to_rcx			# as retpolines' kin do
	.cfi_def_cfa rsp, 8
	.cfi_register rip, rcx
	nop
in_to_rcx:
end to_rcx

	# rsp + 8 + (((rip & 15) >= 11) << 3), as linkage stubs have it
begin stub
	cfa 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.fill	11, 1, 0x90
stub_later:
end stub

	# a frame of a signal: at rsp + 16 its rip, rsp + 24 its rsp, rsp + 32 its rbx
	.globl	signals
	.type	signals, @function
	.p2align 4
	nop
	.cfi_startproc
	.cfi_signal_frame
	cfa 3, 0x77, 24, 0x06
	.cfi_escape 0x10, 16, 2, 0x77, 16
	.cfi_escape 0x10, 7, 2, 0x77, 24
	.cfi_escape 0x10, 3, 2, 0x77, 32
	nop
signals:
end signals

begin never			# ends in its call, and victim() begins behind it
	.cfi_undefined rip
	nop
	.cfi_endproc
	.size	never, .-never
	.globl	victim
	.type	victim, @function
victim:
	.cfi_startproc
	nop
end victim

# What nobody should write.
begin loops
	cfa 3, 0x2f, 0xfd, 0xff
	nop
end loops
begin grows			# dup, again and again
	cfa 5, 0x30, 0x12, 0x2f, 0xfc, 0xff
	nop
end grows
begin divides
	cfa 3, 0x31, 0x30, 0x1b
	nop
end divides
begin overflows			# the least number by -1
	cfa 7, 0x31, 0x08, 63, 0x24, 0x09, 0xff, 0x1b
	nop
end overflows
begin underflows
	cfa 1, 0x22
	nop
end underflows
begin unknown
	cfa 1, 0xe0
	nop
end unknown
begin register			# 40
	cfa 3, 0x92, 40, 0
	nop
end register
begin outside			# deref of 0
	cfa 2, 0x30, 0x06
	nop
end outside
begin jumps_out
	cfa 3, 0x2f, 0x10, 0
	nop
end jumps_out
begin cut_short
	cfa 1, 0x0e
	nop
end cut_short
begin back			# a CFA below the stack pointer
	.cfi_def_cfa rsp, 0
	.cfi_offset rip, 0
	nop
in_back:
end back
begin no_address		# the return address is what it is
	.cfi_escape 0x08, 16
	nop
end no_address

	.p2align 4
	.globl	bare
	.type	bare, @function
bare:	nop
	nop
in_bare:
	nop
	.size	bare, .-bare
