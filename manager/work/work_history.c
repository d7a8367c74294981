/* work_history.c - what happened to modules: into the history, and into the log with fields to
 * search by (manager/parent/log.h)
 *
 * Tested by tests/e2e/daemon.sh and, as to the fields, tests/e2e/service.sh.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "manager/work/work.h"

static const struct {
	const char *event, *id;
	enum log_level level;
} known[] = {
	{ "installed", EVENT_SWAP, LEVEL_NOTICE },   { "counting", EVENT_SWAP, LEVEL_NOTICE },
	{ "restored", EVENT_RESTORE, LEVEL_NOTICE }, { "slower", NULL, LEVEL_WARNING },
	{ "crashed", EVENT_CRASH, LEVEL_ERROR },     { "crash", EVENT_CRASH, LEVEL_WARNING },
	{ "refused", EVENT_REFUSAL, LEVEL_NOTICE },
	{ "live refused", EVENT_REFUSAL, LEVEL_NOTICE },
	{ "stuck", NULL, LEVEL_ERROR },		     { "damaged", NULL, LEVEL_ERROR },
};

static void add(struct work *w, const struct log_event *e, const char *detail)
{
	struct log_event event = *e;
	enum log_level level = LEVEL_NOTICE;
	struct err err;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].event, e->name) == 0) {
			event.id = known[i].id;
			level = known[i].level;
		}
	role_event(level, &event, "%s: %s%s%s", e->path, e->name, *detail ? ": " : "", detail);
	if (store_history_add(w->store, e->path, e->name, detail, &err) < 0)
		role_log_err(&err);
}

#define ADD(number) \
	do { \
		char detail[1024]; \
		va_list ap; \
		va_start(ap, fmt); \
		/* a cut line still tells */ \
		(void)vsnprintf(detail, sizeof(detail), fmt, ap); \
		va_end(ap); \
		add(w, &(struct log_event){ NULL, event, path, number }, detail); \
	} while (0)

void work_history(struct work *w, const char *path, const char *event, const char *fmt, ...)
{
	ADD(0);
}

void work_history_of(struct work *w, const char *path, uint32_t generation, const char *event,
		     const char *fmt, ...)
{
	ADD(generation);
}
