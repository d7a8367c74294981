/* trace.cc - the stack as backtrace(), _Unwind_Backtrace() and libunwind see it */
#include <algorithm>
#include <cstdlib>
#include <string>

#include <alloca.h>
#include <execinfo.h>
#include <unwind.h>
#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#include "trace.h"
#include "trail.h"

namespace {

enum { DEPTH = 64 };

struct Seen {
	uintptr_t pc[DEPTH], cfa[DEPTH];
	int n;
};

_Unwind_Reason_Code see(_Unwind_Context *c, void *arg)
{
	auto *s = static_cast<Seen *>(arg);
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);

	if (s->n == DEPTH)
		return _URC_END_OF_STACK;
	s->pc[s->n] = before ? pc : pc - 1;
	s->cfa[s->n++] = _Unwind_GetCFA(c);
	return _URC_NO_REASON;
}

#ifdef HAVE_LIBUNWIND
NOINLINE void by_libunwind(Seen *s)
{
	unw_context_t context;
	unw_cursor_t cursor;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	s->n = 0;
	do {
		unw_word_t ip, sp;

		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		unw_get_reg(&cursor, UNW_REG_SP, &sp);
		s->pc[s->n] = unw_is_signal_frame(&cursor) > 0 ? ip : ip - 1;
		s->cfa[s->n++] = sp;
	} while (s->n < DEPTH && unw_step(&cursor) > 0);
}
#else
void by_libunwind(Seen *s) { s->n = 0; }
#endif

void print(const char *name, const Seen &s)
{
	printf("trace %s", name);
	for (int i = 0; i < s.n; i++)
		trace_print(s.pc[i]);
	printf("\n");
}

/* Frames behind the one in which they were taken must agree. */
bool agree(const Seen &a, const Seen &b)
{
	int n = std::min(a.n, b.n) - 1;

	if (n < 1)
		return false;
	for (int i = 1; i <= n; i++)
		if (a.pc[a.n - i] != b.pc[b.n - i])
			return false;
	return true;
}

NOINLINE int look(const char *name)
{
	void *address[DEPTH];
	Seen gcc, plain, lib;

	gcc.n = 0;
	(void)_Unwind_Backtrace(see, &gcc);
	plain.n = backtrace(address, DEPTH);
	for (int i = 0; i < plain.n; i++)
		plain.pc[i] = reinterpret_cast<uintptr_t>(address[i]) - 1;
	by_libunwind(&lib);
	print(name, gcc);
	claim("backtrace() agrees", plain.n == gcc.n && agree(plain, gcc));
	claim("libunwind agrees", lib.n == 0 || agree(lib, gcc));
	for (int i = 1; i + 1 < gcc.n; i++)
		if (gcc.cfa[i] < gcc.cfa[i - 1])
			claim("the stack grows down", 0);
	return gcc.n;
}

template <int N> NOINLINE int nest(int depth)
{
	Guard g("");
	volatile char room[N * 40 + 1];

	room[0] = 1;
	if (depth == 0)
		return look("nested") + room[0];
	if (N == 3) {
		auto *p = static_cast<volatile char *>(alloca(static_cast<size_t>(depth) * 32));
		p[0] = 1;
		return nest<(N + 1) % 6>(depth - 1) + p[0];
	}
	if (N == 4) {
		alignas(64) volatile char q[64];
		q[0] = 1;
		return nest<(N + 1) % 6>(depth - 1) + q[0];
	}
	return nest<(N + 1) % 6>(depth - 1) + room[0];
}

struct Looks { ~Looks() { look("destructor"); } };

NOINLINE void unwinds(int n)
{
	Looks l;
	if (n)
		throw n;
}

int compare(const void *a, const void *b)
{
	static int looked;

	if (!looked++)
		look("callback");
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

/* A forced unwinding that runs the cleanups of every frame and then ends the program. */
_Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception *,
			 _Unwind_Context *c, void *)
{
	uintptr_t pc = _Unwind_GetIP(c) - 1;

	printf("forced%s", actions & _UA_END_OF_STACK ? " end" : "");
	trace_print(pc);
	printf("\n");
	if (actions & _UA_END_OF_STACK)
		std::exit(trail_end());
	return _URC_NO_REASON;
}

NOINLINE void force(int depth)
{
	static _Unwind_Exception e;
	Guard g("forced");

	if (depth) {
		force(depth - 1);
		return;
	}
	memcpy(&e.exception_class, "TESTMRPH", 8);
	(void)_Unwind_ForcedUnwind(&e, stop, nullptr);
}

}

int main()
{
	int v[] = { 2, 1, 3 };

	for (int depth = 0; depth < 20; depth += 4)
		claim("as deep as it is", nest<0>(opaque(depth)) > depth);
	try {
		unwinds(opaque(1));
	} catch (int) {
		look("handler");
	}
	unwinds(opaque(0));
	std::qsort(v, 3, sizeof(v[0]), compare);
	force(opaque(3));
	return 1;
}
