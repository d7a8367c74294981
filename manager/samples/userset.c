/* userset.c - whose samples they are; see userset.h
 *
 * A process that has samples gets a number in who[]; what is known of it is entered there when
 * it ends or at the flush, so that its samples need not be looked through again.  who[0] is
 * nobody's.
 *
 * Tested by tests/unit/manager/samples/test_userset.c.
 */
#include "manager/samples/userset.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "manager/samples/usersums.h"
#include "monitor/spool.h"

enum { PROCESSES = 1 << 14, WHO_MAX = 1 << 14, COUNTS = 1 << 15 };	/* powers of 2 */

struct process {
	uint32_t pid;			/* 0: none */
	uint32_t uid;			/* USERSET_UNKNOWN: not known */
	uint32_t who;			/* 0: no samples in this file */
	bool asked_for;			/* it started others */
	uint64_t since_ns;		/* it was there by then */
};

struct count {
	uint32_t who, file, samples;	/* samples 0: free */
};

struct userset {
	struct userset_source source;
	struct process process[PROCESSES];
	uint32_t nprocess, nwho, ncount, nuse;
	uint32_t who[WHO_MAX];		/* uid */
	struct count count[COUNTS];
	struct userset_use *use;
	uint32_t lost;			/* samples beyond the limits, which are nobody's */
};

static int nobody(void *ctx, uint32_t pid, uint64_t before_ns, uint32_t *uid)
{
	(void)ctx, (void)pid, (void)before_ns, (void)uid;
	return 0;
}

struct userset *userset_new(const struct userset_source *source)
{
	struct userset *u = memory_new(1, sizeof(*u));

	u->source = source ? *source : (struct userset_source){ nobody, NULL };
	userset_clear(u);
	return u;
}

void userset_free(struct userset *u)
{
	if (!u)
		return;
	free(u->use);
	free(u);
}

void userset_clear(struct userset *u)
{
	free(u->use);
	u->use = NULL;
	u->nuse = 0;
	u->nwho = 1;
	u->who[0] = USERSET_UNKNOWN;
	if (u->ncount)
		memset(u->count, 0, sizeof(u->count));
	u->ncount = u->lost = 0;
	for (uint32_t i = 0; i < PROCESSES; i++)
		u->process[i].who = 0;
}

void userset_forget(struct userset *u)
{
	memset(u->process, 0, sizeof(u->process));
	u->nprocess = 0;
}

/* --- processes: a hash table without gaps between those of one slot --- */

static uint32_t slot_of(uint32_t pid)
{
	return pid * 2654435761u & (PROCESSES - 1);
}

static uint32_t find(const struct userset *u, uint32_t pid)
{
	uint32_t i = slot_of(pid);

	while (u->process[i].pid && u->process[i].pid != pid)
		i = (i + 1) & (PROCESSES - 1);
	return i;
}

/* NULL when there are too many. */
static struct process *enter(struct userset *u, uint32_t pid, uint64_t time_ns)
{
	struct process *p = &u->process[find(u, pid)];

	if (p->pid)
		return p;
	if (!pid || u->nprocess == PROCESSES / 2)
		return NULL;
	u->nprocess++;
	*p = (struct process){ .pid = pid, .uid = USERSET_UNKNOWN, .since_ns = time_ns };
	return p;
}

static void settle(struct userset *u, const struct process *p)
{
	if (p->who)
		u->who[p->who] = p->uid;
}

static void leave(struct userset *u, uint32_t pid)
{
	uint32_t i = find(u, pid);

	if (!u->process[i].pid)
		return;
	settle(u, &u->process[i]);
	u->nprocess--;
	u->process[i].pid = 0;
	/* What stands behind it may belong before the gap. */
	for (uint32_t k = (i + 1) & (PROCESSES - 1); u->process[k].pid;
	     k = (k + 1) & (PROCESSES - 1)) {
		struct process moved = u->process[k];

		u->process[k].pid = 0;
		u->process[find(u, moved.pid)] = moved;
	}
}

static void take_fork(struct userset *u, const struct spool_event *ev)
{
	uint32_t uid = USERSET_UNKNOWN;

	if (ev->pid == ev->fork.parent_pid)
		return;				/* a thread */
	leave(u, ev->pid);			/* whose end was lost */
	struct process *parent = enter(u, ev->fork.parent_pid, ev->time_ns);
	if (parent) {
		parent->asked_for = true;
		if (parent->uid != USERSET_SYSTEM)
			uid = parent->uid;
	}
	struct process *p = enter(u, ev->pid, ev->time_ns);
	if (p)
		p->uid = uid;
}

void userset_event(struct userset *u, const struct spool_event *ev)
{
	if (ev->kind == SPOOL_FORK)
		take_fork(u, ev);
	else if (ev->kind == SPOOL_EXIT && ev->pid == ev->tid)
		leave(u, ev->pid);
}

/* --- samples --- */

static uint32_t who_of(struct userset *u, struct process *p)
{
	if (p && !p->who && u->nwho < WHO_MAX) {
		u->who[u->nwho] = p->uid;
		p->who = u->nwho++;
	}
	return p ? p->who : 0;
}

void userset_sample(struct userset *u, uint32_t pid, uint32_t file, uint64_t time_ns)
{
	uint32_t who = who_of(u, enter(u, pid, time_ns));
	uint32_t i = (who * 2654435761u ^ file * 2246822519u) & (COUNTS - 1);

	while (u->count[i].samples && (u->count[i].who != who || u->count[i].file != file))
		i = (i + 1) & (COUNTS - 1);
	if (!u->count[i].samples) {
		/* The last quarter is for samples of nobody, of which each file has one. */
		if (u->ncount >= COUNTS / 4 * 3 ||
		    (who && u->ncount >= COUNTS / 2)) {
			u->lost++;
			return;
		}
		u->ncount++;
		u->count[i] = (struct count){ who, file, 0 };
	}
	u->count[i].samples++;
}

/* --- summing up --- */

static void ask(struct userset *u)
{
	uint32_t gone[256], ngone = 0;

	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct process *p = &u->process[i];
		uint32_t uid;

		/* One that was asked about may be another user's by now, as after a login. */
		if (!p->pid || (p->uid != USERSET_UNKNOWN && !p->who && !p->asked_for))
			continue;
		int rc = u->source.whose(u->source.ctx, p->pid, p->since_ns, &uid);
		if (rc > 0)
			p->uid = uid;
		else if (rc < 0 && ngone < sizeof(gone) / sizeof(gone[0]))
			gone[ngone++] = p->pid;
		p->asked_for = false;
		settle(u, p);
	}
	for (uint32_t i = 0; i < ngone; i++)
		leave(u, gone[i]);
}

static int by_file_and_user(const void *a, const void *b)
{
	const struct userset_use *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->uid > y->uid) - (x->uid < y->uid);
}

void userset_flush(struct userset *u)
{
	uint32_t n = 0, k = 0;

	ask(u);
	free(u->use);
	u->use = memory_new(u->ncount + 1, sizeof(*u->use));
	for (uint32_t i = 0; i < COUNTS; i++)
		if (u->count[i].samples)
			u->use[n++] = (struct userset_use){ u->count[i].file,
							    u->who[u->count[i].who],
							    u->count[i].samples };
	if (n)
		qsort(u->use, n, sizeof(*u->use), by_file_and_user);
	for (uint32_t i = 0; i < n; i++)
		if (k && u->use[k - 1].file == u->use[i].file &&
		    u->use[k - 1].uid == u->use[i].uid)
			u->use[k - 1].samples += u->use[i].samples;
		else
			u->use[k++] = u->use[i];
	u->nuse = k;
}

void userset_sum(const struct userset *u, struct usersums *out)
{
	for (uint32_t i = 0; i < u->nuse; i++)
		usersums_add(out, u->use[i].uid, u->use[i].samples);
	if (u->lost)
		usersums_add(out, USERSET_UNKNOWN, u->lost);
}

const struct userset_use *userset_of(const struct userset *u, uint32_t file, uint32_t *n)
{
	uint32_t lo = 0, hi = u->nuse, end;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->use[mid].file < file)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < u->nuse && u->use[end].file == file; end++)
		;
	*n = end - lo;
	return u->use + lo;
}
