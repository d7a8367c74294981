/* objects.cc - construction and destruction that exceptions cut short */
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "trail.h"

namespace {

int nmade;
struct Item {		/* the third to be made throws */
	int n;
	Item() : n(++nmade) { if (n == 3) throw n; mark_number("+", n); }
	~Item() { mark_number("-", n); }
	static void *operator new[](size_t size) { mark("new[]"); return std::malloc(size); }
	static void operator delete[](void *p) { mark("delete[]"); std::free(p); }
};

struct Part {
	const char *name;
	Part(const char *n, bool fail) : name(n) { if (fail) throw std::runtime_error(n); mark(n); }
	~Part() { mark("~"); mark(name); }
};

struct Left : Part { Left(bool f) : Part("left", f) {} };
struct Right : virtual Part { Right(bool f) : Part("right", f) {} };

struct Whole : Left, Right {
	Part one, two;
	Whole(int fail)
	try : Part("virtual", fail == 0), Left(fail == 1), Right(fail == 2), one("one", fail == 3),
	      two("two", fail == 4) {
		if (fail == 5)
			throw std::runtime_error("body");
	} catch (std::exception &e) {
		mark("ctor:");
		mark(e.what());
		if (fail == 3)
			throw fail;
	}
	~Whole() noexcept(false);
	static void *operator new(size_t size) { mark("new"); return std::malloc(size); }
	static void operator delete(void *p) { mark("delete"); std::free(p); }
};

Whole::~Whole() noexcept(false)
try {
	mark("dtor");
} catch (...) {
}

NOINLINE void whole(int fail)
{
	try {
		delete new Whole(fail);
	} catch (std::exception &e) {
		mark("out:");
		mark(e.what());
	} catch (int n) {
		mark_number("out:", n);
	}
}

void arrays()
{
	nmade = 0;
	try { Item local[5]; mark("never"); } catch (int n) { mark_number("caught", n); }
	expect("array on the stack", "+1 +2 -2 -1 caught3");
	nmade = 0;
	try { delete[] new Item[4]; } catch (int n) { mark_number("caught", n); }
	expect("array in memory", "new[] +1 +2 -2 -1 delete[] caught3");
	nmade = 1;
	try { std::vector<Item> v(4); } catch (int n) { mark_number("caught", n); }
	expect("vector", "+2 -2 caught3");
}

void parts()
{
	whole(opaque(0));
	expect("virtual base", "new ctor: virtual delete out: virtual");
	whole(opaque(1));
	expect("base", "new virtual ~ virtual ctor: left delete out: left");
	whole(opaque(3));
	expect("member", "new virtual left ~ left ~ virtual ctor: one delete out:3");
	whole(opaque(4));
	expect("second member", "new virtual left one ~ one ~ left ~ virtual ctor: two delete out: two");
	whole(opaque(5));
	expect("body", "new virtual left one two ~ two ~ one ~ left ~ virtual ctor: body delete out: body");
	whole(opaque(6));
	expect("whole", "new virtual left one two dtor ~ two ~ one ~ left ~ virtual delete");
}

struct Bomb {
	bool live;
	explicit Bomb(bool l) : live(l) {}
	~Bomb() noexcept(false) { mark("bomb"); if (live && !std::uncaught_exceptions()) throw 5; }
};

void bombs()
{
	try {
		Guard g("~g");
		Bomb b(opaque(1) != 0);
		Guard h("~h");
	} catch (int n) {
		mark_number("caught", n);
	}
	expect("destructor that throws", "~h bomb ~g caught5");
	try {
		Bomb b(true);
		throw 6;
	} catch (int n) {
		mark_number("caught", n);
	}
	expect("destructor that knows", "bomb caught6");
}

NOINLINE int attempt(int n) { if (n < 2) throw n; return n; }
NOINLINE int lazy(int n)
{
	static const int value = attempt(n);	/* a throw leaves it to the next call */
	static const std::string text = value > 1 ? std::string(40, 'x') : throw "never";

	return value + static_cast<int>(text.size());
}

NOINLINE void function_try(int n)
try {
	Guard g("~body");
	attempt(n);
	mark("done");
} catch (int x) {
	mark_number("function", x);
	if (x == 1)
		throw std::to_string(x);
}

void statics()
{
	for (int i = 0; i < 4; i++)
		try {
			mark_number("value", lazy(i));
		} catch (int n) {
			mark_number("not yet", n);
		}
	expect("static of a function", "not yet0 not yet1 value42 value42");
	for (int i = 0; i < 3; i++)
		try { function_try(i); } catch (std::string &s) { mark(s.c_str()); }
	expect("function try block", "~body function0 ~body function1 1 done ~body");
}

int before_main()
{
	try {
		Guard g("~before");
		attempt(opaque(1));
	} catch (int n) {
		mark_number("main", n);
	}
	return static_cast<int>(trail_n);
}
const int early = before_main();

struct AtExit {
	~AtExit()
	{
		try {
			Guard g("~exit");
			attempt(opaque(0));
		} catch (int n) {
			mark_number("left", n);
		}
		expect("destructor of a static", "~exit left0");
		(void)fflush(stdout);
	}
} at_exit;

NOINLINE void many(int n)	/* one landing pad per object and way out */
{
	Guard a("1");
	attempt(n == 1 ? 0 : 9);
	auto p = std::make_unique<Guard>("2");
	attempt(n == 2 ? 0 : 9);
	{
		std::string s(50, 'y');
		Guard b("3");
		attempt(n == 3 ? 0 : 9);
		if (n == 4)
			return;
		for (int i = 0; i < 3; i++) {
			Guard c("4");
			if (i == n - 5)
				continue;
			if (i == n - 6)
				break;
			attempt(n == 7 && i == 0 ? 0 : 9);
		}
	}
	Guard d("5");
	attempt(n == 8 ? 0 : 9);
}

void ways_out()
{
	for (int n = 1; n < 10; n++) {
		try { many(opaque(n)); } catch (int) { mark("!"); }
		mark("|");
	}
	expect("ways out", "1 ! | 2 1 ! | 3 2 1 ! | 3 2 1 | 4 4 4 3 5 2 1 | 4 3 5 2 1 | "
	       "4 3 2 1 ! | 4 4 4 3 5 2 1 ! | 4 4 4 3 5 2 1 |");
}

}

int main()
{
	claim("initialised before main", early > 0);
	expect("before main", "~before main1");
	arrays();
	parts();
	bombs();
	statics();
	ways_out();
	return trail_end();
}
