/* show_problems.c - what is wrong, as the first table of the status, and what the machine lacks
 *
 * An error keeps the daemon from what it is there for; a warning makes it do less.  Users learn
 * of both without what would tell them about others.  There is no table when nothing is wrong.
 *
 * Tested by tests/e2e/problems.sh and tests/e2e/lacks.sh.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/work/work.h"
#include "monitor/lack.h"
#include "policy/policy.h"

/* Until then the monitor may not have told yet how it samples. */
enum { MONITOR_TELLS_MS = 20000 };

static void add(struct table *t, const char *severity, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void add(struct table *t, const char *severity, const char *what, const char *fmt, ...)
{
	char why[1400];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);	/* a cut reason still tells */
	va_end(ap);
	table_row(t, severity, what, why);
}

/* Why the machine does not offer it; "": it does. */
static void lack_why(const struct work *w, enum lack what, char *out, size_t size)
{
	const char *line = w->ask->lacks.text;

	for (int i = 0; i < (int)what && *line; i++) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	(void)snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);	/* fits */
}

static void how_it_ended(const struct work *w, char *out, size_t size)
{
	uint64_t code = w->ask->roles.num[MSG_ROLES_monitor_code];

	if (code > 128)
		(void)snprintf(out, size, "by signal %" PRIu64 " (%s)", code - 128,
			       strsignal((int)code - 128));
	else
		(void)snprintf(out, size, "with exit code %" PRIu64 "; the log says why", code);
}

static void add_monitor(const struct work *w, struct table *t)
{
	uint64_t ends = w->ask->roles.num[MSG_ROLES_monitor_ends];
	bool runs = w->ask->roles.num[MSG_ROLES_monitor_pid] != 0;
	char why[LACK_WHY_MAX], how[96];

	lack_why(w, LACK_SAMPLING, why, sizeof(why));
	how_it_ended(w, how, sizeof(how));
	if (!runs && ends)
		add(t, "error", "sampling", "the monitor does not run: it has ended by itself, "
		    "%" PRIu64 " times so far, last %s; it is started again", ends, how);
	else if (!runs && role_now_ms() - w->started_ms > MONITOR_TELLS_MS)
		add(t, "error", "sampling", "the monitor does not run");
	else if (why[0])
		add(t, "error", "sampling", "no samples: %s", why);
	else if (ends)
		add(t, "warning", "monitor", "it has ended by itself %" PRIu64 " times since "
		    "the daemon began, last %s, and was started again", ends, how);
	if (w->paused)
		add(t, "warning", "sampling", "paused; `morphctl resume` goes on");
	lack_why(w, LACK_CRASHES, why, sizeof(why));
	if (runs && why[0])
		add(t, "warning", "crash watch", "off: a generation that crashes is not taken "
		    "back by itself: %s", why);
}

static void add_losses(const struct work *w, struct table *t)
{
	const uint64_t *n = w->ask->counts.num;
	uint64_t dropped = n[MSG_COUNTS_samples_dropped], lost = n[MSG_COUNTS_lost];
	uint64_t samples = n[MSG_COUNTS_samples];

	if (dropped && n[MSG_COUNTS_files_dropped])
		add(t, "warning", "spool", "%" PRIu64 " samples were dropped, because the "
		    "spool was full (spool.max_mib)", dropped);
	else if (dropped)
		add(t, "warning", "spool", "%" PRIu64 " samples were dropped, because the "
		    "spool could not be written", dropped);
	if (lost > samples / 20)
		add(t, "warning", "samples", "%" PRIu64 " were lost beside %" PRIu64
		    " that came: the machine was too busy", lost, samples);
}

/* The store, or what root keeps in it, was removed under the daemon. */
static void add_store(const struct work *w, struct table *t)
{
	static const char *const part[] = { "", "/originals", "/ledger" };
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (snprintf(path, sizeof(path), "%s%s", w->options->store, part[i]) >=
			    (int)sizeof(path) ||
		    stat(path, &st) == 0 || errno != ENOENT)
			continue;
		add(t, "error", "store", "'%s' is gone, so that nothing that was kept there "
		    "can be put back; what is laid out anew is refused until the daemon is "
		    "started again", path);
		return;
	}
}

void show_problems(struct work *w, struct client *cl)
{
	static const struct table_column col[] = {
		{ "severity", TABLE_TEXT }, { "what", TABLE_TEXT }, { "why", TABLE_TEXT },
	};
	struct table *t = NEW_TABLE("problems", col);
	uint64_t starts = w->ask->roles.num[MSG_ROLES_manager_starts];

	add_store(w, t);
	if (!work_has_room(w))
		add(t, "error", "disk full", "%s", w->no_room);
	if (w->ask->not_run[0])
		add(t, "error", "jobs", "programs of Morph cannot be run, so nothing is "
		    "analysed, laid out or proven: %s", w->ask->not_run);
	if (w->policy_trouble[0])
		add(t, "error", "wrong policy", "%s", control_trusted(cl) ? w->policy_trouble :
		    "another one is in force");
	if (w->options->no_monitor)
		add(t, "warning", "sampling", "off: the daemon was started with --no-monitor");
	else
		add_monitor(w, t);
	if (access_sees_all(w, cl))
		add_losses(w, t);
	if (starts > 1)
		add(t, "warning", "manager", "it has ended by itself %" PRIu64 " times since "
		    "the daemon began, and was started again", starts - 1);
	if (w->note[0] && control_trusted(cl))
		add(t, "warning", "last trouble", "%s", w->note);
	show_some(t, cl);
}

void show_lacks(struct work *w, struct client *cl)
{
	static const struct table_column col[] = {
		{ "what", TABLE_TEXT }, { "lost_by_it", TABLE_TEXT }, { "why", TABLE_TEXT },
	};
	struct table *t = NEW_TABLE("not_available", col);
	char why[sizeof(w->ask->lacks.text)];

	for (int i = 0; i < NLACK; i++) {
		lack_why(w, (enum lack)i, why, sizeof(why));
		if (why[0])
			table_row(t, lack_name((enum lack)i), lack_loss((enum lack)i), why);
	}
	show_some(t, cl);
}
