# A function of more than 4 GiB, if one believes what its unwind information says.
	.text
	.globl	_start
	.hidden	_start
	.type	_start, @function
_start:
	.fill	5, 1, 0x90
	ret
	.size	_start, .-_start

	.section .eh_frame, "a", @unwind
	.long	2f - 1f
1:	.long	0			# a CIE
	.byte	1
	.string	"zR"
	.uleb128 1
	.sleb128 -8
	.byte	16
	.uleb128 1
	.byte	0x10			# of 64 bits, from where it stands
	.byte	12, 7, 8, 0x90, 1	# the CFA is rsp + 8, the return address below it
	.p2align 3
2:	.long	4f - 3f
3:	.long	3b - 1b + 4
	.quad	_start - .
	.quad	0x100000001
	.uleb128 0
	.p2align 3
4:	.long	0

	.bss				# or there would be no such addresses
	.zero	0x120000000
