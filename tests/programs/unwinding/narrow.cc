/* narrow.cc - a language whose personality routine reads what its own compiler writes, and no more
 *
 * The routine ends the program at an exception table that says where landing pads count from, as
 * those of D by LDC and of Crystal do, and leaves the rest to C++'s.  With -DFROM_START it takes
 * tables that count them from the function, as Rust's does.  unwinding.sh renames C++'s routine to it (-DROUTINE=NAME) in the object that throw_deep() is in (-DTHROWS), which is linked
 * with the other.
 */
#include <unwind.h>

#ifdef THROWS
#include <cstdio>
#include <stdexcept>

struct guard {
	int n;
	~guard() { std::printf("gone %d\n", n); }
};

extern "C" __attribute__((noinline)) int throw_deep(int n)
{
	guard g{ n };

	if (n == 0)
		throw std::runtime_error("deep");
	try {
		return throw_deep(n - 1) + 1;
	} catch (std::logic_error &) {
		return -1;
	}
}

extern "C" int caught(int n)
{
	try {
		return throw_deep(n);
	} catch (std::exception &e) {
		std::printf("%s\n", e.what());
		return n * 2;
	}
}
#else
#include <cstdio>
#include <cstdlib>

extern "C" _Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class,
						    struct _Unwind_Exception *,
						    struct _Unwind_Context *);
extern "C" int caught(int n);

extern "C" __attribute__((visibility("default"))) _Unwind_Reason_Code
ROUTINE(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
		   struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	const unsigned char *lsda =
		(const unsigned char *)_Unwind_GetLanguageSpecificData(context);

#ifdef FROM_START
	/* by which it may be known that a routine without a name is Rust's */
	static volatile unsigned long long of_rust = 0x4d4f5a0052555354;
	const int counts_from_function = of_rust ? 0x4b : 0xff;
#else
	const int counts_from_function = 0xff;
#endif

	if (lsda && lsda[0] != 0xff && lsda[0] != counts_from_function) {
		std::printf("BAD: landing pads count from elsewhere\n");
		std::fflush(stdout);
		std::abort();
	}
	return __gxx_personality_v0(version, actions, kind, exception, context);
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += caught(i);
	std::printf("%d\n", sum);
	return sum == 20 ? 0 : 1;
}
#endif
