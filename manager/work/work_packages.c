/* work_packages.c - for comparisons with packages: MD5 sums of the originals of rewritten
 * files, and which files have been replaced
 *
 * Tested by tests/e2e/upgrade.sh.
 */
#include <unistd.h>

#include "lib/digest.h"
#include "lib/err.h"
#include "lib/table.h"
#include "manager/store/module.h"
#include "manager/work/answer.h"
#include "manager/work/work.h"

/* --- checksums of originals --- */

struct checksums {
	struct work *w;
	struct table *t;
};

/* One that cannot be read has no sum, and says why. */
static bool checksum(void *ctx, const struct store_module *m)
{
	struct checksums *c = ctx;
	struct err err = { 0 };
	char hex[33] = "";

	if (!m->generation)
		return true;
	int fd = ask_open_original(c->w->ask, &m->original, &err);
	int rc = fd < 0 ? -1 : digest_md5_fd(fd, hex, &err);
	if (fd >= 0)
		close(fd);
	table_row(c->t, m->path, (uint64_t)m->generation, hex, rc < 0 ? err.text : "");
	return !c->w->ask->stop;
}

int work_checksums(struct work *w, struct answer *to, struct err *err)
{
	static const struct table_column col[] = {
		{ "path", TABLE_TEXT }, { "generation", TABLE_UINT }, { "md5", TABLE_TEXT },
		{ "trouble", TABLE_TEXT },
	};
	struct checksums c = { w, table_new("checksums", 4, col) };
	int rc = store_module_each(w->store, checksum, &c, err);

	if (rc >= 0)
		answer_table(to, c.t);
	table_free(c.t);
	return rc < 0 ? -1 : 0;
}

/* --- what is another file by now --- */

static void show_looked(void *ctx, enum module_look look, const struct store_module *m)
{
	static const char *const found[] = {
		[MODULE_NEW] = "new", [MODULE_CHANGED] = "replaced",
		[MODULE_SWAPPED] = "original or generation", [MODULE_GONE] = "gone",
		[MODULE_LATER] = "changed, not read yet",
	};

	if (look != MODULE_SAME)
		table_row(ctx, m->path, found[look]);
}

int work_look_all(struct work *w, struct answer *to, struct err *err)
{
	static const struct table_column col[] = { { "path", TABLE_TEXT },
						   { "found", TABLE_TEXT } };
	struct table *t = table_new("looked", 2, col);
	int rc = modules_look_all(w->modules, show_looked, t, err);

	if (rc >= 0 && !table_nrow(t))
		answer_line(to, "no module was replaced by another file");
	if (rc >= 0)
		answer_table(to, t);
	table_free(t);
	return rc < 0 ? -1 : 0;
}
