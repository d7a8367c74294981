/* frames.cc - unwinding through frames of every form
 *
 * Aligned and variable ones (whose CFA is an expression or a register of its own), arguments pushed
 * on the stack within try blocks (GNU_args_size), saved vector registers' worth of locals, large
 * cold parts with landing pads, stack protectors, hand-written frames with call frame information.
 */
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <alloca.h>

#include "trail.h"

namespace {

NOINLINE int thrower(int n) { Guard g("~"); if (n) throw n; return 1; }

NOINLINE int variable(int n, int fail)
{
	Guard g("variable");
	auto *room = static_cast<unsigned char *>(alloca(static_cast<size_t>(n) * 16));

	memset(room, n, static_cast<size_t>(n) * 16);
	try {
		auto *more = static_cast<unsigned char *>(alloca(static_cast<size_t>(n) + 100));
		memset(more, 1, static_cast<size_t>(n) + 100);
		thrower(fail);
		return more[n];
	} catch (long) {
		mark("never");
	}
	return room[1];
}

NOINLINE int aligned(int n, int fail)
{
	alignas(64) volatile unsigned char room[128];
	Guard g("aligned");
	auto *more = static_cast<volatile unsigned char *>(alloca(static_cast<size_t>(n) * 8));

	room[n] = static_cast<unsigned char>(n);
	more[0] = room[n];
	if (reinterpret_cast<uintptr_t>(room) % 64)
		mark("CROOKED");
	try {
		return variable(more[0], fail) + room[n];
	} catch (int x) {
		if (reinterpret_cast<uintptr_t>(room) % 64 || more[0] != n)
			mark("CROOKED");
		throw x + more[0];
	}
}

struct Wide { long v[9]; };
NOINLINE long many(int a, int b, int c, int d, int e, int f, Wide w, int g, int h, long i, Wide x)
{
	Guard guard("many");
	thrower(a);
	return a + b + c + d + e + f + w.v[8] + g + h + i + x.v[0];
}

/* The stack is deeper at some calls than at others when their arguments are pushed. */
NOINLINE long pushes(int n)
{
	long sum = 0;
	Wide w = { { 1, 2, 3, 4, 5, 6, 7, 8, n } };

	for (int i = 0; i < 3; i++)
		try {
			Guard g("pushes");
			sum += many(i == n, 2, 3, 4, 5, 6, w, static_cast<int>(many(
				i == n - 3 ? 4 : 0, i, i, i, i, i, w, 1, 2, 3, w)), thrower(0), 9, w);
		} catch (int x) {
			sum += x * 1000;
			sum += many(0, 1, 1, 1, 1, 1, w, static_cast<int>(sum), 2, 2, w);
		}
	return sum;
}

NOINLINE int variadic(const char *form, ...)
{
	va_list ap;
	int sum = 0;

	va_start(ap, form);
	try {
		for (; *form; form++)
			sum += *form == 'd' ? static_cast<int>(va_arg(ap, double)) : va_arg(ap, int);
		thrower(sum);
	} catch (int x) {
		sum = -x;
	}
	va_end(ap);
	return sum;
}

NOINLINE __attribute__((cold)) void complain(int n)
{
	Guard g("cold");
	thrower(n);
}

/* Hot: the loop.  Cold: everything else, most of it with landing pads. */
NOINLINE int mostly_cold(const unsigned char *p, int n)
{
	int sum = 0;
	std::string note;

	for (int i = 0; i < n; i++) {
		if (__builtin_expect(p[i] == 200, 0)) {
			Guard g("first");
			note += "a note about it that is long enough to be allocated";
			complain(p[i]);
		}
		if (__builtin_expect(p[i] == 201, 0)) {
			try {
				Guard h("second");
				complain(p[i] - 200);
			} catch (int x) {
				note += "another one of these notes";
				mark_number("inside", x);
				if (x != 1)
					throw;
			}
		}
		if (__builtin_expect(p[i] == 202, 0)) {
			Guard a("third");
			std::string copy = note + "third";
			Guard b("fourth");
			complain(static_cast<int>(copy.size()) % 7 + 1);
		}
		sum += p[i];
	}
	return sum + static_cast<int>(note.size());
}

NOINLINE double floats(double a, int n)
{
	double b = a * 2, c = a * 3, d = a * 4, e = a * 5;

	try {
		Guard g("floats");
		thrower(n);
		a += b;
	} catch (int x) {
		return a + b + c + d + e + x;
	}
	return a * b * c * d * e;
}

NOINLINE int registers(int n)		/* all that calls preserve are live in the handler */
{
	int a = opaque(1), b = opaque(2), c = opaque(3), d = opaque(4), e = opaque(5), f = opaque(6);

	for (int i = 0; i < 2; i++)
		try {
			Guard g("registers");
			a += thrower(n), b += a, c += b, d += c, e += d, f += e;
		} catch (int x) {
			f += a * 2 + b * 3 + c * 5 + d * 7 + e * 11 + x;
		}
	return f;
}

struct Guarded {
	char text[64];
	NOINLINE int run(int n) noexcept(false)
	{
		char buffer[64];

		memset(buffer, 'x', sizeof(buffer));
		memcpy(text, buffer, sizeof(text));
		__asm__ volatile("" : : "r"(buffer) : "memory");
		Guard g("protected");
		return thrower(n) + buffer[opaque(9)];
	}
};

extern "C" int call_it(int n) { return thrower(n); }

/* Frames as only assembly makes them: each calls call_it() and adds 1. */
extern "C" int asm_pushes(int n);
extern "C" int asm_expression(int n);
extern "C" int asm_registers(int n);
extern "C" int asm_remember(int n);

__asm__(R"(
	.text
	.p2align 4
	.globl asm_pushes
	.hidden asm_pushes
	.type asm_pushes, @function
asm_pushes:
	.cfi_startproc
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	pushq $0
	.cfi_adjust_cfa_offset 8
	movl $77, %ebx
	call call_it
	incl %eax
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	popq %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size asm_pushes, .-asm_pushes

	# The CFA is kept in memory, rbx' place is computed.
	.p2align 4
	.globl asm_expression
	.hidden asm_expression
	.type asm_expression, @function
asm_expression:
	.cfi_startproc
	leaq 8(%rsp), %rax
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	subq $64, %rsp
	.cfi_adjust_cfa_offset 64
	andq $-32, %rsp
	movq %rax, 8(%rsp)
	.cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x06
	.cfi_escape 0x10, 0x03, 0x02, 0x40, 0x1c
	movl $5, %ebx
	call call_it
	incl %eax
	movq 8(%rsp), %rdx
	movq -16(%rdx), %rbx
	leaq -8(%rdx), %rsp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size asm_expression, .-asm_expression

	# rbp is kept in r13, r13 in the frame.
	.p2align 4
	.globl asm_registers
	.hidden asm_registers
	.type asm_registers, @function
asm_registers:
	.cfi_startproc
	pushq %r13
	.cfi_adjust_cfa_offset 8
	.cfi_offset %r13, -16
	movq %rbp, %r13
	.cfi_register %rbp, %r13
	xorl %ebp, %ebp
	call call_it
	incl %eax
	movq %r13, %rbp
	.cfi_restore %rbp
	popq %r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	ret
	.cfi_endproc
	.size asm_registers, .-asm_registers

	.p2align 4
	.globl asm_remember
	.hidden asm_remember
	.type asm_remember, @function
asm_remember:
	.cfi_startproc
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	testl %edi, %edi
	jne 1f
	.cfi_remember_state
	popq %rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	movl $1, %eax
	ret
1:	.cfi_restore_state
	andq $-16, %rsp
	subq $48, %rsp
	call call_it
	incl %eax
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size asm_remember, .-asm_remember
)");

NOINLINE void through_asm(const char *name, int (*f)(int))
{
	for (int n = 0; n < 2; n++) {
		int keep = opaque(33), other = opaque(44);

		try {
			Guard g(name);
			mark_number("=", f(opaque(n * 6)));
		} catch (int x) {
			mark_number("caught", x + keep + other);
		}
	}
}

}

int main()
{
	unsigned char bytes[100] = { 0 };

	try { aligned(opaque(9), opaque(3)); } catch (int x) { mark_number("caught", x); }
	try { mark_number("=", aligned(opaque(5), 0)); } catch (int) { mark("never"); }
	expect("aligned", "~ variable aligned caught12 ~ variable aligned =6");
	mark_number("=", pushes(opaque(1)));
	mark_number("=", pushes(opaque(4)));
	mark_number("=", pushes(opaque(9)));
	printf("pushes: %s\n", trail);
	claim("pushes", strstr(trail, "=") && strstr(trail, "many pushes"));
	trail[trail_n = 0] = 0;
	mark_number("=", variadic("dididididididi", 1., 2, 3., 4, 5., 6, 7., 8, 9., 10, 11., 12, 13., 14));
	expect("variadic", "~ =-105");
	for (int i = 0; i < 4; i++) {
		bytes[60] = static_cast<unsigned char>(opaque(i ? 199 + i : 1));
		try {
			mark_number("=", mostly_cold(bytes, 100));
		} catch (int x) {
			mark_number("caught", x);
		}
	}
	expect("mostly cold", "=1 ~ cold first caught200 ~ cold second inside1 =227 "
	       "~ cold fourth third caught6");
	mark_number("=", static_cast<long>(floats(1.5, opaque(2))));
	expect("floats", "~ floats =24");
	mark_number("=", registers(opaque(3)));
	expect("registers", "~ registers ~ registers =224");
	Guarded guarded;
	try { guarded.run(opaque(4)); } catch (int x) { mark_number("caught", x); }
	expect("stack protector", "~ protected caught4");
	through_asm("pushes", asm_pushes);
	through_asm("expression", asm_expression);
	through_asm("registers", asm_registers);
	through_asm("remember", asm_remember);
	expect("assembly", "~ =2 pushes ~ pushes caught83 ~ =2 expression ~ expression caught83 "
	       "~ =2 registers ~ registers caught83 =1 remember ~ remember caught83");
	return trail_end();
}
