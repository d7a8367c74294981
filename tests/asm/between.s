# Functions between two places that other code knows.  NAME_... are functions, use_NAME the code
# that has the addresses: as constants if FIXED.

	.include "tests/asm/hidden.inc"

	.macro	form address, reg
	.ifdef	FIXED
	mov	$\address, %\reg
	.else
	lea	\address(%rip), %\reg
	.endif
	.endm

# A function that is long enough to be moved.
	.macro	some name
begin \name
	lea	0x1234(%rdi), %rax
	ret
end \name
	.endm

# No function is close.
	.macro	apart
	.skip	48, 0xcc
	.endm

	.text
	apart
# Between two labels that are no functions.
row_start:
	apart
	some	row_first
	some	row_middle
	some	row_last
	apart
row_end:
	apart
	some	row_behind
begin use_row
	form	row_start, rax
	form	row_end, rdx
	cmp	%rax, %rdi
	jb	1f
	cmp	%rdx, %rdi
	jae	1f
	mov	$1, %eax
	ret
1:	xor	%eax, %eax
	ret
end use_row

# The first label is that of a function, and somebody else gets both.
	some	given_first
	some	given_middle
	apart
given_end:
	apart
begin use_given
	form	given_first, rsi
	form	given_end, rdx
	call	row_first
	ret
end use_given

# Both are functions, and code asks for what is between them.
	some	asked_first
	some	asked_middle
	some	asked_end
begin use_asked
	form	asked_first, rax
	sub	%rax, %rdi
	form	asked_end, rcx
	sub	%rax, %rcx
	cmp	%rcx, %rdi
	setb	%al
	ret
end use_asked

	.ifdef	FIXED
# The same by constants.
	some	compared_first
	some	compared_middle
	some	compared_end
begin use_compared
	cmp	$compared_first, %rdi
	jb	1f
	cmp	$compared_end, %rdi
	jae	1f
	mov	$1, %eax
	ret
1:	xor	%eax, %eax
	ret
end use_compared
	.endif

# Both are functions that are handed on.
	some	named_first
	some	named_middle
	some	named_last
begin use_named
	form	named_first, rsi
	form	named_last, rdx
	call	row_first
	ret
end use_named

# One label shows nothing.
	some	alone_first
	some	alone_last
	apart
alone_end:
	apart
begin use_alone
	form	alone_end, rdx
	mov	%rdx, (%rdi)
	ret
end use_alone

# Too far away.
	some	far_first
	.skip	0x10000, 0xcc
	some	far_last
	apart
far_end:
	apart
begin use_far
	form	far_first, rsi
	form	far_end, rdx
	call	row_first
	ret
end use_far

# Whole pages.
	.section .text.pages, "ax"
	.p2align 12
	.skip	4096, 0xcc
	apart
	some	pages_in_front
	apart
pages_start:
	apart
	some	pages_middle
	apart
pages_end:
	apart
begin use_pages
	form	pages_start, rax
	form	(pages_end + 0xfff), rdx
	and	$-4096, %rax
	and	$-4096, %rdx
	jmp	*%rcx
end use_pages
