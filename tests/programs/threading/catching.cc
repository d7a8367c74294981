/* catching.cc - an interpreter that keeps labels, with handlers of exceptions and a switch in it
 *
 * Prints what it computed.  `catching where` prints in which text it runs, as interpreters.c.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

extern const char etext[];

static const char *text;

__attribute__((noinline)) static long note(long x)
{
	text = (const char *)__builtin_return_address(0) > etext ? "new" : "original";
	return x;
}

__attribute__((noinline)) static long quotient(long x, long y)
{
	if (y == 0)
		throw std::runtime_error("zero");
	if (y < 0)
		throw y;
	return x / y;
}

enum { ADD, DIVIDE, CHOOSE, NOTE, HALT };

__attribute__((noinline)) static long run(const signed char *p, long x)
{
	static const void *const op[] = { &&add, &&divide, &&choose, &&note, &&halt };

	goto *op[(int)*p++];
add:	x += *p++;
	goto *op[(int)*p++];
divide:	try {
		x = quotient(x, *p++);
	} catch (const std::exception &e) {
		x = e.what()[0] * x;
	} catch (long y) {
		x ^= y;
	}
	goto *op[(int)*p++];
choose:	switch (x & 7) {
	case 0: x = x * 5 + 1; break;
	case 1: x ^= 0x1234; break;
	case 2: x = note(x) - 3; break;
	case 3: x = -x; break;
	case 4: std::printf("four %ld\n", x); break;
	case 5: x += p[0]; break;
	case 6: x = x * 3 % 1000; break;
	}
	goto *op[(int)*p++];
note:	x = note(x);
	goto *op[(int)*p++];
halt:	return x;
}

int main(int argc, char **)
{
	static const signed char code[] = { ADD, 40, CHOOSE, DIVIDE, 0, CHOOSE, ADD, 5, DIVIDE, -3,
					    CHOOSE, NOTE, DIVIDE, 2, CHOOSE, ADD, 2, CHOOSE, HALT };
	const signed char *volatile first = code;	/* else a label is in an instruction */

	for (long x = 0; x < 40; x++) {
		long y = run(first, x * 7 - 50);

		if (argc == 1)
			std::printf("%ld\n", y);
	}
	if (argc > 1)
		std::printf("label %s\n", text);
}
