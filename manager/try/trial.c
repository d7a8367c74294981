/* trial.c - what all steps of a trial use: its runs
 *
 * Tested by tests/unit/manager/try/test_trial.c.
 */
#include "manager/try/trial.h"

#include <stdio.h>
#include <string.h>

#include "lib/say.h"

const char *trial_names(const struct trial *t)
{
	static char text[512];
	size_t n = 0;

	*text = '\0';
	for (unsigned i = 0; i < t->nmodule && n < sizeof(text); i++)
		if (t->module[i].why.kind == ERR_NONE)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
					      n ? ", " : "",
					      strrchr(t->module[i].path, '/') + 1);
	return text;
}

int trial_start(struct trial *t, const struct world_image *image, size_t nimage,
		const char *log, int cpu, struct keeper *k, struct err *err)
{
	struct world w = { .kind = t->kind, .user = t->user, .folder = t->folder,
			   .image = image, .nimage = nimage };
	struct keeper_spec s = {
		.world = &w, .argv = t->o->argv, .prepare = t->o->prepare, .in = t->in,
		.in_at = t->in_at, .output = t->o->output, .noutput = t->o->noutput,
		.cpu = cpu, .log = log, .command = &t->command,
		.confined = !t->o->repeatable,
	};

	if (keeper_start(&s, t->folder, k, err) < 0)
		return -1;
	return keeper_ready(k, err);
}

int trial_run(struct trial *t, const struct world_image *image, size_t nimage,
	      const char *log, double limit_s, struct keeper *k, struct err *err)
{
	if (trial_start(t, image, nimage, log, -1, k, err) < 0)
		return -1;
	keeper_go(k);
	return keeper_wait(k, limit_s, err);
}
