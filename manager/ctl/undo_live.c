/* undo_live.c - generations of running processes, taken out without the daemon; see undo_live.h
 *
 * By what the parent does it with, because nothing of it needs a daemon: what is mapped the
 * processes themselves say, and the originals come from there, too.
 *
 * Tested by tests/e2e/livedaemon.sh.
 */
#include "manager/ctl/undo_live.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "lib/say.h"
#include "manager/parent/livework.h"
#include "manager/parent/program.h"

static void tell(const char *text)
{
	say_line(stderr, "%s", text);
}

static int take_out(struct livework *l, const char *path, struct err *err)
{
	struct livework_result r;
	struct pollfd p[2];

	if (path && !livework_knows(l, path))
		return 0;
	if (livework_off_path(l, path, err) < 0)
		return -1;
	while (!livework_step(l, &r)) {
		livework_poll(l, p);
		(void)poll(p, 2, -1);	/* the step sees for itself what has happened */
	}
	if (r.err.kind)
		return err_set(err, r.err.kind, "%s", r.err.text);
	return 0;
}

int undo_live(const char *store, const char *path, struct err *err)
{
	char folder[PATH_MAX];
	struct stat st;
	int rc = -1;

	/* where nothing ever was, nothing is made */
	if (snprintf(folder, sizeof(folder), "%s/live", store) >= (int)sizeof(folder) ||
	    lstat(folder, &st) < 0)
		return 0;
	char *program = program_of_ours("morph-live");
	struct livework *l = program ? livework_new(store, program, err) : NULL;
	if (!program)
		err_set(err, ERR_SYS, "morph-live is not beside morphctl");
	if (l) {
		livework_tell(l, tell);
		rc = take_out(l, path, err);
	}
	livework_free(l);
	free(program);
	return rc;
}
