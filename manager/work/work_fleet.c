/* work_fleet.c - what this machine gives to a fleet, and when it asks for the fleet's
 *
 * An exchange is one request and one answer (lib/fleetfile.h), carried by the role `share`; the
 * Manager goes on meanwhile.  What leaves the machine is in store_epoch_each(): digests of
 * originals, and counts by weeks, of files that packages delivered or that the policy names; no
 * path, no user, no argument, no other time.
 *
 * Tested by tests/unit/manager/work/test_fleet.c and tests/e2e/share.sh.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/digest.h"
#include "lib/err.h"
#include "lib/fleetfile.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "manager/samples/attribute.h"
#include "manager/work/fleetwork.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/rule.h"
#include "policy/share.h"

enum {
	EPOCH_S = 604800, REQUEST_MAX = 32 << 20,
	RETRY_FIRST_MS = 60000,		/* doubled each time, up to share.every_h */
	SOON_MS = 10000,		/* when not all fitted into one */
};

uint32_t work_fleet_epoch(void)
{
	time_t now = time(NULL);

	return now > 0 ? (uint32_t)(now / EPOCH_S) : 0;
}

static bool shares(const struct work *w)
{
	return w->policy->share_conninfo && w->policy->share_conninfo[0];
}

/* The store's number with the system's, so that a machine which was copied with its store
 * counts as another one, once it has a number of its own.  Neither can be told from what comes
 * of it. */
int work_fleet_giver(struct work *w, struct store_giver *g, struct err *err)
{
	const char *class = w->policy->share_class ? w->policy->share_class : "";
	uint8_t id[32];			/* hex digits, if the system has any */
	char path[PATH_MAX];
	ssize_t n = 0;

	*g = (struct store_giver){ .epoch = work_fleet_epoch() };
	(void)snprintf(g->class, sizeof(g->class), "%s", class);
	(void)snprintf(path, sizeof(path), "%s/etc/machine-id", w->options->host);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, id, sizeof(id));
		close(fd);
	}
	return store_giver(w->store, (struct bytes){ id, n > 0 ? (size_t)n : 0 },
			   w->policy->share_conninfo, g, err);
}

/* --- what is given --- */

/* A package delivered the file, and nobody but root can have changed it since. */
static bool is_delivered(const struct work *w, const struct store_module *m)
{
	return m->owner == 0 && rule_in_package(w->options->host, "*", m->path);
}

static bool may_give(struct work *w, const struct store_module *m)
{
	struct policy policy;
	const struct policy_rule *rule = work_rule(w, m->path, &policy);

	return !(rule && rule->refuse) && policy.share_give &&
	       policy_allows(w->policy, m->path) &&
	       (policy_sends(w->policy, m->path) || is_delivered(w, m));
}

/* Just now, by what is known with these samples. */
static bool is_of_many(struct work *w, const struct store_module *m)
{
	struct policy policy;
	struct share s;

	(void)work_rule(w, m->path, &policy);
	policy.share_agreed.n = 0;	/* to layouts, and not that others are told */
	return work_share(w, m, &policy, &s, NULL) == 0 && s.enough;
}

/* Asked once for each module as long as policy and file are the same: dpkg's lists are long. */
static bool gives(struct work *w, const struct store_module *m)
{
	struct work_fleet *f = &w->fleet;

	for (uint32_t i = 0; i < f->ngives; i++)
		if (f->gives[i].module == m->id &&
		    digest_equal(&f->gives[i].original, &m->original))
			return f->gives[i].yes;
	f->gives = memory_grow(f->gives, f->ngives + (size_t)1, sizeof(*f->gives));
	f->gives[f->ngives] = (struct work_fleet_gives){ m->id, m->original, may_give(w, m) };
	return f->gives[f->ngives++].yes;
}

bool work_fleet_gives_counts(struct work *w, const struct store_module *m)
{
	struct policy policy;

	(void)work_rule(w, m->path, &policy);
	return shares(w) && policy.share_layouts <= 1 && !m->refusal[0] && gives(w, m);
}

static int keep_module(struct work *w, const struct store_giver *g,
		       const struct attribute_module *a, struct err *err)
{
	struct store_module m;
	int rc = store_module_by_id(w->store, (int64_t)a->module, &m, err);

	if (rc <= 0 || m.refusal[0] || !gives(w, &m) || !is_of_many(w, &m))
		return rc < 0 ? -1 : 0;
	return store_epoch_add(w->store, g, &m.original, a, err);
}

void work_fleet_seen(struct work *w, const struct attribution *a)
{
	uint64_t most = (uint64_t)w->policy->share_queue_mib << 20;
	struct store_giver g;
	struct err err = { 0 };
	uint32_t dropped = 0;

	if (!shares(w))
		return;
	if (store_begin(w->store, &err) < 0) {
		role_log_err(&err);
		return;
	}
	int rc = work_fleet_giver(w, &g, &err);
	for (uint32_t i = 0; i < a->nmodule && rc == 0; i++)
		rc = keep_module(w, &g, &a->module[i], &err);
	if (rc == 0)
		rc = store_epoch_prune(w->store, &g, most, &dropped, &err);
	if (rc < 0)
		store_rollback(w->store);
	if (rc < 0 || store_commit(w->store, &err) < 0)
		role_log_err(&err);
	w->fleet.dropped += dropped;
	if (dropped)
		role_warn("share: the queue is full (share.queue_mib): %u of the oldest were "
			  "dropped before they were given", dropped);
}

/* --- the request: of one giver, whose number and class are its own --- */

struct waiting {
	struct digest original;
	bool samples, counts;		/* may be given, as things are now */
};

struct building {
	struct work *w;
	struct arena *a;
	struct fleet_request q;
	size_t bytes;
	struct waiting *waiting;	/* by digest */
	uint32_t nwaiting;
};

static uint64_t clipped(uint64_t count)
{
	return count > FLEET_COUNT_MAX ? FLEET_COUNT_MAX : count;
}

static void fill(const struct store_profile *p, struct arena *a, struct fleet_evidence *e)
{
	const struct edgecounts *n = &p->edges;

	e->block = arena_alloc(a, sizeof(*e->block) * (p->ncount + (size_t)1));
	e->edge = arena_alloc(a, sizeof(*e->edge) * (n->nedge + (size_t)1));
	e->call = arena_alloc(a, sizeof(*e->call) * (n->ncall + (size_t)1));
	for (uint32_t i = 0; i < p->ncount; i++)
		if (p->count[i].samples)
			e->block[e->nblock++] = (struct fleet_block){
				p->count[i].block, clipped(p->count[i].samples) };
	for (uint32_t i = 0; i < n->nedge; i++)
		if (n->edge[i].count)
			e->edge[e->nedge++] = (struct fleet_edge){
				n->edge[i].from, n->edge[i].to, clipped(n->edge[i].count) };
	for (uint32_t i = 0; i < n->ncall; i++)
		if (n->call[i].count)
			e->call[e->ncall++] = (struct fleet_call){
				n->call[i].block, n->call[i].at, n->call[i].target,
				clipped(n->call[i].count) };
}

static int by_digest(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct digest));
}

static struct waiting *find_waiting(const struct building *b, const struct digest *original)
{
	return b->nwaiting ? bsearch(original, b->waiting, b->nwaiting, sizeof(*b->waiting),
				     by_digest) : NULL;
}

static bool add_waiting(void *ctx, const struct store_epoch *row)
{
	struct building *b = ctx;

	b->waiting = memory_grow(b->waiting, b->nwaiting + (size_t)1, sizeof(*b->waiting));
	b->waiting[b->nwaiting++] = (struct waiting){ .original = row->original };
	return true;
}

static bool judge_module(void *ctx, const struct store_module *m)
{
	struct building *b = ctx;
	struct waiting *first = find_waiting(b, &m->original), *last = b->waiting + b->nwaiting;

	if (!first || m->refusal[0] || !gives(b->w, m) || !is_of_many(b->w, m))
		return true;
	while (first > b->waiting && digest_equal(&first[-1].original, &m->original))
		first--;
	for (; first < last && digest_equal(&first->original, &m->original); first++) {
		first->samples = true;
		first->counts |= work_fleet_gives_counts(b->w, m);
	}
	return true;
}

static bool is_of_giver(const struct fleet_request *q, const struct store_epoch *row)
{
	return memcmp(q->machine, row->machine, sizeof(q->machine)) == 0 &&
	       strcmp(q->class, row->class) == 0;
}

/* The first that can be given says who gives this time. */
static bool add_row(void *ctx, const struct store_epoch *row)
{
	struct building *b = ctx;
	struct work_fleet *f = &b->w->fleet;
	struct fleet_evidence *e = &b->q.give[b->q.ngive];
	const struct waiting *waiting = find_waiting(b, &row->original);
	const char *why;

	if (!waiting || !(row->kind == FLEET_SAMPLES ? waiting->samples : waiting->counts) ||
	    (b->q.ngive && !is_of_giver(&b->q, row)))
		return true;
	*e = (struct fleet_evidence){ .digest = row->original,
				      .kind = (enum fleet_kind)row->kind,
				      .epoch = row->epoch, .sequence = row->sequence };
	fill(&row->profile, b->a, e);
	if (row->kind > FLEET_EXECUTIONS || !fleet_evidence_is_good(e, &why))
		return true;
	memcpy(b->q.machine, row->machine, sizeof(b->q.machine));
	memcpy(b->q.class, row->class, sizeof(b->q.class));
	b->bytes += fleet_evidence_bytes(e);
	f->given[f->ngiven++] = (struct work_fleet_given){ row->original, row->kind,
							   row->epoch, row->sequence };
	b->q.ngive++;
	return b->bytes < REQUEST_MAX && b->q.ngive < FLEET_FILES;
}

/* What waits was to be given when it came: that the policy wants it otherwise now, or that
 * there are not so many users any more, holds for it as well. */
static int add_rows(struct building *b, struct err *err)
{
	int rc = store_epoch_each(b->w->store, add_waiting, b, err);

	if (b->nwaiting)
		qsort(b->waiting, b->nwaiting, sizeof(*b->waiting), by_digest);
	if (rc == 0)
		rc = store_module_each(b->w->store, judge_module, b, err);
	if (rc == 0)
		rc = store_epoch_each(b->w->store, add_row, b, err);
	free(b->waiting);
	return rc;
}

static bool add_wish(void *ctx, const struct store_module *m)
{
	struct building *b = ctx;
	struct policy policy;

	(void)work_rule(b->w, m->path, &policy);
	if (!m->refusal[0] && policy.share_take && policy_allows(b->w->policy, m->path) &&
	    store_table_has(b->w->store, &m->original, NULL) > 0)
		b->q.want[b->q.nwant++] = m->original;
	return b->q.nwant < FLEET_FILES;
}

/* Each once, for a file may be at two paths.  Only that is taken of the answer. */
static void remember_wishes(struct work_fleet *f, struct fleet_request *q)
{
	uint32_t n = 0;

	qsort(q->want, q->nwant, sizeof(*q->want), by_digest);
	free(f->wanted);
	f->wanted = memory_new(q->nwant, sizeof(*f->wanted));
	for (uint32_t i = 0; i < q->nwant; i++) {
		if (n && digest_equal(&q->want[n - 1], &q->want[i]))
			continue;
		f->wanted[n] = (struct work_fleet_wanted){ .original = q->want[i] };
		q->want[n++] = q->want[i];
	}
	q->nwant = f->nwanted = n;
}

struct work_fleet_wanted *work_fleet_wanted(const struct work_fleet *f,
					    const struct digest *original)
{
	return f->nwanted ? bsearch(original, f->wanted, f->nwanted, sizeof(*f->wanted),
				    by_digest) : NULL;
}

static int build(struct work *w, struct arena *a, struct wr *out, struct err *err)
{
	struct building b = { .w = w, .a = a };
	struct work_fleet *f = &w->fleet;
	struct store_giver g;

	b.q.give = arena_alloc(a, sizeof(*b.q.give) * FLEET_FILES);
	b.q.want = arena_alloc(a, sizeof(*b.q.want) * FLEET_FILES);
	free(f->given);
	f->given = memory_new(FLEET_FILES, sizeof(*f->given));
	f->ngiven = 0;
	if (work_fleet_giver(w, &g, err) < 0 || add_rows(&b, err) < 0)
		return -1;
	if (!b.q.ngive) {
		memcpy(b.q.machine, g.machine, sizeof(b.q.machine));
		memcpy(b.q.class, g.class, sizeof(b.q.class));
	}
	/* of the class that it is of now, what the fleet has is asked for */
	f->asks = strcmp(b.q.class, g.class) == 0;
	if (f->asks && store_module_each(w->store, add_wish, &b, err) < 0)
		return -1;
	memcpy(f->machine, b.q.machine, sizeof(f->machine));
	memcpy(f->class, b.q.class, sizeof(f->class));
	remember_wishes(f, &b.q);
	fleet_request_write(&b.q, out);
	return 0;
}

static int begin(struct work *w, struct err *err)
{
	struct arena *a = arena_new();
	struct wr request = { 0 };
	int fd = -1, rc = build(w, a, &request, err);

	if (rc == 0) {
		fd = io_memory_file(wr_bytes(&request), err);
		rc = fd < 0 ? -1 : ask_share(w->ask, w->policy->share_conninfo, fd, err);
	}
	if (fd >= 0)
		close(fd);
	wr_free(&request);
	arena_free(a);
	w->fleet.under_way = rc == 0;
	return rc;
}

/* --- when --- */

void work_fleet_plan(struct work *w, bool succeeded, bool more)
{
	struct work_fleet *f = &w->fleet;
	uint64_t every_ms = (uint64_t)w->policy->share_every_h * 3600000;

	if (succeeded) {
		/* Not all machines of a fleet at the same minute. */
		f->retry_ms = 0;
		f->next_ms = w->now_ms() +
			     (more ? SOON_MS : every_ms - (uint64_t)random() % (every_ms / 8));
		return;
	}
	f->retry_ms = f->retry_ms ? 2 * f->retry_ms : RETRY_FIRST_MS;
	if (f->retry_ms > every_ms)
		f->retry_ms = every_ms;
	f->next_ms = w->now_ms() + f->retry_ms;
}

/* At the start: as long after the last one as it would have been. */
static int remember(struct work *w, struct err *err)
{
	uint64_t last_ns, now_ns = store_now_ns();
	uint64_t every_ms = (uint64_t)w->policy->share_every_h * 3600000;

	if (store_exchanged(w->store, &last_ns, err) < 0)
		return -1;
	uint64_t since_ms = now_ns > last_ns ? (now_ns - last_ns) / 1000000 : 0;
	w->fleet.known = true;
	w->fleet.next_ms = w->now_ms() + (since_ms < every_ms ? every_ms - since_ms : 0);
	return 0;
}

void work_fleet(struct work *w)
{
	struct work_fleet *f = &w->fleet;
	struct err err = { 0 };

	if (!shares(w) || f->under_way)
		return;
	if ((!f->known && remember(w, &err) < 0) ||
	    (w->now_ms() >= f->next_ms && begin(w, &err) < 0)) {
		role_log_err(&err);
		work_fleet_plan(w, false, false);
	}
}

int work_fleet_now(struct work *w, struct err *err)
{
	if (!shares(w))
		return err_set(err, ERR_INPUT, "nothing is shared: the policy's share.conninfo "
			       "names no database");
	w->fleet.known = true;
	return w->fleet.under_way ? 0 : begin(w, err);
}

int work_apply_fleet(struct work *w, struct err *err)
{
	free(w->fleet.gives);
	w->fleet.gives = NULL;
	w->fleet.ngives = 0;
	work_fleet_is_new(&w->fleet);
	w->fleet.known = false;
	w->fleet.retry_ms = 0;
	return shares(w) ? 0 : store_fleet_clear(w->store, err);
}

void work_fleet_free(struct work *w)
{
	work_fleet_is_new(&w->fleet);
	free(w->fleet.gives);
	free(w->fleet.given);
	free(w->fleet.wanted);
}
