/* work_adopt.c - a generation at a path, of which the store has no record
 *
 * Its database was lost.  The file names its original; that and its block map are taken from it
 * by a confined job, and believed after the proof alone (morph-verify).  So whoever claims a
 * generation of what is not theirs is not told anything about it.
 *
 * Tested by tests/e2e/undo.sh.
 */
#include <unistd.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "manager/work/work.h"

static int read_map(struct work *w, int fd, struct wr *map, struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	struct ask_job job = { .kind = JOB_MAP, .nin = 1, .in = { fd } };
	int out;

	if (ask_run_job(w->ask, &job, &limits, &out, 1, err) < 0)
		return -1;
	int rc = work_read(out, map, err);
	close(out);
	return rc;
}

static int prove(struct work *w, const struct digest *original, int fd, bool counts,
		 struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	int out, rc, in = ask_open_original(w->ask, original, err);

	if (in < 0)
		return -1;
	struct ask_job job = { .kind = JOB_VERIFY, .nin = 2, .in = { in, fd },
			       .a = counts };
	rc = ask_run_job(w->ask, &job, &limits, &out, 1, err);
	close(in);
	if (rc == 0)
		close(out);
	return rc;
}

int work_adopt(void *ctx, const char *path, int fd, struct digest *original, uint32_t *number,
	       struct wr *map)
{
	struct work *w = ctx;
	struct blockmap b;
	struct err err = { 0 };

	if (read_map(w, fd, map, &err) < 0)
		return 0;			/* no generation at all */
	int rc = blockmap_read_images(wr_bytes(map), &b, &err);
	if (rc == 0) {
		*original = b.original;
		*number = b.generation;
		blockmap_free(&b);
		rc = prove(w, original, fd, !*number, &err);	/* 0: one that counts */
	}
	if (rc < 0)
		role_warn("%s: looks like a generation, and is not adopted: %s", path,
			  err.text);
	return rc == 0;
}
