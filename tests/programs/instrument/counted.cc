// counted.cc - does things whose executions are hard to count; each mode does the same every time
//
// Work is done in threads of control that share nothing, so counts do not depend on who runs when.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" long work(int n);

namespace {

struct odd {
	int value;
};

jmp_buf back;
long sink;

__attribute__((noinline)) int add(int x) { return (x + 1) % 1000; }
__attribute__((noinline)) int twice(int x) { return (2 * x) % 999; }
__attribute__((noinline)) int flip(int x) { return (x ^ 0x55) % 998; }

int (*const table[])(int) = { add, twice, flip };

// A jump table, a loop with several ways out, calls through pointers.
__attribute__((noinline)) int step(int i)
{
	switch (i % 11) {
	case 0: return add(i);
	case 1: return i * 3;
	case 2: return twice(i) - 7;
	case 3: return i / 2;
	case 4: return i ^ 9;
	case 5: return table[i % 3](i);
	case 6: return -i;
	case 7: return i & 0xff;
	default: return 1;
	}
}

}

__attribute__((noinline)) long work(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		int v = step(i);

		do {
			sum += v;
			v -= 37;
			if (v % 5 == 4)
				break;
		} while (v > 0);
		sum += table[(sum & 3) % 3](i);
	}
	return sum;
}

namespace {

// Flags live over most of it.
__attribute__((noinline)) long carries(unsigned long *a, const unsigned long *b, long n)
{
	long i = 0;

	__asm__ volatile(
		"	clc\n"
		"1:	mov (%[b],%[i],8), %%rax\n"
		"	adc %%rax, (%[a],%[i],8)\n"
		"	lea 1(%[i]), %[i]\n"
		"	dec %[n]\n"
		"	jnz 1b\n"
		"	setc %%al\n"
		"	movzx %%al, %[n]\n"
		: [n] "+r"(n), [i] "+r"(i) : [a] "r"(a), [b] "r"(b) : "rax", "cc", "memory");
	return n;
}

// Dispatches without a frame, so that its jumps look like tail calls.
__attribute__((noinline)) long hop(const unsigned char *p)
{
	static const void *const ways[] = { &&one, &&three, &&half, &&out };
	long v = 0;

	goto *ways[*p];
one:	v += 1;
	goto *ways[*++p];
three:	v ^= 3;
	goto *ways[*++p];
half:	v /= 2;
	goto *ways[*++p];
out:	return v;
}

__attribute__((noinline)) int deep(int n, int what)
{
	if (n > 0)
		return deep(n - 1, what) + 1;
	if (what == 1)
		throw odd{ 7 };
	if (what == 2)
		longjmp(back, 1);
	if (what == 3)
		_exit(3);
	if (what == 4)
		exit(4);
	if (what == 5) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
	}
	return what;
}

struct cleaner {
	~cleaner() { sink += work(3); }
};

__attribute__((noinline)) int guarded(int i)
{
	cleaner c;

	return deep(i % 5, i % 3 == 0 ? 1 : 0);
}

__attribute__((noinline)) void throwing()
{
	for (int i = 0; i < 100; i++) {
		try {
			sink += guarded(i);
		} catch (const odd &o) {
			sink += o.value;
		}
	}
}

__attribute__((noinline)) void jumping()
{
	for (volatile int i = 0; i < 50; i++) {
		if (setjmp(back) == 0)
			sink += deep(i % 4, i % 2 ? 2 : 0);
		else
			sink += work(2);
	}
}

void *thread(void *arg)
{
	long *out = static_cast<long *>(arg);

	*out = work(static_cast<int>(*out));
	return nullptr;
}

void threads(int n)
{
	pthread_t t[4];
	long v[4];

	for (int i = 0; i < 4; i++) {
		v[i] = n + i;
		pthread_create(&t[i], nullptr, thread, &v[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], nullptr);
		sink += v[i];
	}
}

void serial(int n)
{
	for (int i = 0; i < 4; i++)
		sink += work(n + i);
}

// Children count as well; they are there one after the other, or all at once.
void forking(int n, bool at_once)
{
	int status;

	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			sink = work(n + i);
			_exit(0);
		}
		if (!at_once)
			waitpid(pid, &status, 0);
	}
	while (waitpid(-1, &status, 0) > 0)
		sink++;
}

}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	static const unsigned char hops[] = { 0, 1, 2, 0, 0, 1, 0, 2, 2, 1, 3 };
	unsigned long a[64], b[64];

	for (int i = 0; i < 64; i++) {
		a[i] = ~0UL - static_cast<unsigned long>(i % 3);
		b[i] = static_cast<unsigned long>(i);
	}
	sink = work(300) + carries(a, b, 64) + hop(hops);
	if (strcmp(mode, "throw") == 0)
		throwing();
	else if (strcmp(mode, "jump") == 0)
		jumping();
	else if (strcmp(mode, "threads") == 0)
		threads(20000);
	else if (strcmp(mode, "serial") == 0)
		serial(20000);
	else if (strcmp(mode, "fork") == 0)
		forking(20000, false);
	else if (strcmp(mode, "forks") == 0)
		forking(20000, true);
	else if (strcmp(mode, "_exit") == 0)
		sink += deep(9, 3);
	else if (strcmp(mode, "exit") == 0)
		sink += deep(9, 4);
	else if (strcmp(mode, "signal") == 0)
		sink += deep(9, 5);
	printf("%s %ld\n", mode, sink);
	return 0;
}
