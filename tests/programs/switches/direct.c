/* Direct threading: labels are stored, most from an array, one from where code forms it; beside
 * it a switch whose lowest case is not 0 and which has all there are (openswitch.sh). */
#include <stdio.h>

volatile int sink;

struct step {
	const void *to;
	long value;
};

enum kind { NUMBER = 3, NAME, PLUS, MINUS, OPEN, CLOSE };

static long classify(enum kind kind, long r)
{
	switch (kind) {
	case NUMBER: return r + 3;
	case NAME: sink = 3; return r ^ 4;
	case PLUS: sink++; return r - 5;
	case MINUS: return r * 3;
	case OPEN: sink--; return r + 15;
	case CLOSE: return r | 1;
	}
	__builtin_unreachable();
}

__attribute__((noinline, noclone)) static long run(const unsigned char *text, int n, long a)
{
	static const void *const label[] = { &&add, &&mix, &&kind, &&again, &&stop };
	struct step steps[16], *at = steps;
	long r = 1, left = 5;

	for (int i = 0; i < n; i++)
		steps[i] = (struct step){ label[text[i]], i + a };
	steps[n].to = &&stop;
#define NEXT goto *(at++)->to
	NEXT;
add:
	r += at[-1].value;
	NEXT;
mix:
	r = r * 3 - at[-1].value;
	sink = (int)r;
	NEXT;
kind:
	r = classify(NUMBER + at[-1].value % 6, r);
	NEXT;
again:
	if (left-- > 0) {
		at = steps;
		r ^= left;
	}
	NEXT;
stop:
	return r;
}

int main(void)
{
	static const unsigned char text[] = { 0, 1, 2, 0, 2, 1, 3, 1, 2, 3, 0, 2 };
	unsigned long sum = 0;

	for (long i = 0; i < 3000; i++)
		sum = sum * 3 + (unsigned long)run(text + i % 5, 6, i % 9);
	printf("%lu %d\n", sum, sink);
	return 0;
}
