/* cmd_report.c - figures of a program's layout (editor/measure/layoutreport.h), beside those of
 * another layout of it if there is one, under one profile */
#include <stdio.h>
#include <string.h>

#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "editor/measure/layoutreport.h"
#include "lib/err.h"

enum { IN_ORIGINAL, IN_PROFILE, IN_OTHER };

struct ctx {
	bool json;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int work(struct confinedjob *job, void *arg, struct err *err)
{
	const struct ctx *ctx = arg;
	struct bytes other = { 0 };
	struct profile profile;

	if (profile_read(job->in[IN_PROFILE].bytes, job->arena, &profile, err) < 0)
		return confinedjob_wrap(job, IN_PROFILE, err);
	if (job->nin > IN_OTHER)
		other = job->in[IN_OTHER].bytes;
	if (report_print(job->in[IN_ORIGINAL].bytes, &profile, other,
			 other.p ? base_name(job->in[IN_OTHER].arg) : NULL, ctx->json,
			 job->arena, stdout, err) < 0)
		return confinedjob_wrap(job, IN_ORIGINAL, err);
	return 0;
}

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {
		{ "profile", required_argument, NULL, 'p' },
		{ "compare", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 }
	};
	struct ctx ctx = { 0 };
	struct confinedjob job = { .nin = 2, .work = work, .ctx = &ctx };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p') {
			job.in[IN_PROFILE].arg = optarg;
		} else if (c == 'c') {
			job.in[IN_OTHER].arg = optarg;
			job.nin = 3;
		} else if (c == 'j') {
			ctx.json = true;
		} else {
			return cmd_usage("report");
		}
	}
	if (argc - optind != 1 || !job.in[IN_PROFILE].arg)
		return cmd_usage("report");
	job.in[IN_ORIGINAL].arg = argv[optind];
	return confinedjob_run(&job);
}
