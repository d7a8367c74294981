/* coroutines.cc - exceptions in, through and out of coroutines (C++20) */
#include <coroutine>
#include <exception>
#include <string>
#include <utility>

#include "trail.h"

namespace {

struct Numbers {
	struct promise_type {
		int value = 0;
		std::exception_ptr error;

		Numbers get_return_object() { return Numbers{ Handle::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() { error = std::current_exception(); }
	};
	using Handle = std::coroutine_handle<promise_type>;

	Handle h;
	explicit Numbers(Handle x) : h(x) {}
	Numbers(Numbers &&o) : h(std::exchange(o.h, {})) {}
	~Numbers() { if (h) h.destroy(); }
	bool next()
	{
		h.resume();
		if (h.promise().error)
			std::rethrow_exception(h.promise().error);
		return !h.done();
	}
};

struct Direct {			/* an exception leaves resume() at once */
	struct promise_type {
		Direct get_return_object() { return Direct{ Handle::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { throw; }
	};
	using Handle = std::coroutine_handle<promise_type>;

	Handle h;
	bool left = false;	/* by an exception: compilers disagree about what is left to destroy */
	explicit Direct(Handle x) : h(x) {}
	Direct(Direct &&o) : h(std::exchange(o.h, {})), left(o.left) {}	/* by clang before 15 */
	~Direct() { if (h && !left) h.destroy(); }
};

struct Fails {			/* an awaiter that throws when it is resumed */
	int n;
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<>) {}
	int await_resume() { if (n) throw n; return 9; }
};

Numbers count(int stop)
{
	Guard g("~count");
	std::string s(40, 'c');

	for (int i = 0;; i++) {
		Guard h("~turn");
		if (i == stop)
			throw i;
		try {
			co_yield i;
			if (i == 1)
				throw std::string("inside");
		} catch (std::string &t) {
			mark(t.c_str());
		}
	}
}

Numbers twice(int stop)
{
	Numbers inner = count(stop);
	Guard g("~twice");

	while (inner.next())
		co_yield inner.h.promise().value * 2;
}

Direct awaits(int n)
{
	Guard g("~awaits");
	try {
		mark_number("got", co_await Fails{ n });
		mark_number("got", co_await Fails{ 0 });
	} catch (int x) {
		mark_number("caught", x);
		throw std::to_string(x);
	}
}

}

int main()
{
	try {
		Numbers n = twice(opaque(3));
		while (n.next())
			mark_number("", n.h.promise().value);
	} catch (int x) {
		mark_number("caught", x);
	}
	expect("generator", "0 ~turn 2 inside ~turn 4 ~turn ~turn ~count ~twice caught3");
	{
		Numbers n = twice(opaque(9));
		(void)n.next();
		(void)n.next();
	}
	expect("destroyed while it waits", "~turn ~twice ~turn ~count");
	for (int i = 0; i < 2; i++) {
		Direct d = awaits(opaque(i * 4));
		try {
			while (!d.h.done())
				d.h.resume();
		} catch (std::string &s) {
			d.left = true;
			mark(s.c_str());
		}
	}
	expect("awaiting", "got9 got9 ~awaits caught4 ~awaits 4");
	return trail_end();
}
