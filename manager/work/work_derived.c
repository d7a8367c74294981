/* work_derived.c - is the file at a path a generation that somebody edited, for example
 * stripped?
 *
 * Such a file has a digest that the store does not know, as a package's new version has.  A
 * confined job tells the two apart: it compares the file's code with the originals of the
 * generations that were at the path, newest first.
 *
 * Tested by tests/e2e/upgrade.sh.
 */
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "manager/store/module.h"
#include "manager/work/work.h"

enum { MOST = 16 };		/* generations that are tried */

struct candidates {
	struct digest present_original;
	uint32_t n;			/* in all; the newest are in [(n - 1) % MOST], ... */
	uint32_t number[MOST];
};

static bool add(void *ctx, const struct store_generation *g)
{
	struct candidates *c = ctx;

	if (!digest_equal(&g->original, &c->present_original))
		c->number[c->n++ % MOST] = g->number;
	return true;
}

int work_map_file(struct work *w, const struct digest *generation, struct err *err)
{
	struct wr map = { 0 };
	int fd = -1, rc = store_generation_map(w->store, generation, &map, err);

	if (rc > 0)
		fd = io_memory_file(wr_bytes(&map), err);
	else if (rc == 0)
		err_set(err, ERR_REFUSED, "its block map is not kept");
	wr_free(&map);
	return fd;
}

/* 1 the file comes from that generation; 0 that is not shown; -1 the daemon stops. */
static int compare(struct work *w, int file, const struct store_generation *g, struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	int out, rc = -1;

	int original = ask_open_original(w->ask, &g->original, err);
	int map = original < 0 ? -1 : work_map_file(w, &g->digest, err);
	if (map >= 0) {
		struct ask_job job = { .kind = JOB_DERIVED, .nin = 3,
				       .in = { original, file, map } };

		rc = ask_run_job(w->ask, &job, &limits, &out, 1, err);
	}
	if (rc == 0)
		close(out);
	if (original >= 0)
		close(original);
	if (map >= 0)
		close(map);
	return rc == 0 ? 1 : w->ask->stop ? -1 : 0;
}

int work_derived(struct work *w, const struct store_module *m, struct store_generation *of,
		 struct err *err)
{
	struct candidates c = { .present_original = m->original };
	struct digest d;
	struct err why;
	int rc = 0;

	if (store_generation_each(w->store, m->id, add, &c, err) < 0)
		return -1;
	if (!c.n)
		return 0;
	int file = ask_open_file(w->ask, m->path, err);
	if (file < 0)
		return -1;
	if (modules_digest(w->modules, file, &d, err) < 0)
		rc = -1;
	else if (!digest_equal(&d, &m->present))
		rc = err_set(err, ERR_INPUT, "'%s': changed just now", m->path);
	for (uint32_t i = 0; i < c.n && i < MOST && rc == 0; i++) {
		rc = store_generation_by_number(w->store, m->id, c.number[(c.n - 1 - i) % MOST],
						of, err);
		if (rc > 0)
			rc = compare(w, file, of, &why);
		if (rc < 0 && w->ask->stop)
			err_set(err, ERR_SYS, "morphd is stopping");
	}
	close(file);
	return rc;
}
