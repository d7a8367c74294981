/* cmd_code_names.c - what code made at run time is called (editor/exchange/codenames.h) */
#include "editor/cmd/cmd.h"
#include "editor/exchange/codenames.h"
#include "lib/confinedjob.h"

enum { IN_FILE, IN_PLACES };

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	(void)ctx;
	if (codenames_resolve(job->in[IN_FILE].bytes, job->in[IN_PLACES].bytes, job->arena,
			      &job->out[0].bytes, err) < 0)
		return confinedjob_wrap(job, IN_FILE, err);
	return 0;
}

int cmd_code_names(int argc, char **argv)
{
	struct confinedjob job = { .nin = 2, .work = work };

	return cmd_run(&job, argc, argv);
}
