/* show_live.c - which running processes have which generation, as a table
 *
 * As the daemon has seen it last.  What others run is for who may see it: each row is about a
 * module, and is shown to whom that is; what somebody has mapped by hand, of which no module is
 * known, to those who see all.
 *
 * Tested by tests/e2e/livedaemon.sh and tests/unit/manager/control/test_access.c.
 */
#include <string.h>

#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/show.h"
#include "manager/work/work.h"

static bool is_shown(const struct work *w, const struct client *cl, const struct live_row *r)
{
	return r->path ? access_shows(w, cl, r->path) : access_sees_all(w, cl);
}

struct table *show_running(struct work *w, const struct client *cl)
{
	static const struct table_column col[] = {
		{ "pid", TABLE_UINT }, { "user", TABLE_UINT }, { "path", TABLE_TEXT },
		{ "generation", TABLE_UINT }, { "form", TABLE_TEXT },
	};
	uint32_t n;
	const struct live_row *row = work_live_rows(w, &n);
	struct table *t = NEW_TABLE("running", col);

	for (uint32_t i = 0; i < n; i++) {
		struct store_generation g = { 0 };
		char hex[65];

		if (!is_shown(w, cl, &row[i]))
			continue;
		digest_hex(&row[i].generation, hex);
		(void)store_live_generation(w->store, &row[i].generation, &g, NULL);
		table_row(t, (uint64_t)row[i].pid, (uint64_t)row[i].uid,
			  row[i].path ? row[i].path : "", (uint64_t)g.number, hex);
	}
	return t;
}

uint64_t show_processes(const struct work *w, const char *path)
{
	uint64_t all = 0;
	uint32_t n;
	const struct live_row *row = work_live_rows(w, &n);

	for (uint32_t i = 0; i < n; i++)
		all += row[i].path && strcmp(row[i].path, path) == 0;
	return all;
}
