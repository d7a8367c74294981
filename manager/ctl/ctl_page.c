/* ctl_page.c - one page, as HTML: of recordings, of a trial, or of what the daemon says
 *
 * Tested by tests/e2e/page.sh, tests/e2e/trypage.sh and tests/e2e/daemonpage.sh.
 */
#include "manager/ctl/ctl_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/say.h"
#include "lib/wr.h"
#include "manager/ctl/reporttable.h"
#include "manager/page/daemonpage.h"
#include "manager/page/page.h"

/* Rows of a table on a page, and modules that are explained; chosen. */
enum { ROWS_MAX = 300, EXPLAINED_MAX = 8 };

static int finish(const char *out, struct wr *page)
{
	struct err err = { 0 };
	int rc = io_write_output(out, wr_bytes(page), &err);

	wr_free(page);
	if (rc == 0)
		return 0;
	say_line(stderr, "morphctl: %s", err.text);
	return err_exit_code(&err);
}

/* Tables in front of those of the recording, and counts besides it. */
static int write_recording(struct page_recording *in, struct table *const *more, int nmore,
			   const char *out)
{
	static const enum rows_by by[] = { ROWS_MODULE, ROWS_PROGRAM, ROWS_PROCEDURE };
	enum { NBY = sizeof(by) / sizeof(by[0]), MORE_MAX = 2 };
	const struct ctl_evidence all = { .limit = ROWS_MAX };
	struct table *table[MORE_MAX + 1 + NBY];
	struct wr page = { 0 };
	uint32_t n = 0;

	for (int i = 0; i < nmore && i < MORE_MAX; i++)
		table[n++] = more[i];
	in->table = table;
	in->ntable = n;
	if (in->evidence->clock) {
		table[in->ntable++] = reporttable_about(in->evidence);
		for (int i = 0; i < NBY; i++)
			table[in->ntable++] = reporttable_by(in->evidence, &all, by[i]);
	}
	page_of_recording(in, &page);
	for (uint32_t i = n; i < in->ntable; i++)
		table_free(table[i]);
	return finish(out, &page);
}

int ctl_page_logs(const struct ctl_evidence *o, const struct evidence *e,
		  const char *const *log, uint32_t nlog, const char *out)
{
	struct page_recording in = { .title = evidence_base(log[0]), .log = log, .nlog = nlog,
				     .evidence = e, .source = &o->source };

	if (e->executions && nlog > 1) {
		say_line(stderr, "morphctl: a page is of one profile of executions");
		return 2;
	}
	return write_recording(&in, NULL, 0, out);
}

/* --- a trial --- */

int ctl_page_trial(const char *command, const struct try_shown *s, const char *out)
{
	struct page_counts counts[TRY_SHOWN_MAX];
	struct evidence_source source = { .at = { s->morph_edit, "/var/lib/morph" } };
	struct arena *a = arena_new();
	struct evidence e;
	struct err err;
	struct page_recording in = {
		.title = arena_printf(a, "try %s", command), .log = &s->log, .evidence = &e,
		.source = &source, .counts = counts, .ncounts = s->ncounted,
	};

	for (uint32_t i = 0; i < s->ncounted; i++)
		counts[i] = (struct page_counts){ s->counted[i].module, s->counted[i].profile };
	evidence_init(&e, a);
	if (s->log && evidence_add(&e, s->log, &source, &err) < 0) {
		say_line(stderr, "morphctl: %s", err.text);
		evidence_init(&e, a);
	}
	int code = write_recording(&in, s->table, s->ntable, out);
	arena_free(a);
	return code;
}

/* --- the daemon --- */

static const char *const requests[] = { "status", "list", "report", "history", "saved" };
enum { NREQUEST = sizeof(requests) / sizeof(requests[0]), NANSWER = NREQUEST + EXPLAINED_MAX };

struct answers {
	struct arena *arena;
	struct daemonpage_answer answer[NANSWER];
	struct ctl_tables tables[NANSWER];
	uint32_t n;
};

/* What goes wrong with one request is told on the page. */
static int ask(const struct ctl *ctl, struct answers *a, const char *request,
	       const char *module)
{
	struct daemonpage_answer *answer = &a->answer[a->n];
	struct ctl_tables *t = &a->tables[a->n++];
	const char *const argv[] = { request, module };
	struct ctl quiet = *ctl;
	char *why = NULL;
	size_t n = 0;

	quiet.errors = memory_need(open_memstream(&why, &n));
	int code = ctl_fetch(&quiet, module ? 2 : 1, argv, t);
	(void)fclose(quiet.errors);	/* memory */
	*answer = (struct daemonpage_answer){ request, module, NULL, t->at, t->n };
	if (code) {
		const char *text = strncmp(why, "morphctl: ", 10) == 0 ? why + 10 : why;

		answer->failed = arena_printf(a->arena, "%.*s", (int)strcspn(text, "\n"), text);
	}
	free(why);
	return code;
}

struct sampled {
	const char *path;
	double samples;
};

static int by_samples(const void *x, const void *y)
{
	const struct sampled *a = x, *b = y;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return strcmp(a->path, b->path);
}

/* Those of the list with most samples. */
static void explain_some(const struct ctl *ctl, struct answers *a, const struct table *list)
{
	int path = table_column_of(list, "path"), samples = table_column_of(list, "samples");
	int n = path < 0 || samples < 0 ? 0 : table_nrow(list);
	struct sampled *s = memory_new((size_t)n + 1, sizeof(*s));

	for (int r = 0; r < n; r++)
		s[r] = (struct sampled){ table_cell(list, r, path),
					 strtod(table_cell(list, r, samples), NULL) };
	qsort(s, (size_t)n, sizeof(*s), by_samples);
	for (int r = 0; r < n && r < EXPLAINED_MAX && s[r].samples > 0; r++)
		(void)ask(ctl, a, "explain", s[r].path);	/* the page tells why not */
	free(s);
}

int ctl_page_daemon(const struct ctl *ctl, const char *out)
{
	struct answers a = { .arena = arena_new() };
	struct wr page = { 0 };
	int code = 0;

	for (int i = 0; i < NREQUEST && code == 0; i++)
		code = ask(ctl, &a, requests[i], NULL);
	if (code) {
		say_line(stderr, "morphctl: %s", a.answer[a.n - 1].failed);
	} else {
		for (int i = 0; i < a.tables[1].n; i++)
			explain_some(ctl, &a, a.tables[1].at[i]);
		daemonpage_put(a.answer, a.n, &page);
		code = finish(out, &page);
	}
	for (uint32_t i = 0; i < a.n; i++)
		ctl_tables_free(&a.tables[i]);
	arena_free(a.arena);
	return code;
}
