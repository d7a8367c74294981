/* work_adopt.c - a generation at a path, of which the store has no record
 *
 * Its database was lost.  The file names its original; that and its block map are taken from it
 * by a confined job, and believed after the proof alone (morph-verify).  So whoever claims a
 * generation of what is not theirs is not told anything about it.
 *
 * Everybody can write files that look like one.  So what the jobs take is the owner's, in his
 * budget and in when his next file is looked at (lookwait.h), whatever comes of it; and who has
 * spent his budget is told later.
 *
 * Tested by tests/unit/manager/work/test_work_adopt.c and tests/e2e/undo.sh.
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

static bool adopt(struct work *w, const char *path, int fd, struct digest *original,
		  uint32_t *number, struct wr *map)
{
	struct blockmap b;
	struct err err = { 0 };

	if (read_map(w, fd, map, &err) < 0)
		return false;			/* no generation at all */
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

enum module_made work_adopt(void *ctx, const char *path, int fd, struct digest *original,
			    uint32_t *number, struct wr *map)
{
	struct work *w = ctx;
	const uint32_t owner = work_owner(fd);
	struct err why;

	if (!w->asked_by_trusted && !w->reads_at_once && work_budget(w, owner, 0, &why) < 0)
		return MADE_LATER;
	work_look_begin(w);
	bool is_one = adopt(w, path, fd, original, number, map);
	work_look_end(w, owner, 0);
	return is_one ? MADE_ADOPTED : MADE_NOT;
}
