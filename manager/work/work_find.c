/* work_find.c - a module by its path, or by its name alone where that is one module's
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/work/lookwait.h"
#include "manager/work/work.h"

struct find {
	const char *name;
	bool (*sees)(const void *ctx, const struct store_module *m);
	const void *ctx;
	int n;
	struct store_module found;
};

static bool same_name(void *ctx, const struct store_module *m)
{
	struct find *f = ctx;
	const char *slash = strrchr(m->path, '/');

	if (slash && strcmp(slash + 1, f->name) == 0 && f->sees(f->ctx, m)) {
		f->n++;
		f->found = *m;
	}
	return true;
}

static int find_path(struct work *w, struct find *f, struct err *err)
{
	char other[PATH_MAX];
	int rc = store_module_by_path(w->store, work_name(w, f->name, other), &f->found, err);

	f->n = rc == 1 && f->sees(f->ctx, &f->found);
	return rc;
}

int work_find(struct work *w, const char *name,
	      bool (*sees)(const void *ctx, const struct store_module *m), const void *ctx,
	      struct store_module *out, struct err *err)
{
	struct find *f = calloc(1, sizeof(*f));

	if (!f)
		return err_set(err, ERR_SYS, "out of memory");
	f->name = name;
	f->sees = sees;
	f->ctx = ctx;
	int rc = strchr(name, '/') ? find_path(w, f, err)
				   : store_module_each(w->store, same_name, f, err);
	if (rc >= 0 && f->n > 1)
		rc = err_set(err, ERR_USAGE,
			     "'%s': several modules have this name; give the path", name);
	if (rc >= 0 && f->n)
		*out = f->found;
	rc = rc < 0 ? -1 : f->n;
	free(f);
	return rc;
}

uint64_t work_look(struct work *w, const char *path)
{
	struct store_module *m = memory_new(1, sizeof(*m));
	enum module_look how = MODULE_SAME;
	struct err err = { 0 };

	int rc = modules_look(w->modules, path, &how, m, &err);
	bool way_given = rc < 0 && w->gives_way && w->ask->trusted_waits;
	if (rc < 0 && !way_given)
		role_log_err(&err);
	free(m);
	return way_given ? LOOKWAIT_LEAST_MS
	       : how == MODULE_LATER ? modules_wait_ms(w->modules) : 0;
}

