/* Jumps to labels by their distance from another one, one of them behind the function's first
 * instruction (openswitch.sh). */
#include <stdio.h>

volatile int sink;

__attribute__((noinline, noclone)) static long run(long a, long b, const unsigned char *p)
{
	static const int apart[] = { &&add - &&done, &&mix - &&done, &&done - &&done };
	unsigned long r = 0;

add:
	r = r * 3 + (unsigned long)a;
	sink = 1;
	goto *(&&done + apart[*p++]);
mix:
	r ^= (unsigned long)b;
	sink = 2;
	goto *(&&done + apart[*p++]);
done:
	return (long)r;
}

int main(void)
{
	static const unsigned char text[] = { 0, 1, 1, 0, 1, 0, 0, 2 };
	unsigned long sum = 0;

	for (long i = 0; i < 5000; i++)
		sum = sum * 3 + (unsigned long)run(i % 7, i % 5, text + i % 7);
	printf("%lu\n", sum);
	return 0;
}
