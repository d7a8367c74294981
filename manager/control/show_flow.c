/* show_flow.c - the flow graph of a function, by all that is known of its module
 *
 * A confined job writes it (editor/exchange/flowdot.h).  Its lines are the rows of a table, as
 * text that somebody else may have had a hand in.
 *
 * Tested by tests/e2e/counted.sh; who may ask, by tests/unit/manager/control/test_access.c.
 */
#include <stdlib.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/show.h"
#include "manager/work/procedure.h"

enum { FILE_IN, PROFILE_IN, COUNTED_IN };

static int ask_flow(struct work *w, const struct store_module *m, struct ask_job *job,
		    char counted[WORK_COUNTED_MAX], struct wr *text, struct err *err)
{
	struct work_evidence known = { 0 };
	struct wr profile = { 0 };
	int rc = work_profile(w, m, &known, &profile, err);

	for (int i = 0; i < JOB_MAX_IN; i++)
		job->in[i] = -1;
	if (rc == 0 && (job->in[FILE_IN] = work_open_pristine(w, m, err)) < 0)
		rc = -1;
	if (rc == 0 && (job->in[PROFILE_IN] = io_memory_file(wr_bytes(&profile), err)) < 0)
		rc = -1;
	if (rc == 0)
		job->in[COUNTED_IN] = show_open_counted(w, m, &known.profile, counted);
	job->nin = 2 + (job->in[COUNTED_IN] >= 0);
	if (rc == 0)
		rc = procedures_text_job(w, job, text, err);
	for (int i = 0; i < JOB_MAX_IN; i++)
		if (job->in[i] >= 0)
			close(job->in[i]);
	wr_free(&profile);
	work_evidence_free(&known);
	return rc;
}

static void give_lines(struct bytes text, struct client *cl)
{
	static const struct table_column col[] = { { "line", TABLE_TEXT } };
	struct table *t = NEW_TABLE("flow", col);
	char line[1024];

	while (procedures_next_line(&text, line, sizeof(line)))
		table_row(t, line);
	show_give(cl, t);
}

int show_flow(struct work *w, const struct show_flow *r, struct client *cl, struct err *err)
{
	struct ask_job job = { .kind = JOB_EXPORT, .a = job_flow_form(r->dot, r->placed) };
	struct store_module m = { 0 };
	char counted[WORK_COUNTED_MAX] = "";
	struct wr text = { 0 };

	if (access_find(w, cl, r->module, &m, err) < 0)
		return -1;
	struct procedures *l = procedures_load(w, &m, err);
	if (!l)
		return -1;
	uint32_t fn = procedures_find(w, l, r->function);
	int rc = fn == UINT32_MAX ? err_set(err, ERR_INPUT, "'%s' has no function '%s'", m.path,
					    r->function)
				  : procedures_check_shown(l, fn, false, err);
	if (rc == 0) {
		job.b = l->t.fn[fn].entry;
		rc = ask_flow(w, &m, &job, counted, &text, err);
	}
	if (rc == 0) {
		show_counted(cl, counted);
		give_lines(wr_bytes(&text), cl);
	}
	wr_free(&text);
	procedures_free(l);
	return rc;
}
