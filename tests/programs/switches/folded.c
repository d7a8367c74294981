/* folded.c - a switch without `default`: gcc takes the lowest case into the operand,
 * TABLE-24(,%rdx,8), and what stands at TABLE-24 is of foldedfirst.c */
#include <stdio.h>

extern volatile int sink;
extern const struct {
	int (*run)(long, long, unsigned long, int (**)(int)), (*back)(int);
	long limit;
} operations;

enum kind { NUMBER = 3, NAME, PLUS, MINUS, OPEN, CLOSE };

int run(long a, long b, unsigned long kind, int (**other)(int))
{
	if (other)
		return other[a](sink);
	if (a < b) {
		sink = 1;
		return 77;
	}
	switch (kind) {
	case NUMBER: sink = 2; return a == b ? 1 : 2;
	case NAME: if (a == b) { sink = 9; return 11; } sink = 5; return 15;
	case PLUS: if (a == b) { sink = 19; return 21; } return 10;
	case MINUS: return a == b ? 31 : 30;
	case OPEN: sink = 77; return a == b ? 5 : 8;
	case CLOSE: return a == b ? sink : 8;
	}
	__builtin_unreachable();
}

int main(void)
{
	unsigned long s = 0;

	for (int i = 0; i < 6000; i++)
		s = s * 3 + (unsigned long)operations.back(i) +
		    (unsigned long)operations.run(i % 7, i % 5,
						  NUMBER + (unsigned long)i % 6, 0);
	printf("%lu %ld\n", s, operations.limit);
	return 0;
}
