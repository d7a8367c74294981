/* work_made.c - what code is called that programs made while they ran
 *
 *   process --its file, by the parent--> copy --confined morph-edit code-names--> names
 *
 * While the spool is taken in each process with samples in such code is asked for, and so much
 * of a file is read as its samples are worth: who makes much of little costs nobody else time.
 * What a job takes is the process's user's (work_budget.c), and everybody can have samples
 * taken in as often as he asks for a report.  So names have half of that budget, a part for
 * each hour of the day: the other half is there when the user wants something laid out.  What
 * goes wrong leaves samples without names, and is nothing to log: a program that writes
 * nothing is the usual case.
 *
 * Tested by tests/unit/manager/work/test_work_made.c and tests/e2e/madedaemon.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "manager/samples/madeset.h"
#include "manager/work/work.h"
#include "policy/policy.h"

/* Chosen.  A name costs a job, some milliseconds, and a MiB of file some more: as much as a few
 * samples stand for.  Of one drain so many questions, files, bytes, and time until files have
 * come: one that never does takes five seconds (manager/parent/madefile.c). */
enum { LEAST_SAMPLES = 4, QUESTIONS = 128, FILES = 32, FILES_MS = 12000, JOBS = 256 };
enum { JOB_MIB = 512, JOB_S = 10 };
enum { PURSE_HOURS = 2 };		/* chosen: it holds what comes in these */
static const uint64_t bytes_for_sample = 1 << 20, most_bytes = 64 << 20,
		      bytes_of_drain = 256 << 20;

/* A drain can have many spool files, and a process samples in all of them: it is the same one
 * for all that come later, and is asked once. */
struct copy {
	uint32_t pid, uid;
	int fd;
	uint64_t bytes;
	char *dump;			/* as of struct madeset_question */
};

/* What was asked in vain, not to be asked again when the next spool file has samples of it:
 * most processes that make code write nothing, and would take the questions from others. */
struct nothing {
	uint32_t pid;
	bool dump;
	uint64_t bytes;			/* of more than these nothing is known */
};

struct made {				/* of one drain */
	uint32_t questions, jobs;	/* that may yet be */
	uint64_t bytes, ms;
	uint32_t n;
	struct copy copy[FILES];
	uint32_t nnothing;
	struct nothing nothing[QUESTIONS];
};

void work_made_begin(struct work *w)
{
	w->made = memory_new(1, sizeof(*w->made));
	*w->made = (struct made){ QUESTIONS, JOBS, bytes_of_drain, FILES_MS,
				  .copy = { { 0 } } };
}

void work_made_end(struct work *w)
{
	for (uint32_t i = 0; i < w->made->n; i++) {
		close(w->made->copy[i].fd);
		free(w->made->copy[i].dump);
	}
	free(w->made);
	w->made = NULL;
}

static uint64_t worth(uint64_t samples)
{
	return samples < most_bytes / bytes_for_sample ? samples * bytes_for_sample
						       : most_bytes;
}

/* What it has written, asked for now; NULL: nothing that can be had. */
static const struct copy *fetch(struct work *w, const struct madeset_question *q)
{
	struct made *m = w->made;
	uint64_t bytes = worth(q->samples);
	const struct ask_made asked = { q->pid, q->first_ns,
					bytes < m->bytes ? bytes : m->bytes, q->dump };
	struct copy c = { .pid = q->pid };
	struct err unused;
	struct stat st;

	if (m->n == FILES || !m->questions || !asked.max_bytes || !m->ms)
		return NULL;
	m->questions--;
	uint64_t begin_ms = w->now_ms();
	c.fd = ask_made_code(w->ask, &asked, &c.uid, &unused);
	uint64_t took_ms = w->now_ms() - begin_ms;
	m->ms -= took_ms < m->ms ? took_ms : m->ms;
	if (c.fd < 0) {
		m->nothing[m->nnothing++] = (struct nothing){ q->pid, *q->dump, bytes };
		return NULL;
	}
	c.bytes = fstat(c.fd, &st) < 0 ? most_bytes : (uint64_t)st.st_size;
	c.dump = memory_need(strdup(q->dump));
	m->bytes -= c.bytes < m->bytes ? c.bytes : m->bytes;
	m->copy[m->n] = c;
	return &m->copy[m->n++];
}

static const struct copy *find(struct work *w, const struct madeset_question *q)
{
	for (uint32_t i = 0; i < w->made->n; i++) {
		const struct copy *c = &w->made->copy[i];

		if (c->pid == q->pid && strcmp(c->dump, q->dump) == 0)
			return c->bytes <= worth(q->samples) ? c : NULL;
	}
	for (uint32_t i = 0; i < w->made->nnothing; i++) {
		const struct nothing *n = &w->made->nothing[i];

		if (n->pid == q->pid && n->dump == !!*q->dump &&
		    worth(q->samples) <= n->bytes)
			return NULL;
	}
	return fetch(w, q);
}

/* Places are lines 0xADDRESS. */
static int ask_names(struct work *w, int file, const struct madeset_question *q, struct wr *out,
		     struct err *err)
{
	const struct ask_limits limits = { JOB_MIB, JOB_S };
	struct ask_job job = { .kind = JOB_CODE_NAMES, .nin = 2, .in = { file } };
	struct wr places = { 0 };
	char line[24];
	int answer;

	for (uint32_t i = 0; i < q->n; i++) {
		(void)snprintf(line, sizeof(line), "0x%" PRIx64 "\n", q->pc[i]);
		wr_text(&places, line);
	}
	job.in[1] = io_memory_file(wr_bytes(&places), err);
	wr_free(&places);
	if (job.in[1] < 0)
		return -1;
	int rc = ask_run_job(w->ask, &job, &limits, &answer, 1, err);
	if (rc == 0) {
		rc = work_read(answer, out, err);
		close(answer);
	}
	close(job.in[1]);
	return rc;
}

/* --- what it may cost --- */

static double filled(const struct work_purse *p, uint64_t now_ms, unsigned budget_s)
{
	double per_hour_ms = (double)budget_s * 1000 / 2 / 24, most = per_hour_ms * PURSE_HOURS;
	double now = p->cpu_ms + (double)(now_ms - p->at_ms) * per_hour_ms / 3600000;

	return !p->used || now > most ? most : now;
}

/* The user's, as it is now; too many users: the fullest one begins anew, which loses least. */
static struct work_purse *purse_of(struct work *w, uint32_t uid)
{
	unsigned budget_s = uid ? w->policy->owner_cpu_per_day_s : w->policy->cpu_per_day_s;
	struct work_purse *p = &w->purse[0];
	uint64_t now_ms = w->now_ms();

	for (unsigned i = 0; i < WORK_PURSES; i++) {
		struct work_purse *q = &w->purse[i];

		if (q->used && q->uid == uid) {
			p = q;
			break;
		}
		if (p->used && (!q->used || filled(q, now_ms, budget_s) >
					    filled(p, now_ms, budget_s)))
			p = q;
	}
	if (!p->used || p->uid != uid)
		*p = (struct work_purse){ .uid = uid };
	p->cpu_ms = filled(p, now_ms, budget_s);
	p->at_ms = now_ms;
	p->used = true;
	return p;
}

static void name_by(struct work *w, const struct copy *c, const struct madeset_question *q,
		    struct madeset_answer *answer)
{
	struct work_purse *purse = purse_of(w, c->uid);
	struct wr text = { 0 };
	struct err unused;

	if (w->made->jobs && purse->cpu_ms > 0 && work_budget(w, c->uid, 0, &unused) == 0) {
		uint64_t before_ms = w->ask->job_cpu_ms;

		w->made->jobs--;
		work_charge(w, 0, 0, 0);
		if (ask_names(w, c->fd, q, &text, &unused) == 0)
			(void)madeset_read_names(wr_bytes(&text), q->n, answer, &unused);
		work_charge(w, 0, c->uid, 0);
		purse->cpu_ms -= (double)(w->ask->job_cpu_ms - before_ms);
	}
	wr_free(&text);
}

void work_made(void *ctx, const struct madeset_question *q, struct madeset_answer *answer)
{
	struct work *w = ctx;
	const struct copy *c = q->samples >= LEAST_SAMPLES && w->made ? find(w, q) : NULL;

	if (c) {
		answer->known = true;
		answer->uid = c->uid;
		name_by(w, c, q, answer);
	}
	if (w->ask->stop)
		/* as in analysis: the spool file is taken in whole the next time */
		_exit(0);
}
