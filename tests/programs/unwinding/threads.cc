/* threads.cc - exceptions between threads, cancellation through C++ frames, destructors of threads */
#include <exception>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "trail.h"

namespace {

sem_t ready;
int fd[2];

struct Local {
	const char *name;
	explicit Local(const char *n) : name(n) { mark("+"); }
	~Local() { mark(name); }
};

thread_local Local first("first");
thread_local std::string text(60, 't');

NOINLINE int attempt(int n) { if (n) throw n; return 0; }
struct Late {
	int n;
	Late() : n(attempt(opaque(8))) {}
};

NOINLINE void use_locals()
{
	thread_local Local second("second");
	mark(first.name == second.name ? "same" : "two");
	mark_number("size", static_cast<long>(text.size()));
}

void late_local()
{
	thread_local Late late;		/* throws whenever it is first used */
	mark_number("never", late.n);
}

void locals()
{
	std::thread([] {
		Guard g("~body");
		use_locals();
		try { late_local(); } catch (int n) { mark_number("late", n); }
		try { late_local(); } catch (int n) { mark_number("late", n); }
	}).join();
	expect("thread_local", "+ + two size60 late8 late8 ~body first second");
}

NOINLINE void sleeper(int depth)
{
	Guard g(depth % 2 ? "odd" : "even");
	if (depth) {
		sleeper(depth - 1);
		return;
	}
	char c;
	(void)sem_post(&ready);
	(void)!read(fd[0], &c, 1);
}

NOINLINE void catches_all()
{
	try {
		sleeper(opaque(3));
	} catch (abi::__forced_unwind &) {
		mark("forced");
		throw;
	} catch (...) {
		mark("never");
		throw;
	}
}

void *cancelled(void *)
{
	Guard g("~thread");
	try {
		catches_all();
	} catch (int) {
		mark("never");
	}
	return nullptr;
}

void cancellation()
{
	pthread_t t;
	void *result = nullptr;

	(void)pthread_create(&t, nullptr, cancelled, nullptr);
	(void)sem_wait(&ready);
	(void)pthread_cancel(t);
	(void)pthread_join(t, &result);
	mark(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	expect("cancel", "even odd even odd forced ~thread cancelled");
	(void)pthread_create(&t, nullptr, [](void *p) -> void * {
		Guard g("~lambda");
		auto leave = [&] { Guard h("~inner"); pthread_exit(p); };
		try { leave(); } catch (...) { mark("..."); throw; }
		return nullptr;
	}, const_cast<char *>("value"));
	(void)pthread_join(t, &result);
	mark(static_cast<char *>(result));
	expect("exit", "~inner ... ~lambda value");
}

void futures()
{
	auto f = std::async(std::launch::async, [] { Guard g("~async"); return attempt(opaque(5)); });
	try { f.get(); } catch (int n) { mark_number("future", n); }
	expect("async", "~async future5");

	std::promise<int> p;
	std::thread t([&] {
		try { attempt(opaque(6)); } catch (...) { p.set_exception(std::current_exception()); }
	});
	try { p.get_future().get(); } catch (int n) { mark_number("promise", n); }
	t.join();
	expect("promise", "promise6");

	std::packaged_task<int(int)> task(attempt);
	auto r = task.get_future();
	task(opaque(4));
	try { r.get(); } catch (int n) { mark_number("task", n); }
	expect("task", "task4");

	std::once_flag once;
	for (int i = 0; i < 4; i++)
		try {
			std::call_once(once, [&] { mark("try"); attempt(i < 2 ? 1 : 0); mark("done"); });
		} catch (int) {
			mark("again");
		}
	expect("call_once", "try again try again try done");
}

}

int main()
{
	if (pipe(fd) || sem_init(&ready, 0, 0))
		return 2;
	locals();
	cancellation();
	futures();
	return trail_end();
}
