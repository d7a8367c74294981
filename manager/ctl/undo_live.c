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
	struct livework *l = livework_new(store, program, err);
	if (l) {
		livework_tell(l, tell);
		/* without the program, processes that nobody knows of cannot be known */
		if (livework_knows(l, path) || (!path && program))
			rc = program ? take_out(l, path, err) :
			     err_set(err, ERR_SYS, "morph-live is not beside morphctl");
		else
			rc = 0;
	}
	livework_free(l);
	free(program);
	return rc;
}
