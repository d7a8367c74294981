#include "manager/control/access.h"

#include <stdlib.h>

#include "lib/err.h"
#include "manager/control/control.h"
#include "manager/work/work.h"
#include "policy/policy.h"

bool access_owns(const struct client *cl, const struct store_module *m)
{
	return control_trusted(cl) || control_uid(cl) == m->owner;
}

bool access_sees(const struct work *w, const struct client *cl, const struct store_module *m)
{
	return w->policy->see_others || access_owns(cl, m);
}

static int refuse(const char *name, struct err *err)
{
	return err_set(err, ERR_REFUSED, "'%s': no samples of such a module that is yours",
		       name);
}

int access_find(struct work *w, const struct client *cl, const char *name,
		struct store_module *out, struct err *err)
{
	struct store_module *m;

	if (control_trusted(cl))
		return work_find(w, name, out, err);
	m = calloc(1, sizeof(*m));
	if (!m)
		return err_set(err, ERR_SYS, "out of memory");
	int rc = work_find(w, name, m, NULL);
	if (rc == 0 && access_sees(w, cl, m))
		*out = *m;
	else
		rc = refuse(name, err);
	free(m);
	return rc;
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
		return refuse(path, err);
	work_look(w, path);
	return owns_known(w, cl, path) ? 0 : refuse(path, err);
}
