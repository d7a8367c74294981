/* main.c - morph-verify: is this file a generation of that original, and the same program?
 *
 * One confined job (lib/confinedjob.h): two files, or descriptors as "fd:N", go in, one line
 * comes out.  Of a counting generation there is a second one, "counters OFFSET BYTES": where
 * its counters are, from its first byte in memory.  Of one for running processes there are
 * more (live/plan.h); of one that counts in them, these alone.  Nothing of what makes
 * generations is linked in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/usage.h"
#include "verify/verify.h"

static const char usage[] = "[--counting] [--live] ORIGINAL GENERATION";

typedef int verify_fn(struct bytes original, struct bytes generation, struct arena *a,
		      struct verify_stats *stats, struct err *err);

static void print_places(const struct verify_stats *s)
{
	printf("text %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", s->text.addr,
	       s->text.size, s->text.offset, s->text_offset);
	for (uint32_t i = 0; i < s->nfresh; i++)
		printf("new %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", s->fresh[i].addr,
		       s->fresh[i].size, s->fresh[i].counters ? 0 : s->fresh[i].offset,
		       s->fresh[i].counters ? "rw" : s->fresh[i].exec ? "rx" : "r");
}

struct wanted {
	bool counting, live;
};

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	const struct wanted *wanted = ctx;
	struct verify_stats stats = { 0 };
	char hex[65];
	verify_fn *verify = wanted->live ? wanted->counting ? verify_live_counting_generation :
							      verify_live_generation :
			    wanted->counting ? verify_counting_generation : verify_generation;

	if (verify(job->in[0].bytes, job->in[1].bytes, job->arena, &stats, err) < 0)
		return confinedjob_wrap(job, 1, err);
	digest_hex(&stats.original, hex);
	printf("generation %u of %s: the same program (%u blocks, %u instructions, %u entries, "
	       "%u tables, %u unwind rows)\n", stats.generation, hex, stats.blocks,
	       stats.instructions, stats.entries, stats.tables, stats.unwind_rows);
	if (wanted->live)
		print_places(&stats);
	else if (wanted->counting)
		printf("counters %" PRIu64 " %" PRIu64 "\n", stats.counters,
		       stats.counters_size);
	return 0;
}

static int help(void)
{
	printf("usage: morph-verify %s\n\n"
	       "Shows, block by block, that GENERATION is the program ORIGINAL in another "
	       "order.\nFiles may be given as fd:N, an inherited descriptor.\n"
	       "  --counting   GENERATION counts besides, in memory of its own\n"
	       "  --live       it may take ORIGINAL's place in a process that runs; says "
	       "where;\n               with --counting, one that counts in it\n\n"
	       "Exit codes: 0 shown, 1 failed, 2 wrong usage, 3 not shown (the first doubt is "
	       "on standard error)\n", usage);
	return 0;
}

int main(int argc, char **argv)
{
	io_hold_standard();
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return help();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)puts("morph-verify " MORPH_VERSION);
		return 0;
	}
	struct wanted wanted = { 0 };

	if (!usage_check("morph-verify", usage, "[--help] [--version]", &argc, argv)) {
		(void)fprintf(stderr, "usage: morph-verify %s\n", usage);
		return 2;
	}

	for (; argc > 1; argv++, argc--) {
		bool counting = strcmp(argv[1], "--counting") == 0;

		if (!counting && strcmp(argv[1], "--live") != 0)
			break;
		*(counting ? &wanted.counting : &wanted.live) = true;
	}
	if (argc == 4 && strcmp(argv[1], "--") == 0)
		argv++, argc--;
	if (argc != 3 || (argv[1][0] == '-' && argv[1][1]) || argv[2][0] == '-') {
		(void)fprintf(stderr, "usage: morph-verify %s\n", usage);
		return 2;
	}
	struct confinedjob job = {
		.in = { { .arg = argv[1] }, { .arg = argv[2] } }, .nin = 2, .work = work,
		.ctx = &wanted,
	};
	return confinedjob_run(&job);
}
