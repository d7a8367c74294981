/* throw.cc - throwing and catching: what is caught by which handler, what is destroyed on the way
 *
 * Built as a program; with -Dmain=library_main also as a library that uses.cc calls.
 */
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <unwind.h>

#include "trail.h"

namespace {

struct Base { int tag = 1; virtual ~Base() {} virtual const char *who() const { return "base"; } };
struct Other { long filler[3] = { 7, 8, 9 }; virtual ~Other() {} virtual int other() const { return 5; } };
struct Derived : Base { const char *who() const override { return "derived"; } };
struct Two : Derived, Other { const char *who() const override { return "two"; } };
struct Virtual : virtual Base { const char *who() const override { return "virtual"; } };
struct Private : private Base { };

NOINLINE void throw_kind(int kind)
{
	static Two two;

	switch (kind) {
	case 0: throw 42;
	case 1: throw 43L;
	case 2: throw 1.5;
	case 3: throw std::string("text");
	case 4: throw Derived();
	case 5: throw Two();
	case 6: throw static_cast<const Base *>(&two);
	case 7: throw &two;
	case 8: throw nullptr;
	case 9: throw Virtual();
	case 10: throw Private();
	case 11: throw "literal";
	case 12: throw std::out_of_range("range");
	case 13: throw 'c';
	case 14: throw static_cast<void (*)(int)>(throw_kind);
	default: mark("nothing");
	}
}

NOINLINE void catch_kind(int kind)
{
	Guard outer("~outer");
	try {
		Guard inner("~inner");
		throw_kind(kind);
	} catch (int x) { mark_number("int", x);
	} catch (const long &x) { mark_number("long", x);
	} catch (double x) { mark_number("double", static_cast<long>(x * 2));
	} catch (const std::string &s) { mark(s.c_str());
	} catch (const Other &o) { mark_number("other", o.other() + o.filler[2]);
	} catch (Base &b) { mark(b.who());
	} catch (const Other *o) { mark_number("other*", o->other() + o->filler[0]);
	} catch (const Base *b) { mark(b->who());
	} catch (const char *s) { mark(s);
	} catch (std::logic_error &e) { mark(e.what());
	} catch (void (*f)(int)) { mark(f == throw_kind ? "itself" : "something else");
	} catch (...) { mark("...");
	}
}

void kinds()
{
	static const char *const want[] = {
		"int42", "long43", "double3", "text", "derived", "other14", "two", "other*12",
		"other*0", "virtual", "...", "literal", "range", "...", "itself", "nothing",
	};

	for (int k = 0; k < 16; k++) {
		char w[200];
		const char *order = k == 15 ? "nothing ~inner ~outer" : w;

		if (k == 8)	/* a null pointer is caught as a pointer; there is nothing to look at */
			continue;
		(void)snprintf(w, sizeof(w), "~inner %s ~outer", want[k]);
		catch_kind(opaque(k));
		expect("kind", order);
	}
}

/* Each level has a frame of another form. */
template <int N> NOINLINE int level(int depth, int stop)
{
	Guard g(N % 3 == 0 ? "a" : N % 3 == 1 ? "b" : "c");
	volatile char room[N * 24 + 8];

	room[0] = static_cast<char>(depth);
	if (depth == stop)
		throw depth;
	if (N % 4 == 1) {
		try {
			return level<(N + 1) % 12>(depth + 1, stop) + room[0];
		} catch (const std::string &) {
			mark("never");
		}
	}
	if (N % 4 == 2) {
		try {
			return level<(N + 1) % 12>(depth + 1, stop) + room[0];
		} catch (int x) {
			mark_number("again", x);
			throw;
		}
	}
	return level<(N + 1) % 12>(depth + 1, stop) + room[0];
}

void deep()
{
	try {
		level<0>(0, opaque(15));
	} catch (int x) {
		mark_number("caught", x);
	}
	expect("deep", "a again15 c b a c again15 b a c b again15 a c b a again15 c b a caught15");
}

NOINLINE void rethrow() { Guard g("~rethrow"); throw; }

void rethrowing()
{
	try {
		try {
			throw Two();
		} catch (Base &b) {
			b.tag = 9;
			Guard g("~handler");
			rethrow();
		}
	} catch (Derived &d) {
		mark_number("same object", d.tag);
	}
	expect("rethrow", "~rethrow ~handler same object9");

	std::exception_ptr kept;
	try {
		throw_kind(12);
	} catch (...) {
		kept = std::current_exception();
	}
	for (int i = 0; i < 2; i++)
		try {
			std::rethrow_exception(kept);
		} catch (std::exception &e) {
			mark(e.what());
		}
	expect("exception_ptr", "range range");

	try {
		try { throw 1; } catch (int) {
			try { throw 2L; } catch (long) { mark("inner"); }
			throw;
		}
	} catch (int x) {
		mark_number("outer", x);
	}
	expect("handler in handler", "inner outer1");
}

NOINLINE void wrap(int depth)
{
	try {
		if (depth == 0)
			throw_kind(12);
		wrap(depth - 1);
	} catch (...) {
		std::throw_with_nested(std::runtime_error(std::to_string(depth)));
	}
}

NOINLINE void unwrap(const std::exception &e)
{
	mark(e.what());
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		unwrap(inner);
	}
}

void nested()
{
	try {
		wrap(opaque(3));
	} catch (const std::exception &e) {
		unwrap(e);
	}
	expect("nested", "3 2 1 0 range");
}

void foreign_gone(_Unwind_Reason_Code, _Unwind_Exception *e)
{
	mark("released");
	std::free(e);
}

NOINLINE void raise_foreign()
{
	auto *e = static_cast<_Unwind_Exception *>(std::aligned_alloc(alignof(_Unwind_Exception),
								     sizeof(_Unwind_Exception)));

	memset(e, 0, sizeof(*e));
	memcpy(&e->exception_class, "TESTMRPH", 8);
	e->exception_cleanup = foreign_gone;
	Guard g("~raise");
	mark_number("code", _Unwind_RaiseException(e));
}

NOINLINE void through()
{
	Guard g("~through");
	try {
		raise_foreign();
	} catch (std::exception &) {
		mark("never");
	} catch (...) {
		mark("again");
		throw;
	}
}

void foreign()
{
	try {
		through();
	} catch (int) {
		mark("never");
	} catch (...) {
		mark("...");
	}
	expect("foreign", "~raise again ~through ... released");
}

int ncallback;
NOINLINE int compare(const void *a, const void *b)
{
	Guard g(ncallback % 2 ? "odd" : "even");
	if (++ncallback == 3)
		throw ncallback;
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

void callbacks()
{
	int v[] = { 3, 1, 2, 5, 4 };

	try {
		Guard g("~sort");
		std::qsort(v, 5, sizeof(v[0]), compare);
	} catch (int n) {
		mark_number("qsort", n);
	}
	expect("through qsort", "even odd even ~sort qsort3");
	try {
		std::vector<int> w(100, 1);
		std::sort(w.begin(), w.end(), [](int a, int b) -> bool {
			if (a == opaque(1)) throw std::string("sort");
			return a < b;
		});
	} catch (std::string &s) {
		mark(s.c_str());
	}
	std::function<int(int)> f = [&](int n) -> int { return n ? f(n - 1) : throw n; };
	try { f(opaque(9)); } catch (int n) { mark_number("function", n); }
	try { std::vector<int>().at(static_cast<size_t>(opaque(7))); } catch (std::out_of_range &) { mark("at"); }
	try { (void)dynamic_cast<Two &>(*std::make_unique<Derived>()); } catch (std::bad_cast &) { mark("cast"); }
	try { (void)operator new(static_cast<size_t>(-1) / 2 - static_cast<size_t>(opaque(0))); }
	catch (std::bad_alloc &) { mark("alloc"); }
	expect("thrown by the library", "sort function0 at cast alloc");
}

/* Hundreds of throws, each at a place that the one before decides. */
template <int N> NOINLINE unsigned maze(unsigned s, int depth)
{
	struct Add {
		unsigned &s;
		~Add() { s = s * 33 + N; }
	} add{ s };

	s = s * 1103515245u + 12345u;
	try {
		switch (s >> 27) {
		case 0: case 7: case 9: throw static_cast<int>(s & 0xff);
		case 1: throw static_cast<long>(s & 0xfff);
		case 2: throw std::to_string(s & 0xf);
		case 3: case 4: case 11: case 13:
			if (depth > 20)
				throw 'd';
			return maze<(N + 1) % 8>(s, depth + 1) ^ s;
		default:
			if (depth > 20)
				return s;
			return maze<(N * 5 + 3) % 8>(s + 1, depth + 1) + 1;
		}
	} catch (int x) {
		if (N % 2)
			throw x + 1L;
		return s + static_cast<unsigned>(x);
	} catch (const std::string &t) {
		if (N % 3 == 0)
			throw;
		s += static_cast<unsigned>(t[0]);
	} catch (char) {
		return s / 2;
	}
	return s;
}

void mazes()
{
	unsigned sum = 1, caught[3] = { 0, 0, 0 };

	for (unsigned i = 0; i < 2000; i++)
		try {
			sum = sum * 31 + maze<0>(i * 2654435761u, 0);
		} catch (long x) {
			sum += static_cast<unsigned>(x), caught[0]++;
		} catch (std::string &t) {
			sum ^= static_cast<unsigned>(t.size()), caught[1]++;
		} catch (...) {
			caught[2]++;
		}
	printf("maze %u: %u long, %u string, %u others\n", sum, caught[0], caught[1], caught[2]);
	claim("the maze was left by several doors", caught[0] && caught[1]);
}

}

#ifdef main
extern "C" int main();
extern "C" void library_call(void (*f)(int), int n);
NOINLINE void library_call(void (*f)(int), int n)
{
	try {
		Guard g("~library");
		f(n);
	} catch (int x) {
		mark_number("again", x);
		throw;
	}
}
#endif

int main()
{
#ifdef main
	expect("the library's part", "~library again1 ~library again1 ~library again1");
#endif
	kinds();
	deep();
	rethrowing();
	nested();
	foreign();
	callbacks();
	mazes();
	return trail_end();
}
