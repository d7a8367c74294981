/* ctl_page.c - one page of recordings, as HTML
 *
 * Tested by tests/e2e/page.sh.
 */
#include "manager/ctl/ctl_page.h"

#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/say.h"
#include "lib/wr.h"
#include "manager/ctl/reporttable.h"
#include "manager/page/page.h"

/* Rows of a table on a page; chosen. */
enum { ROWS_MAX = 300 };

static int write_page(const char *out, struct bytes page, struct err *err)
{
	if (strcmp(out, "-") != 0)
		return io_write_file(out, 0666, page, err);
	if (io_write_all(STDOUT_FILENO, page.p, page.n, err) < 0)
		return err_wrap(err, "standard output");
	return 0;
}

static int finish(const char *out, struct wr *page)
{
	struct err err = { 0 };
	int rc = write_page(out, wr_bytes(page), &err);

	wr_free(page);
	if (rc == 0)
		return 0;
	say_line(stderr, "morphctl: %s", err.text);
	return err_exit_code(&err);
}

int ctl_page_logs(const struct ctl_evidence *o, const struct evidence *e,
		  const char *const *log, uint32_t nlog, const char *out)
{
	static const enum rows_by by[] = { ROWS_MODULE, ROWS_PROGRAM, ROWS_PROCEDURE };
	enum { NBY = sizeof(by) / sizeof(by[0]) };
	struct ctl_evidence all = { .limit = ROWS_MAX };
	struct table *table[NBY + 1];
	struct page_recording in = { .log = log, .nlog = nlog, .evidence = e,
				     .source = &o->source, .table = table };
	struct wr page = { 0 };

	if (e->executions && nlog > 1) {
		say_line(stderr, "morphctl: a page is of one profile of executions");
		return 2;
	}
	table[in.ntable++] = reporttable_about(e);
	for (int i = 0; i < NBY; i++)
		table[in.ntable++] = reporttable_by(e, &all, by[i]);
	page_of_recording(&in, &page);
	for (uint32_t i = 0; i < in.ntable; i++)
		table_free(table[i]);
	return finish(out, &page);
}
