/* access.c - which requests of whom are answered; see access.h
 *
 * A user is told the same of a module that is unknown and of one that is not his: so nobody
 * learns from the daemon what others run.
 *
 * Tested by tests/unit/manager/control/test_access.c and tests/e2e/users.sh.
 */
#include "manager/control/access.h"

#include <stdlib.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/control/control.h"
#include "manager/work/work.h"
#include "policy/policy.h"

bool access_owns(const struct client *cl, const struct store_module *m)
{
	return control_trusted(cl) || control_uid(cl) == m->owner;
}

bool access_sees_all(const struct work *w, const struct client *cl)
{
	return w->policy->see_others || control_trusted(cl);
}

bool access_sees(const struct work *w, const struct client *cl, const struct store_module *m)
{
	return access_sees_all(w, cl) || access_owns(cl, m);
}

bool access_shows(const struct work *w, const struct client *cl, const char *path)
{
	if (access_sees_all(w, cl))
		return true;
	struct store_module *m = memory_new(1, sizeof(*m));
	bool his = store_module_by_path(w->store, path, m, NULL) == 1 && access_owns(cl, m);

	free(m);
	return his;
}

static int refuse(const struct client *cl, const char *name, struct err *err)
{
	if (control_trusted(cl))
		return err_set(err, ERR_INPUT, "'%s': no samples of such a module", name);
	return err_set(err, ERR_REFUSED, "'%s': no samples of such a module that is yours",
		       name);
}

struct looker {
	const struct work *w;
	const struct client *cl;
};

static bool seen_by(const void *ctx, const struct store_module *m)
{
	const struct looker *l = ctx;

	return access_sees(l->w, l->cl, m);
}

int access_find(struct work *w, const struct client *cl, const char *name,
		struct store_module *out, struct err *err)
{
	const struct looker l = { w, cl };
	int rc = work_find(w, name, seen_by, &l, out, err);

	return rc == 0 ? refuse(cl, name, err) : rc < 0 ? -1 : 0;
}

static bool owns_known(struct work *w, const struct client *cl, const char *path)
{
	struct store_module m;

	return store_module_by_path(w->store, path, &m, NULL) == 1 && access_owns(cl, &m);
}

int access_change(struct work *w, const struct client *cl, const char *path, struct err *err)
{
	if (control_trusted(cl))
		return 0;
	/* First by what is known, so that nobody has us look at paths that are not his. */
	if (!owns_known(w, cl, path))
		return refuse(cl, path, err);
	work_look(w, path);
	return owns_known(w, cl, path) ? 0 : refuse(cl, path, err);
}
