/* uses.cc - a program whose exceptions and frames are a library's: throw.cc as a shared object */
#include <stdexcept>

#include "trail.h"

extern "C" int library_main();
extern "C" void library_call(void (*f)(int), int n);

static void back(int n)
{
	Guard g("~program");
	if (n > 1)
		library_call(back, n - 1);
	throw n;
}

int main()
{
	try {
		library_call(back, opaque(3));
	} catch (int n) {
		mark_number("caught", n);
	}
	expect("the program's part", "~program ~program ~program caught1");
	return library_main() | trail_end();
}
