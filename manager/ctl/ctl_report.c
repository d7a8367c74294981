/* ctl_report.c - morphctl report: where the time goes, by the daemon, or by recordings without
 * it
 *
 * Tested by tests/e2e/reports.sh; by the daemon, tests/e2e/daemon.sh.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "lib/say.h"
#include "lib/when.h"
#include "manager/ctl/ctl_evidence.h"
#include "manager/ctl/ctl_page.h"
#include "manager/ctl/reporttable.h"

enum { LIMIT = 40 };

static bool knows(const struct evidence *e, const char *module)
{
	for (uint32_t i = 0; module && i < e->module.n; i++)
		if (rows_is_module(&e->module.v[i], module))
			return true;
	return false;
}

static int report_logs(const struct ctl *ctl, const struct ctl_evidence *o)
{
	struct arena *a = arena_new();
	struct ctl_tables t = { 0 };
	struct err err = { 0 };
	struct evidence e;
	int code = 0;

	if (o->html && ctl_evidence_out(o->html, o->log, o->nlog, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		code = err_exit_code(&err);
	}
	if (code == 0)
		code = ctl_evidence_read(o, o->log, o->nlog, a, &e);

	if (code == 0 && (reporttable_is_by_callees(o) || o->callers) && !e.with_stacks &&
	    !(o->callers && e.call.n)) {
		say_line(stderr, "morphctl report: --%s: no recording has stacks "
			 "(record --stacks)%s", o->callers ? "by=caller" : "sort=callees",
			 o->callers ? ", and no profile has counted calls" : "");
		code = 1;
	}
	if (code == 0)
		code = ctl_evidence_nothing(o, knows(&e, o->module));
	if (code == 0 && o->html) {
		code = ctl_page_logs(o, &e, o->log, o->nlog, o->html);
	} else if (code == 0) {
		t.at[t.n++] = reporttable_about(&e);
		if (!o->by_given)
			t.at[t.n++] = reporttable_by(&e, o, ROWS_MODULE);
		t.at[t.n++] = o->callers ? reporttable_callers(&e, o)
					 : reporttable_by(&e, o, o->by);
		code = ctl_print(ctl, &t, 0);
	}
	arena_free(a);
	return code;
}

/* A page is of all, and has tables of its own. */
static bool is_page(const struct ctl_evidence *o, int nleft)
{
	return nleft == 0 && !o->by_given && !o->sort && o->limit == LIMIT;
}

static int page_of_daemon(const struct ctl *ctl, int argc, char **argv)
{
	struct ctl_evidence o;
	int code = ctl_evidence_options(ctl, argc, argv, LIMIT, &o);

	if (code)
		return code;
	code = is_page(&o, argc - optind) ? ctl_page_daemon(ctl, o.html) : ctl_usage(ctl);
	ctl_evidence_free(&o);
	return code;
}

/* With times as the daemon takes them. */
static int ask_daemon(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const option[] = { "--since=", "--until=" };
	char given[2][48];
	uint64_t ns;

	for (int i = 1; i < argc; i++)
		for (int k = 0; k < 2; k++) {
			const char *text = argv[i] + strlen(option[k]);

			if (strncmp(argv[i], option[k], strlen(option[k])) != 0)
				continue;
			if (!when_parse(text, when_now_ns(), &ns)) {
				say_line(stderr, "morphctl report: %.7s: '%s' is no time until "
					 "now: %s; of recordings it is seconds", option[k],
					 text, WHEN_FORMS);
				return 2;
			}
			(void)snprintf(given[k], sizeof(given[k]), "%s%" PRIu64, option[k],
				       when_full(text, ns));	/* fits */
			argv[i] = given[k];
			break;
		}
	return ctl_ask_module(ctl, argc, argv);
}

static int report_of_daemon(const struct ctl *ctl, int argc, char **argv)
{
	/* the daemon knows no lines and callers, and has its own store */
	static const char *const not_its[] = { "--by=line", "--by=inlined", "--by=caller",
					       "--binary=", "--store=", "--sort=callees",
					       NULL };
	/* a page is of all time */
	static const char *const no_page[] = { "--since=", "--until=", NULL };
	bool page = ctl_evidence_find(argc, argv, "--html=");

	if (ctl_evidence_only_logs(ctl, argc, argv, not_its) ||
	    (page && ctl_evidence_only_logs(ctl, argc, argv, no_page)))
		return 2;
	return page ? page_of_daemon(ctl, argc, argv) : ask_daemon(ctl, argc, argv);
}

int ctl_report(const struct ctl *ctl, int argc, char **argv)
{
	struct ctl_evidence o;

	if (!ctl_evidence_find(argc, argv, "--log="))
		return report_of_daemon(ctl, argc, argv);
	int code = ctl_evidence_options(ctl, argc, argv, LIMIT, &o);
	if (code)
		return code;
	o.source.stacks = true;
	o.source.calls = o.callers;
	if (optind < argc)
		o.module = argv[optind];
	if (o.html && !is_page(&o, argc - optind))
		code = ctl_usage(ctl);
	else if (ctl_evidence_sort(o.sort, reporttable_sort) < 0)
		code = ctl_evidence_wrong_sort(ctl, o.sort, reporttable_sort);
	else
		code = report_logs(ctl, &o);
	ctl_evidence_free(&o);
	return code;
}
