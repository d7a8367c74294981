/* work_fleetanswer.c - what came of an exchange with a fleet's database
 *
 * The answer was made by the one process that talks to a network, of what a server said: a
 * stranger's.  Evidence is kept only if it was asked for, and of it the blocks, edges and calls
 * that are in the block table of the original, which was made here: a few liars could put
 * others beside what all have.  What does not fit is left out, counted and told.
 *
 * Tested by tests/unit/manager/work/test_fleet.c and tests/e2e/share.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/fleetfile.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "manager/work/fleetwork.h"
#include "manager/work/work.h"
#include "policy/policy.h"

/* Of the text's bytes, for what is kept of each kind. */
enum { SHARE_OF_TEXT = 20, LEAST_BYTES = 256 };

/* Arrays of its own, of the places that the file has; false: some it has not. */
static bool to_profile(const struct fleet_evidence *e, const struct blocktable *t,
		       struct store_profile *p)
{
	struct edgecounts *n = &p->edges;

	*p = (struct store_profile){ 0 };
	p->count = memory_new(e->nblock, sizeof(*p->count));
	n->edge = memory_new(e->nedge, sizeof(*n->edge));
	n->call = memory_new(e->ncall, sizeof(*n->call));
	for (uint32_t i = 0; i < e->nblock; i++)
		if (e->block[i].block < t->nblock)
			p->count[p->ncount++] = (struct store_count){ e->block[i].block,
								      e->block[i].count };
	for (uint32_t i = 0; i < e->nedge; i++)
		if (e->edge[i].from < t->nblock && e->edge[i].to < t->nblock)
			n->edge[n->nedge++] = (struct edgecounts_edge){
				e->edge[i].from, e->edge[i].to, e->edge[i].count };
	for (uint32_t i = 0; i < e->ncall; i++)
		if (e->call[i].block < t->nblock && e->call[i].target < t->nblock &&
		    e->call[i].at < t->block[e->call[i].block].size)
			n->call[n->ncall++] = (struct edgecounts_call){
				e->call[i].block, e->call[i].at, e->call[i].target,
				e->call[i].count };
	return p->ncount == e->nblock && n->nedge == e->nedge && n->ncall == e->ncall;
}

/* It was asked for, and is not there already: so an answer takes the time of the questions. */
static bool is_answer(const struct work_fleet *f, const struct fleet_evidence *e)
{
	struct work_fleet_wanted *t = work_fleet_wanted(f, &e->digest);

	if (!t || t->taken[e->kind])
		return false;
	return t->taken[e->kind] = true;
}

static int put(struct work *w, const struct fleet_evidence *e, const struct blocktable *t,
	       struct err *err)
{
	struct store_fleet f = { .contributors = e->contributors, .epoch = e->epoch };
	bool whole = to_profile(e, t, &f.profile);
	int rc = f.profile.ncount > 0;

	if (rc && e->kind == FLEET_EXECUTIONS)
		work_fleet_level(&f.profile);
	if (rc && store_fleet_put(w->store, &e->digest, e->kind, &f,
				  t->text_size / SHARE_OF_TEXT + LEAST_BYTES, err) < 0)
		rc = -1;
	w->fleet.left_out += rc > 0 && !whole;
	store_profile_free(&f.profile);
	return rc;
}

/* 1: kept; 0: nothing of it; -1. */
static int keep(struct work *w, const struct fleet_evidence *e, struct err *err)
{
	struct blocktable t = { 0 };

	if (!is_answer(&w->fleet, e) || !e->contributors)
		return 0;
	int rc = store_table_load(w->store, &e->digest, &t, err);
	if (rc > 0)
		rc = put(w, e, &t, err);
	blocktable_free(&t);
	return rc;
}

static int note_told(struct work *w, const struct fleet_answer *q, struct err *err)
{
	struct work_fleet *f = &w->fleet;

	for (uint32_t i = 0; i < q->ntold; i++) {
		uint32_t at = q->told[i].index;

		if (at >= f->ngiven) {
			f->left_out++;
			continue;
		}
		struct store_epoch e = { .original = f->given[at].original,
					 .kind = f->given[at].kind,
					 .epoch = f->given[at].epoch,
					 .sequence = f->given[at].sequence };
		memcpy(e.machine, f->machine, sizeof(e.machine));
		memcpy(e.class, f->class, sizeof(e.class));
		if (store_epoch_given(w->store, &e, err) < 0)
			return -1;
		f->refused += q->told[i].told == FLEET_REFUSED;
		f->taken += q->told[i].told != FLEET_REFUSED;
	}
	return 0;
}

static int take_in(struct work *w, struct bytes file, struct arena *a, struct err *err)
{
	struct work_fleet *f = &w->fleet;
	struct fleet_answer q;
	int rc = fleet_answer_read(file, a, &q, err);

	if (rc < 0 || store_begin(w->store, err) < 0)
		return -1;
	f->left_out += q.left_out;
	rc = note_told(w, &q, err);
	for (uint32_t i = 0; i < q.nfleet && rc >= 0; i++) {
		rc = keep(w, &q.fleet[i], err);
		f->fleet += rc > 0;
		f->left_out += rc == 0;
	}
	if (rc >= 0)
		rc = store_fleet_prune(w->store, err);
	if (rc < 0) {
		store_rollback(w->store);
		return -1;
	}
	return store_commit(w->store, err);
}

static int read_answer(struct work *w, struct msg *m, struct err *err)
{
	struct arena *a = arena_new();
	struct bytes b;

	int rc = io_read_all(m->fd[0], FLEET_FILE_MAX, a, &b, err);
	if (rc == 0)
		rc = take_in(w, b, a, err);
	arena_free(a);
	return rc;
}

void work_fleet_answer(struct work *w)
{
	struct work_fleet *f = &w->fleet;
	struct msg m = w->ask->shared;
	struct store_epochs left = { 0 };
	struct err err = { 0 };

	w->ask->shared = (struct msg){ 0 };
	if (!f->under_way || !w->policy) {
		msg_close_fds(&m);
		return;
	}
	f->under_way = false;
	f->taken = f->refused = f->fleet = f->left_out = 0;
	work_fleet_is_new(f);
	f->ended_ns = store_now_ns();
	(void)snprintf(f->trouble, sizeof(f->trouble), "%.500s", m.text);
	bool good = m.num[MSG_SHARED_status] == ERR_NONE ||
		    m.num[MSG_SHARED_status] == ERR_REFUSED;
	if (m.nfd == 1 && read_answer(w, &m, &err) < 0) {
		(void)snprintf(f->trouble, sizeof(f->trouble), "%.500s", err.text);
		good = false;
	}
	msg_close_fds(&m);
	if ((good && store_exchanged_put(w->store, f->ended_ns, &err) < 0) ||
	    store_epoch_size(w->store, &left, &err) < 0)
		role_log_err(&err);
	if (f->trouble[0])
		role_warn("share: %s", f->trouble);
	if (f->left_out)
		role_warn("share: %u of what came was left out, because it was wrong",
			  f->left_out);
	work_fleet_plan(w, good, (left.waiting || !f->asks) && f->taken);
}
