/* strawman.c - a loop over so many bytes of code, which does nothing that needs data
 *
 *	strawman KIB TURNS	KIB of additions, run TURNS times 64 MiB of them in all; KIB
 *                                0: one tight loop
 *
 * With the size of the second-level cache it fills it without a miss of its own, so that
 * whatever an interrupt brings there displaces some of it; with twice that it misses all the
 * time by itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t turn_bytes = 64 << 20;

static const uint8_t add[] = { 0x48, 0x83, 0xc0, 0x01 };	/* add $1, %rax */

static uint64_t tight(unsigned long turns)
{
	uint64_t n = 0;

	for (uint64_t i = turns * (turn_bytes / sizeof(add)); i; i--)
		__asm__ volatile("add $1, %0" : "+r"(n));
	return n;
}

/* The code as a function of no arguments; NULL when there is no memory. */
static uint8_t *make_code(size_t bytes)
{
	uint8_t *p = mmap(NULL, bytes + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	for (size_t i = 0; i < bytes; i += sizeof(add))
		memcpy(p + i, add, sizeof(add));
	p[bytes] = 0xc3;			/* ret */
	return mprotect(p, bytes + 64, PROT_READ | PROT_EXEC) < 0 ? NULL : p;
}

int main(int argc, char **argv)
{
	uint64_t (*code)(void);
	uint64_t sum = 0;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: strawman KIB TURNS\n");
		return 2;
	}
	size_t bytes = strtoul(argv[1], NULL, 10) << 10;
	unsigned long turns = strtoul(argv[2], NULL, 10);
	if (!bytes) {
		printf("%llu\n", (unsigned long long)tight(turns));
		return 0;
	}
	uint8_t *p = make_code(bytes);
	if (!p) {
		perror("strawman");
		return 1;
	}
	memcpy(&code, &p, sizeof(code));
	for (size_t i = turns * (turn_bytes / bytes); i; i--)
		sum += code();
	printf("%llu\n", (unsigned long long)(sum != 0));
	return 0;
}
