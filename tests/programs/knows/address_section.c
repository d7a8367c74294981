/* address_section.c - functions that are known by their section: pointers and return addresses
 * between __start_ and __stop_ */
#include <stdio.h>

#define TRUSTED __attribute__((section("trusted_code"), noinline, noclone))
#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN const char __start_trusted_code[], __stop_trusted_code[];

__attribute__((noinline, noclone)) int is_trusted(void)
{
	const char *from = __builtin_return_address(0);

	return from >= __start_trusted_code && from < __stop_trusted_code;
}

TRUSTED int trusted(int x) { return is_trusted() + x; }
TRUSTED int also(int x) { return is_trusted() + 2 * x; }
__attribute__((noinline, noclone)) int other(int x) { return is_trusted() + 3 * x; }

int (*volatile all[])(int) = { trusted, also, other };

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000; i++)
		sum += all[i % 3](1);
	printf("%d\n", sum);
	for (int i = 0; i < 3; i++)
		printf("%d\n", (const char *)all[i] >= __start_trusted_code &&
				       (const char *)all[i] < __stop_trusted_code);
	return 0;
}
