/* cmd_foreign.c - profiles of llvm-bolt's tools as block profiles
 * (editor/exchange/boltread.h) */
#include "editor/cmd/cmd.h"
#include "editor/exchange/boltread.h"
#include "lib/arena.h"
#include "lib/confinedjob.h"
#include "lib/err.h"
#include "lib/say.h"

enum { IN_FILE, IN_TEXT };

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct boltread_counts n;
	struct profile p;

	(void)ctx;
	if (boltread(job->in[IN_FILE].bytes, job->in[IN_TEXT].bytes, job->arena, &p, &n,
		     err) < 0)
		return confinedjob_wrap(job, IN_TEXT, err);
	p.module = job->in[IN_FILE].arg;
	p.outside = (double)(n.elsewhere + n.unknown + n.impossible);
	profile_write(&p, &job->out[0].bytes);
	say_line(stdout, "%llu lines; left out: %llu of other files, %llu of unknown names, "
		 "%llu of what the code does not have", (unsigned long long)n.taken,
		 (unsigned long long)n.elsewhere, (unsigned long long)n.unknown,
		 (unsigned long long)n.impossible);
	return 0;
}

int cmd_foreign(int argc, char **argv)
{
	struct confinedjob job = { .nin = 2, .work = work };

	return cmd_run(&job, argc, argv);
}
