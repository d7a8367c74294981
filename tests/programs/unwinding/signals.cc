/* signals.cc - handlers that look at the stack, throw or jump out of it (-fnon-call-exceptions) */
#include <atomic>
#include <cstdlib>

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include <unwind.h>

#include "trace.h"
#include "trail.h"

namespace {

enum { DEPTH = 64 };

sigjmp_buf way_out;
std::atomic<int> ticks, wrong;
uintptr_t root;			/* where main() called what is interrupted */
std::atomic<bool> working;	/* which it is inside of, from root's setting on */

struct Seen {
	uintptr_t pc[DEPTH];
	int n;
};

_Unwind_Reason_Code see(_Unwind_Context *c, void *arg)
{
	auto *s = static_cast<Seen *>(arg);
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);

	if (s->n < DEPTH && trace_inside(pc))
		s->pc[s->n++] = before ? pc : pc - 1;
	return _URC_NO_REASON;
}

bool has_root(const Seen &s)
{
	for (int i = 0; i < s.n; i++)
		if (s.pc[i] == root)
			return true;
	return false;
}

void on_fault(int) { throw 11; }
void on_division(int) { throw 8L; }
void on_jump(int) { siglongjmp(way_out, 3); }
void on_look(int)
{
	Seen s;

	s.n = 0;
	(void)_Unwind_Backtrace(see, &s);
	printf("trace in handler");
	for (int i = 0; i < s.n; i++)
		trace_print(s.pc[i]);
	printf("\n");
}

/* At any instruction: the frames lead to main. */
void on_tick(int)
{
	Seen s;

	if (!working)
		return;
	s.n = 0;
	(void)_Unwind_Backtrace(see, &s);
	if (!has_root(s))
		wrong++;
	ticks++;
}

void handle(int sig, void (*f)(int), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_handler = f;
	a.sa_flags = flags | SA_NODEFER;
	(void)sigaction(sig, &a, nullptr);
}

NOINLINE __attribute__((unused)) int load(const volatile int *p) { Guard g("~load"); return *p; }
NOINLINE __attribute__((unused)) int divide(int a, int b) { Guard g("~divide"); return a / b; }
NOINLINE int frame_less(const volatile int *p) { return *p + 1; }

NOINLINE __attribute__((unused)) int deref(const volatile int *p, int n)
{
	Guard g("~deref");
	try {
		return n & 1 ? load(p) : frame_less(p);
	} catch (const char *) {
		mark("never");
	}
	return 0;
}

#ifdef __clang__		/* has no exceptions but from calls */
void faults() { }
#else
void faults()
{
	volatile int good = 5;
	volatile int *const null = nullptr;

	for (int n = 0; n < 4; n++)
		try {
			mark_number("=", deref(n < 2 ? null : &good, opaque(n)));
		} catch (int x) {
			mark_number("caught", x);
		}
	expect("fault", "~deref caught11 ~load ~deref caught11 ~deref =6 ~load ~deref =5");
	for (int n = 0; n < 2; n++)
		try {
			mark_number("=", divide(opaque(12), opaque(n * 3)));
		} catch (long x) {
			mark_number("caught", x);
		}
	expect("division", "~divide caught8 ~divide =4");
}
#endif

void jumps()
{
	volatile int *const null = nullptr;
	volatile int tries = 0;
	int n = sigsetjmp(way_out, 1);

	mark_number("set", n);
	if (tries++ < 3)
		(void)frame_less(null);
	expect("siglongjmp", "set0 set3 set3 set3");
}

NOINLINE void raise_it(int depth)
{
	if (depth)
		raise_it(depth - 1);
	else
		(void)raise(SIGUSR1);
	__asm__ volatile("");
}

NOINLINE unsigned leaf(unsigned x) { return x & 1 ? x * 3 + 1 : x >> 1; }
NOINLINE unsigned loop(unsigned x)
{
	for (int i = 0; i < 200; i++)
		try {
			Guard *g = nullptr;
			x = leaf(x) + static_cast<unsigned>(i) + (g != nullptr);
			if (x == 0xdeadbeef)
				throw x;
		} catch (int) {
			x = 1;
		}
	return x;
}


NOINLINE void work(int round)	/* called once from main, so that its caller is the root */
{
	unsigned x = 27;

	root = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1;
	working = true;
	for (int i = 0; i < 50000000 && ticks < round; i++)
		x = loop(x);
	__asm__ volatile("" : : "r"(x));
	working = false;
}

void ticking(int n)
{
	struct itimerval every = { { 0, 300 }, { 0, 300 } }, none = { { 0, 0 }, { 0, 0 } };

	(void)setitimer(ITIMER_REAL, &every, nullptr);
	work(n);
	(void)setitimer(ITIMER_REAL, &none, nullptr);
	claim("interrupted often", ticks >= n);
	claim("every frame led to its caller", wrong == 0);
}

}

int main()
{
	static char stack[1 << 16];
	stack_t other;

	memset(&other, 0, sizeof(other));
	other.ss_sp = stack;
	other.ss_size = sizeof(stack);
	handle(SIGSEGV, on_fault, 0);
	handle(SIGFPE, on_division, 0);
	faults();
	handle(SIGSEGV, on_jump, 0);
	jumps();
	(void)sigaltstack(&other, nullptr);
	handle(SIGSEGV, on_jump, SA_ONSTACK);
	jumps();
	handle(SIGSEGV, on_fault, SA_ONSTACK);
	faults();
	handle(SIGUSR1, on_look, 0);
	raise_it(opaque(3));
	handle(SIGUSR1, on_look, SA_ONSTACK);
	raise_it(opaque(2));
	handle(SIGALRM, on_tick, SA_RESTART);
	ticking(300);
	return trail_end();
}
