/* slow_if_changed.c - a program that is slower when its file is not the one that was built
 *
 *   slow_if_changed SIZE WORK [faster]	works for about WORK ms; four times as long in its own
 *			code when its file does not have SIZE bytes, whatever the reason; or,
 *			faster, when it does
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is kept of a program takes 5 % of its text: one of a few hundred bytes has no room
 * for a profile. */
__asm__(".text\n.skip 32768, 0x90");

static uint64_t turn(uint64_t x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		x = x % 3 ? x * 6364136223846793005u + i : (x >> 7) + 1442695040888963407u;
	return x;
}

int main(int argc, char **argv)
{
	static char page[65536];
	struct stat st;
	uint64_t x = 1;

	if (argc < 3 || stat("/proc/self/exe", &st) < 0)
		return 2;
	unsigned long size = strtoul(argv[1], NULL, 10), ms = strtoul(argv[2], NULL, 10);
	unsigned times = ((unsigned long)st.st_size == size) == (argc == 3) ? 1 : 4;
	int zero = open("/dev/zero", O_RDONLY);
	if (zero < 0)
		return 1;
	for (unsigned long i = 0; i < ms; i++) {
		for (int k = 0; k < 500; k++)		/* the kernel's share of the work */
			if (read(zero, page, sizeof(page)) != sizeof(page))
				return 1;
		x = turn(x, times * 1000000);
	}
	printf("%llu\n", (unsigned long long)(x & 1));
	close(zero);
	return 0;
}
