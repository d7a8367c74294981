/* cmd_build_id.c - the build-id of a file, as hexadecimal digits; nothing if it has none
 *
 * Tested by tests/e2e/import.sh.
 */
#include <stdio.h>

#include "binary/buildid.h"
#include "editor/cmd/cmd.h"
#include "lib/confinedjob.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/say.h"

static int work(struct confinedjob *job, void *ctx, struct err *err)
{
	struct image img = { 0 };

	(void)ctx;
	if (image_parse(job->in[0].bytes, job->arena, &img, err) < 0)
		return confinedjob_wrap(job, 0, err);
	struct bytes id = buildid_find(&img).id;
	char hex[2 * sizeof(struct digest) + 1] = "";
	for (uint64_t i = 0; i < id.n; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", id.p[i]);	/* fits: buildid.h */
	say_line(stdout, "%s", hex);
	return 0;
}

int cmd_build_id(int argc, char **argv)
{
	struct confinedjob job = { .nin = 1, .work = work };

	if (argc != 2)
		return CMD_USAGE;
	job.in[0].arg = argv[1];
	return confinedjob_run(&job);
}
