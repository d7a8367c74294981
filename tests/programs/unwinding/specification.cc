/* specification.cc - dynamic exception specifications: filters in the exception tables (C++14) */
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "trail.h"

namespace {

NOINLINE void thrower(int kind)
{
	Guard g("~thrower");
	switch (kind) {
	case 0: throw 1;
	case 1: throw std::runtime_error("error");
	case 2: throw std::string("string");
	default: return;
	}
}

NOINLINE void only_int(int kind) throw(int) { Guard g("~int"); thrower(kind); }
NOINLINE void two_kinds(int kind) throw(std::exception, const char *) { Guard g("~two"); thrower(kind); }
NOINLINE void bad_too(int kind) throw(std::bad_exception) { Guard g("~bad"); thrower(kind); }
NOINLINE void inside(int kind) throw(int, std::string)
{
	try {
		Guard g("~inside");
		two_kinds(kind);
	} catch (std::runtime_error &e) {
		mark(e.what());
	}
}

NOINLINE void turn_to_int() { mark("unexpected"); throw 7; }
NOINLINE void turn_to_bad() { mark("unexpected"); throw; }

template <class F> NOINLINE void try_it(F f, int kind)
{
	try {
		f(kind);
		mark("fine");
	} catch (int n) { mark_number("int", n);
	} catch (std::bad_exception &) { mark("bad_exception");
	} catch (std::exception &e) { mark(e.what());
	} catch (std::string &s) { mark(s.c_str());
	}
}

}

int main()
{
	std::set_unexpected(turn_to_int);
	try_it(only_int, 0);
	expect("allowed", "~thrower ~int int1");
	try_it(only_int, 1);
	expect("not allowed", "~thrower ~int unexpected int7");
	try_it(only_int, 3);
	expect("nothing thrown", "~thrower ~int fine");
	try_it(two_kinds, 1);
	expect("base allowed", "~thrower ~two error");
	std::set_unexpected(turn_to_bad);
	try_it(bad_too, 2);
	expect("turned to bad_exception", "~thrower ~bad unexpected bad_exception");
	try_it(inside, 1);
	expect("caught inside", "~thrower ~two ~inside error fine");
	return trail_end();
}
