/* tried.c - has something to do for a while, and tells what it is, as try.sh wants it
 *
 *	tried [size|exit|file|time|errors] [...]
 *
 * Prints a sum, and besides: the size of its own file; ends with a code by that; writes it to
 * `file`; prints the time, or does so on standard error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ROUNDS = 12000000 };	/* some ticks of the slowest clock, also where it is fast */

static __attribute__((noinline)) uint64_t rare(uint64_t x)
{
	return x % 3 ? x * 7 : x / 5;
}

static __attribute__((noinline)) uint64_t often(uint64_t x)
{
	if (x % 1024 == 1)
		x = rare(x);
	if (x & 2)
		x = x * UINT64_C(6364136223846793005) + 1;
	else
		x = (x << 7 ^ x >> 3) + 12345;
	return x;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	uint64_t x = 1, sum = 0;
	struct stat st = { 0 };
	struct timespec now;

	for (int i = 0; i < ROUNDS; i++) {
		x = often(x);
		sum += x & 15;
	}
	(void)stat("/proc/self/exe", &st);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	printf("%llu\n", (unsigned long long)sum);
	if (strcmp(mode, "size") == 0)
		printf("%lld\n", (long long)st.st_size);
	if (strcmp(mode, "time") == 0)
		printf("%ld\n", now.tv_nsec);
	if (strcmp(mode, "errors") == 0)
		(void)fprintf(stderr, "%ld\n", now.tv_nsec);
	if (strcmp(mode, "file") == 0) {
		FILE *f = fopen("file", "w");

		if (!f || fprintf(f, "%lld\n", (long long)st.st_size) < 0 || fclose(f) != 0)
			return 1;
	}
	return strcmp(mode, "exit") == 0 && argc > 2 ? st.st_size != atoll(argv[2]) : 0;
}
