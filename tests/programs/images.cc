/* images.cc - a program for images.sh: exceptions through frames of several kinds, thread-local
 * storage, a function chosen when the program is loaded, a switch, calls by pointer, constructors in
 * their order, and what the loader knows of where the program runs
 *
 * What it prints depends on its arguments only.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <link.h>

static thread_local int depth = 1;
static int made;

struct counted {
	explicit counted(int n) : n(n) { depth += n; }
	~counted() { depth -= n; }
	int n;
};

__attribute__((constructor(200))) static void make(void)
{
	made = 7;
}

__attribute__((constructor(300))) static void make_more(void)
{
	made = made * 10 + 3;
}

/* Code that runs lies in a segment that may run, of the program itself. */
static int covers(struct dl_phdr_info *info, size_t, void *pc)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) &ph = info->dlpi_phdr[i];

		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    (ElfW(Addr))pc - info->dlpi_addr - ph.p_vaddr < ph.p_memsz)
			return *info->dlpi_name ? 1 : 2;
	}
	return 0;
}

__attribute__((noinline)) static int known_place(int x)
{
	void *pc = __builtin_return_address(0);
	Dl_info info;

	return x + dl_iterate_phdr(covers, pc) + 4 * (dladdr(pc, &info) != 0 && info.dli_fbase);
}

extern "C" {
static int plain(int x) { return x + 3; }
static int other(int x) { return x ^ 5; }
static int (*choose(void))(int) { return getenv("HOME") == (char *)1 ? other : plain; }
}
#ifndef NO_IFUNC
extern "C" int chosen(int x) __attribute__((ifunc("choose_it")));
extern "C" int (*choose_it(void))(int) { return plain; }
#else
extern "C" int chosen(int x) { return choose()(x); }
#endif

__attribute__((noinline)) static int turn(int op, int x)
{
	switch (op) {
	case 0: return x + 1;
	case 1: return x * 3;
	case 2: return x ^ 0x55;
	case 3: return x << 2;
	case 4: return x - 7;
	case 5: return chosen(x);
	case 6: throw std::runtime_error("turn " + std::to_string(depth));
	default: return ~x;
	}
}

__attribute__((noinline)) static int deeper(int n, int x)
{
	counted c(n);

	return n == 0 ? turn(x % 8, x) : deeper(n - 1, x + n);
}

static int compare(const void *a, const void *b)
{
	return turn(*(const char *)a % 5, 1) - turn(*(const char *)b % 5, 1);
}

static int work(int seed)
{
	int sum = made;

	for (int i = 0; i < 40; i++) {
		try {
			sum = sum * 31 + deeper(i % 5, i + seed);
		} catch (const std::exception &e) {
			sum += (int)strlen(e.what()) + depth;
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	char letters[] = "reoptimisation";
	int (*volatile by_pointer)(int) = argc > 5 ? other : plain;
	int there = 0;

	(void)argv;
	qsort(letters, sizeof(letters) - 1, 1, compare);
	std::thread t([&] { there = work(3); });
	t.join();
	printf("%s %d %d %d %d\n", letters, work(argc), there, by_pointer(argc), choose()(argc));
	printf("%d\n", known_place(argc));
	return depth;
}
