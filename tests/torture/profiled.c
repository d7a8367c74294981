/* profiled.c - a profile that nobody ever sampled
 *
 *	profiled TABLE SEED
 *
 * Prints a profile of the file that TABLE (`morph-edit analyze --table`) is about, the same for
 * the same seed: a part of its functions ran, of these a part of their blocks, some a thousand
 * times as often as others.  Nothing in it agrees with any flow of control: so a generation
 * made from it has hot pieces and fluff, moved functions and such that stay, wherever chance
 * and the passes want them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/blocktable.h"
#include "lib/err.h"
#include "lib/io.h"

enum { MAX_TABLE = 1 << 30 };

/* Steele, Lea and Flood 2014 (SplitMix64). */
static uint64_t chance(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void print_profile(const struct blocktable *t, uint64_t seed)
{
	uint64_t state = seed;
	uint64_t every_fn = 1 + chance(&state) % 8, every_block = 1 + chance(&state) % 8;
	bool *ran = calloc(t->nfn + 1, sizeof(*ran));
	char hex[65];

	if (!ran)
		abort();
	for (uint32_t i = 0; i < t->nfn; i++)
		ran[i] = chance(&state) % every_fn == 0;
	digest_hex(&t->original, hex);
	printf("morph-profile 2\nmodule random\nsha256 %s\nclock tick\noutside 0\n", hex);
	for (uint32_t i = 0; i < t->nblock; i++) {
		const struct blocktable_block *b = &t->block[i];

		if (ran[b->fn] && chance(&state) % every_block == 0)
			printf("block 0x%" PRIx64 " %" PRIu64 "\n", t->base + b->off,
			       1 + (chance(&state) % 1000 >> chance(&state) % 10));
	}
	free(ran);
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct blocktable table;
	struct bytes b;
	struct err err;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: profiled TABLE SEED\n");
		return 2;
	}
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_all(fd, MAX_TABLE, a, &b, &err) < 0 ||
	    blocktable_read(b, &table, &err) < 0) {
		(void)fprintf(stderr, "profiled: '%s': %s\n", argv[1],
			      fd < 0 ? "cannot be opened" : err.text);
		return 1;
	}
	close(fd);
	print_profile(&table, strtoull(argv[2], NULL, 10));
	blocktable_free(&table);
	arena_free(a);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
