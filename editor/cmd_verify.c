#include <stdio.h>

#include "editor/cmd.h"
#include "editor/editor.h"
#include "editor/job.h"
#include "lib/err.h"

static int work(struct job *job, void *ctx, struct err *err)
{
	struct verify_stats stats = { 0 };
	char hex[65];

	(void)ctx;
	if (verify_generation(job->in[0].bytes, job->in[1].bytes, job->arena, &stats, err) < 0)
		return job_wrap(job, 1, err);
	digest_hex(&stats.original, hex);
	printf("generation %u of %s: the same program (%u blocks, %u instructions, %u entries, "
	       "%u tables, %u unwind rows)\n", stats.generation, hex, stats.blocks,
	       stats.instructions, stats.entries, stats.tables, stats.unwind_rows);
	return 0;
}

int cmd_verify(int argc, char **argv)
{
	static const struct option none[] = { { 0 } };

	if (getopt_long(argc, argv, "", none, NULL) != -1 || argc - optind != 2)
		return cmd_usage("verify");
	struct job job = {
		.in = { { .arg = argv[optind] }, { .arg = argv[optind + 1] } },
		.nin = 2,
		.work = work,
	};
	return job_run(&job);
}
