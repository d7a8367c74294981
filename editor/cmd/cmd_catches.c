/* cmd_catches.c - may a file catch exceptions that come to it through code of others?
 *
 * Tested by tests/e2e/livectl.sh.
 */
#include <stdio.h>

#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "postmorph/catches.h"

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct image img = { 0 };

	(void)ctx;
	if (image_parse(job->in[0].bytes, job->arena, &img, err) < 0 ||
	    catches_check(&img, err) < 0)
		return confinedjob_wrap(job, 0, err);
	(void)puts("catches nothing");
	return 0;
}

int cmd_catches(int argc, char **argv)
{
	struct confinedjob job = { .nin = 1, .work = work };

	if (argc != 2)
		return CMD_USAGE;
	job.in[0].arg = argv[1];
	return confinedjob_run(&job);
}
