/* address_xray.c - NOPs at entries and exits that XRay patches where its map says
 * (-fxray-instrument): each call is told twice, while it is patched */
#include <stdint.h>
#include <stdio.h>

#define TOLD __attribute__((xray_always_instrument, noinline))
#define UNTOLD __attribute__((xray_never_instrument))

/* As in <xray/xray_interface.h>, which is C++. */
int __xray_set_handler(void (*handler)(int32_t id, int what));
int __xray_patch(void);
int __xray_unpatch(void);

static unsigned long entries, exits;

UNTOLD static void told(int32_t id, int what)
{
	(void)id;
	entries += what == 0;
	exits += what != 0;
}

TOLD int sum_to(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i ^ n;
	return sum;
}

TOLD int either(int n)
{
	if (n & 1)
		return sum_to(n) - 1;
	return sum_to(n + 3) + 1;
}

int (*volatile called)(int) = either;

UNTOLD static void calls(void)
{
	unsigned sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += (unsigned)called(i & 63);
	printf("%u %lu %lu\n", sum, entries, exits);
}

UNTOLD int main(void)
{
	__xray_set_handler(told);
	calls();
	printf("%d\n", __xray_patch());
	calls();
	printf("%d\n", __xray_unpatch());
	calls();
	return 0;
}
