/* terminate.cc - where the language ends the program: each in a child, whose end is told */
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include "trail.h"

namespace {

NOINLINE void thrower(int n) { Guard g("~thrower"); if (n) throw n; }

NOINLINE void promised(int n) noexcept { Guard g("~promised"); thrower(n); }
NOINLINE void indirectly(int n) { Guard g("~indirectly"); promised(n); }

struct ThrowsAtEnd { ~ThrowsAtEnd() { thrower(opaque(3)); } };
struct MayThrow { ~MayThrow() noexcept(false) { thrower(opaque(4)); } };

struct CopyThrows {
	CopyThrows() {}
	CopyThrows(const CopyThrows &) { thrower(opaque(5)); }
};

void uncaught() { Guard g("~never certain"); thrower(opaque(1)); }
void broken_promise() { try { indirectly(opaque(2)); } catch (...) { mark("never"); } }
void kept_promise() { indirectly(opaque(0)); }
void destructor() { try { ThrowsAtEnd t; } catch (...) { mark("never"); } }
void second() { try { MayThrow m; thrower(1); } catch (...) { mark("never"); } }
void nothing_to_rethrow() { try { throw; } catch (...) { mark("never"); } }
void wrong_type() { try { thrower(opaque(1)); } catch (std::exception &) { mark("never"); } }
void handled() { try { thrower(opaque(1)); } catch (int) { mark("handled"); } }
void joinable() { std::thread t([] {}); }
void in_thread() { std::thread t([] { thrower(opaque(1)); }); t.join(); }
void copy() { try { CopyThrows c; throw c; } catch (int n) { mark_number("copy", n); } }
void from_handler() { try { thrower(1); } catch (...) { Guard g("~handler"); promised(opaque(6)); } }
void with_text() { throw std::runtime_error("the reason"); }
void rethrown_late()
{
	std::exception_ptr p;
	try { thrower(8); } catch (...) { p = std::current_exception(); }
	[&]() noexcept { std::rethrow_exception(p); }();
}
void foreign()
{
	static _Unwind_Exception e;
	memcpy(&e.exception_class, "TESTMRPH", 8);
	[]() noexcept { Guard g("~foreign"); (void)_Unwind_RaiseException(&e); }();
}

void told()
{
	(void)!write(1, "terminate:", 10);
	if (std::exception_ptr p = std::current_exception())
		try {
			std::rethrow_exception(p);
		} catch (int n) {
			char c[] = { ' ', static_cast<char>('0' + n) };
			(void)!write(1, c, 2);
		} catch (...) {
			(void)!write(1, " other", 6);
		}
	(void)!write(1, "\n", 1);
	_exit(42);
}

/* How a child that runs `f` ends: 0 as it should, 42 by the terminate handler, 1000 + signal. */
int run(void (*f)(), bool handler)
{
	(void)fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit none = { 0, 0 };

		(void)setrlimit(RLIMIT_CORE, &none);
		if (handler)
			std::set_terminate(told);
		f();
		printf("child: %s\n", trail);
		(void)fflush(stdout);
		_exit(0);
	}
	int status = 0;
	(void)waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

const struct {
	const char *name;
	void (*f)();
	bool ends;
} cases[] = {
	{ "uncaught", uncaught, true }, { "broken promise", broken_promise, true },
	{ "kept promise", kept_promise, false }, { "destructor", destructor, true },
	{ "second exception", second, true }, { "nothing to rethrow", nothing_to_rethrow, true },
	{ "wrong type", wrong_type, true }, { "handled", handled, false },
	{ "joinable thread", joinable, true }, { "in a thread", in_thread, true },
	{ "copy throws", copy, false }, { "from a handler", from_handler, true },
	{ "with text", with_text, true }, { "rethrown late", rethrown_late, true },
	{ "foreign", foreign, true },
};

}

int main()
{
	for (const auto &c : cases) {
		int with = run(c.f, true), without = run(c.f, false);

		printf("%s: %d %d\n", c.name, with, without);
		claim(c.name, c.ends ? with == 42 && without == 1006 : with == 0 && without == 0);
	}
	return trail_end();
}
