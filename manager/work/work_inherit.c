/* work_inherit.c - what is done in idle times so that a version of a module inherits from the
 * one before
 *
 *	while it is there	a confined job makes its signature, once there are samples
 *	when it is replaced	profile and signature are set aside (work_inherited.c)
 *	after that		a confined job makes the new version's profile of both, whose
 *				places are checked against the new version's block table
 *	as samples come in	they displace it; then it is forgotten
 *
 * One job in an idle time; it makes room for others.  What a job refuses is not tried again,
 * what it could not do is, a few times.  CPU time counts as that of generations does.
 *
 * Tested by tests/unit/manager/work/test_inherited.c and tests/e2e/inherit.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/profile.h"
#include "manager/store/module.h"
#include "manager/work/work.h"
#include "policy/policy.h"

enum { MOST_TRIES = 3 };
static const double least_weight = 1.0 / 16;	/* four half-lives */

static bool gave_way(const struct work *w)
{
	return w->ask->yield.done || w->ask->stop;
}

/* Calls f for the modules as long as it has nothing to do for them, 0; frees the array. */
static int first_of(struct work *w, int64_t *module, uint32_t n,
		    int (*f)(struct work *w, int64_t module, struct err *err), struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = f(w, module[i], err);
	free(module);
	return rc;
}

/* --- signatures --- */

static int make_signature(struct work *w, const struct store_module *m, const struct policy *p,
			  struct wr *out, struct err *err)
{
	struct ask_limits limits = work_limits(p);
	int file = work_open_pristine(w, m, err), fd;
	struct ask_job job = { .kind = JOB_SIGNATURE, .nin = 1, .in = { file } };

	if (file < 0)
		return -1;
	work_charge(w, 0, 0, 0);		/* what others have left */
	int rc = ask_run_job(w->ask, &job, &limits, &fd, 1, err);
	work_charge(w, m->id, m->owner, 0);
	close(file);
	if (rc < 0)
		return -1;
	rc = work_read(fd, out, err);
	close(fd);
	return rc;
}

/* 1 done, or tried in vain; 0 not its turn; -1 */
static int sign(struct work *w, int64_t module, struct err *err)
{
	struct store_module m;
	struct policy policy;
	struct wr text = { 0 };
	struct err why;
	int rc = store_module_by_id(w->store, module, &m, err);

	if (rc <= 0 || !work_inherits(w, m.path, &policy))
		return rc < 0 ? -1 : 0;
	rc = work_budget_left(w, m.owner, 0, w->policy, err);
	if (rc <= 0)
		return rc;
	rc = make_signature(w, &m, &policy, &text, &why);
	if (rc < 0 && gave_way(w))
		return err_set(err, why.kind, "%s", why.text);
	if (rc < 0)
		role_log("%s: no signature: %s", m.path, why.text);
	rc = store_signature_put(w->store, &m.original,
				 rc < 0 ? (struct bytes){ NULL, 0 } : wr_bytes(&text), err);
	if (rc == 0)
		role_log("%s: no room for its signature of %zu bytes", m.path, text.n);
	else if (text.n)
		role_log("%s: a signature of it is kept, of %zu bytes", m.path, text.n);
	wr_free(&text);
	return rc < 0 ? -1 : 1;
}

static int sign_next(struct work *w, struct err *err)
{
	double least = decide_inherit_least(policy_least_samples(w->policy));
	int64_t *module = NULL;
	uint32_t n;

	if (store_signature_lacking(w->store, least, &module, &n, err) < 0)
		return -1;
	return first_of(w, module, n, sign, err);
}

/* --- inheriting --- */

struct heir {
	struct work *w;
	struct store_module m;		/* the new version */
	struct policy policy;		/* for it */
	struct store_legacy from;
	struct blocktable table;
	struct store_inherited got;
};

/* "inherited", headings, and "FILE FUNCTIONS MATCHED WEIGHT MATCHED_PCT ...", as morph-edit
 * prints it; ends it with a NUL. */
static int read_figures(struct wr *text, struct store_inherited *out, struct err *err)
{
	double weight, pct;
	uint32_t n, matched;

	wr_u8(text, 0);
	if (sscanf((const char *)text->p,
		   "inherited\n%*[^\n]\n%*s %" SCNu32 " %" SCNu32 " %lf %lf", &n, &matched,
		   &weight, &pct) != 4)
		return err_set(err, ERR_INPUT, "how much was recognised is not told");
	if (!(pct >= 0 && pct <= 100) || matched > n)
		return err_set(err, ERR_INPUT, "how much was recognised is told wrongly");
	out->functions = n;
	out->recognised = matched;
	out->matched = pct / 100;
	return 0;
}

static int by_block(const void *a, const void *b)
{
	const struct store_count *x = a, *y = b;

	return (x->block > y->block) - (x->block < y->block);
}

/* The job's profile in blocks of the table; what is in none is left out.  Executions become as
 * many samples as they take instructions. */
static int take_profile(const struct profile *p, const struct blocktable *t,
			struct store_profile *out, struct err *err)
{
	const double most = (double)(UINT64_MAX >> 16);
	bool executions = profile_has_executions(p);

	out->count = memory_new(p->nblock + (size_t)1, sizeof(*out->count));
	for (uint32_t i = 0; i < p->nblock; i++) {
		uint32_t b = blocktable_find(t, p->block[i].addr);
		if (b == UINT32_MAX || t->base + t->block[b].off != p->block[i].addr)
			continue;
		double samples = p->block[i].samples * STORE_UNIT *
				 (executions ? t->block[b].ninsn : 1);
		if (samples >= 0.5)
			out->count[out->ncount++] = (struct store_count){
				b, (uint64_t)llround(fmin(samples, most)) };
	}
	if (out->ncount)
		qsort(out->count, out->ncount, sizeof(*out->count), by_block);
	for (uint32_t i = 0; i < p->nedge; i++)
		p->edge[i].count = fmin(p->edge[i].count * STORE_UNIT, most);
	for (uint32_t i = 0; i < p->ncall; i++)
		p->call[i].count = fmin(p->call[i].count * STORE_UNIT, most);
	return edgecounts_of(p, t, &out->edges, err);
}

static int read_profile(const struct heir *h, struct bytes text, struct store_profile *out,
			struct err *err)
{
	struct arena *a = arena_new();
	struct profile p;
	int rc = profile_read(text, a, &p, err);

	if (rc == 0)
		rc = take_profile(&p, &h->table, out, err);
	arena_free(a);
	if (rc < 0)
		store_profile_free(out);
	return rc;
}

/* The job, for samples or exact counts: *profile and the figures of *told. */
static int run(struct heir *h, const struct wr *old, struct store_profile *profile,
	       struct store_inherited *told, struct err *err)
{
	struct ask_limits limits = work_limits(&h->policy);
	int in[3] = { -1, -1, -1 }, out[2] = { -1, -1 }, rc = -1;
	struct wr text = { 0 }, figures = { 0 };

	in[0] = work_open_pristine(h->w, &h->m, err);
	in[1] = in[0] < 0 ? -1 : io_memory_file(wr_bytes(&h->from.signature), err);
	in[2] = in[1] < 0 ? -1 : io_memory_file(wr_bytes(old), err);
	struct ask_job job = { .kind = JOB_INHERIT, .nin = 3, .in = { in[0], in[1], in[2] } };
	if (in[2] < 0)
		err->kind = ERR_SYS;		/* of no job: another time may mend it */
	else
		rc = ask_run_job(h->w->ask, &job, &limits, out, 2, err);
	if (rc == 0 && (work_read(out[0], &text, err) < 0 ||
			work_read(out[1], &figures, err) < 0 ||
			read_figures(&figures, told, err) < 0 ||
			read_profile(h, wr_bytes(&text), profile, err) < 0))
		rc = -1;
	const int fd[] = { in[0], in[1], in[2], out[0], out[1] };
	for (int i = 0; i < 5; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	wr_free(&text);
	wr_free(&figures);
	return rc;
}

/* Exact counts tell more than samples; together, as much again as the samples. */
static int add_counts(struct heir *h, struct err *err)
{
	struct store_profile counts = { 0 };
	struct store_inherited told;

	if (!h->from.counted.n || h->policy.share_layouts > 1)
		return 0;
	int rc = run(h, &h->from.counted, &counts, &told, err);
	double all = store_profile_samples(&counts);
	if (rc == 0 && all > 0 && 100 * told.matched >= h->policy.inherit_least_pct) {
		store_profile_mix(&h->got.profile, &counts,
				  store_profile_samples(&h->got.profile) / all);
		h->got.counted = true;
	}
	store_profile_free(&counts);
	return rc;
}

static int make(struct heir *h, struct err *err)
{
	const struct store_legacy *l = &h->from;

	if (work_table(h->w, &h->m, &h->table, err) < 0)
		return -1;
	work_charge(h->w, 0, 0, 0);
	int rc = run(h, &l->profile, &h->got.profile, &h->got, err);
	if (rc == 0)
		rc = add_counts(h, err);
	work_charge(h->w, h->m.id, h->m.owner, 0);
	h->got.original = h->m.original;
	h->got.from = l->original;
	h->got.samples = l->samples;
	h->got.matched *= l->known;
	h->got.unseen = l->unseen;
	h->got.weight = 1;
	h->got.whose = l->whose;		/* borrowed: see heir_free() */
	h->got.nwhose = l->nwhose;
	return rc;
}

static void heir_free(struct heir *h)
{
	h->got.whose = NULL;
	store_inherited_free(&h->got);
	store_legacy_free(&h->from);
	blocktable_free(&h->table);
	free(h);
}

static int keep(struct heir *h, struct err *err)
{
	struct store *s = h->w->store;

	if (store_begin(s, err) < 0)
		return -1;
	if (store_inherited_put(s, h->m.id, &h->got, err) < 0 ||
	    store_legacy_delete(s, h->m.id, err) < 0) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

static void tell(const struct heir *h)
{
	const struct store_inherited *i = &h->got;
	unsigned least = h->policy.inherit_least_pct;

	if (100 * i->matched >= least)
		work_history(h->w, h->m.path, "inherited", "%.0f samples%s of the version "
			     "before, %.0f %% recognised; %" PRIu32 " of %" PRIu32
			     " functions", i->samples, i->counted ? " and exact counts" : "",
			     100 * i->matched, i->recognised, i->functions);
	else
		work_history(h->w, h->m.path, "not inherited", "of %.0f samples of the version "
			     "before %.0f %% were recognised, the policy wants %u %% "
			     "(profile.inherit_least_pct); %" PRIu32 " of %" PRIu32
			     " functions", i->samples, 100 * i->matched, least, i->recognised,
			     i->functions);
}

/* It will not become better by being tried again. */
static int give_up(struct work *w, const struct store_module *m, const char *why,
		   struct err *err)
{
	work_history(w, m->path, "not inherited", "%s", why);
	return store_legacy_delete(w->store, m->id, err) < 0 ? -1 : 1;
}

/* The new version is analysed, its turn has come: 1 done, or given up; -1. */
static int inherit(struct heir *h, struct err *err)
{
	struct work *w = h->w;
	struct err why;
	int rc = modules_analyze(w->modules, &h->m, &why);

	if (rc == 0)
		return give_up(w, &h->m, h->m.refusal, err);
	if (rc > 0 && store_legacy_try(w->store, h->m.id, h->from.tries + 1, err) < 0)
		return -1;
	if (rc > 0 && make(h, &why) == 0) {
		if (keep(h, err) < 0)
			return -1;
		tell(h);
		return 1;
	}
	if (gave_way(w)) {
		if (store_legacy_try(w->store, h->m.id, h->from.tries, err) == 0)
			err_set(err, why.kind, "%s", why.text);
		return -1;
	}
	if (rc > 0 && (why.kind == ERR_REFUSED || why.kind == ERR_INPUT ||
		       h->from.tries + 1 >= MOST_TRIES))
		return give_up(w, &h->m, why.text, err);
	return err_set(err, why.kind, "'%s': nothing inherited yet: %s", h->m.path, why.text);
}

/* 1 done, or given up; 0 not its turn; -1 */
static int consider(struct work *w, int64_t module, struct err *err)
{
	struct heir *h = memory_new(1, sizeof(*h));
	struct err why;

	h->w = w;
	int rc = store_module_by_id(w->store, module, &h->m, err);
	if (rc == 1 && !work_inherits(w, h->m.path, &h->policy))
		rc = store_legacy_delete(w->store, module, err);
	else if (rc == 1)
		rc = work_budget_left(w, h->m.owner, 0, w->policy, err);
	if (rc == 1) {
		rc = store_legacy_get(w->store, module, &h->from, &why);
		rc = rc < 0 ? give_up(w, &h->m, why.text, err) : rc > 0 ? inherit(h, err) : 0;
	}
	heir_free(h);
	return rc;
}

static int inherit_next(struct work *w, struct err *err)
{
	int64_t *module = NULL;
	uint32_t n;

	if (store_legacy_ids(w->store, &module, &n, err) < 0)
		return -1;
	return first_of(w, module, n, consider, err);
}

/* --- what has been displaced --- */

static int forget(struct work *w, int64_t module, struct err *err)
{
	struct store_inherited i = { 0 };
	struct store_module m;
	struct policy policy;
	int rc = store_module_by_id(w->store, module, &m, err);

	if (rc > 0)
		rc = store_inherited_get(w->store, module, &m.original, &i, err);
	bool old = rc > 0 && i.weight < least_weight;
	store_inherited_free(&i);
	if (rc < 0 && err->kind == ERR_INPUT) {		/* nothing will mend it */
		role_log("%s", err->text);
		return store_inherited_delete(w->store, module, err);
	}
	if (rc < 0)
		return -1;
	if (rc > 0 && !old && work_inherits(w, m.path, &policy) &&
	    m.samples < policy.min_samples)
		return 0;
	if (rc > 0)
		role_log("%s: what it has inherited is forgotten: %s", m.path,
			 old ? "it is old" : "there are enough samples of its own, or the "
			 "policy does not want it");
	return store_inherited_delete(w->store, module, err);
}

static int forget_displaced(struct work *w, struct err *err)
{
	int64_t *module = NULL;
	uint32_t n;

	if (store_inherited_ids(w->store, &module, &n, err) < 0)
		return -1;
	return first_of(w, module, n, forget, err);
}

void work_inherit(struct work *w)
{
	struct err err = { 0 };

	if (!policy_inherits(w->policy))
		return;
	w->ask->yields = YIELD_ENDS;
	w->ask->yield = (struct yield){ 0 };	/* of a question before these */
	int rc = forget_displaced(w, &err);
	if (rc == 0)
		rc = inherit_next(w, &err);
	if (rc == 0)
		rc = sign_next(w, &err);
	if (rc < 0)
		role_log("%s", err.text);
}

int work_apply_inherit(struct work *w, struct err *err)
{
	return policy_inherits(w->policy) ? 0 : store_inherit_clear(w->store, err);
}
