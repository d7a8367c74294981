/* work_module.c - one module: a new generation, the proof anew
 *
 * A generation is always made from the pristine original and the profile in terms of its
 * blocks.  It is entered in the store, with its map, before it is put at its path: so samples
 * of it can be attributed at once, and after a crash its digest says what the file at the path
 * is.
 *
 * Tested by tests/e2e/daemon.sh and upgrade.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/memory.h"
#include "lib/profile.h"
#include "manager/store/module.h"
#include "manager/work/answer.h"
#include "manager/work/work.h"
#include "policy/decide.h"
#include "policy/policy.h"
#include "policy/share.h"

/* Looks at what is at the path now. */
static int look(struct work *w, const char *path, struct store_module *m, struct err *err)
{
	enum module_look how;

	if (modules_look(w->modules, path, &how, m, err) < 0)
		return -1;
	if (how == MODULE_LATER)
		return err_set(err, ERR_SYS,
			       "'%s': large, or changed too often; its turn comes in %llu s",
			       path,
			       (unsigned long long)modules_wait_ms(w->modules) / 1000 + 1);
	if (how == MODULE_GONE)
		return err_set(err, ERR_SYS, "'%s': no such file", path);
	return 0;
}

int work_look_at_once(struct work *w, const char *path, struct store_module *m,
		      struct err *err)
{
	w->reads_at_once = true;
	int rc = look(w, path, m, err);
	w->reads_at_once = false;
	return rc;
}

int work_find_known(struct work *w, const char *path, struct store_module *m, struct err *err)
{
	int rc = store_module_by_path(w->store, path, m, err);

	return rc == 0 ? err_set(err, ERR_INPUT, "'%s': no samples of such a module", path)
		       : rc < 0 ? -1 : 0;
}

/* --- a new generation --- */

enum { UNDER_MAX = 256 };

struct making {
	struct work *w;
	struct answer *to;
	bool dry_run;
	struct bytes given;		/* a profile to use alone; p == NULL: the store's */
	struct store_module m;
	struct policy policy;		/* as it is for the module */
	struct names names;		/* further ones of its file */
	char under[UNDER_MAX];		/* ", also as ...", or "" */
	int original_fd, profile_fd;
	int out[3];			/* generation, map, stats */
	struct wr map;
	bool counts;			/* a counting generation */
	int counts_fd;			/* its file of counts */
	double count_gain, count_cost_s;	/* that are expected of it */
	struct store_generation g;
	struct work_evidence known;	/* that g is made from */
	uint64_t cpu_begun_ms;
	uint64_t written;		/* bytes, for good */
	double samples;
	char from[256];			/* ", and counts of N runs", or "", and more */
};

/* Its samples are still what later ones are compared with. */
static int take_given(struct making *k, struct err *err)
{
	if (store_profile_get(k->w->store, k->m.id, &k->known.profile, err) < 0)
		return -1;
	k->samples = store_profile_samples(&k->known.profile);
	k->profile_fd = io_memory_file(k->given, err);
	(void)snprintf(k->from, sizeof(k->from), ", by a profile that was given");
	return k->profile_fd < 0 ? -1 : 0;
}

static int write_profile(struct making *k, struct err *err)
{
	struct wr text = { 0 };

	if (k->given.p)
		return take_given(k, err);
	if (work_profile(k->w, &k->m, &k->known, &text, err) < 0)
		return -1;
	k->samples = store_profile_samples(&k->known.profile);
	work_inherited_text(&k->known, k->from, sizeof(k->from));
	work_fleet_text(&k->known.fleet, k->from + strlen(k->from),
			sizeof(k->from) - strlen(k->from));
	if (k->samples < 1 && k->m.samples >= 1)
		err_set(err, ERR_REFUSED,
			"'%s': its %llu bytes of text are too few: in the share of them "
			"that profiles may take there is no room for one",
			k->m.path, (unsigned long long)k->m.text_bytes);
	else if (k->samples < 1)
		err_set(err, ERR_REFUSED, "'%s': no samples of it yet", k->m.path);
	else
		k->profile_fd = io_memory_file(wr_bytes(&text), err);
	wr_free(&text);
	return k->profile_fd < 0 ? -1 : 0;
}

/* A layout tells who reads the file how it is used. */
static int check_share(const struct making *k, struct err *err)
{
	struct share s;

	if (work_share(k->w, &k->m, &k->policy, &s, err) < 0)
		return -1;
	return s.enough ? 0 : err_set(err, ERR_REFUSED,
				      "'%s': of the %u people whose use the policy wants in a "
				      "layout (users.share_layouts) there are %u",
				      k->m.path, k->policy.share_layouts, s.people);
}

/* A generation, the map of it, and the original to be kept beside it. */
static uint64_t disk_need(const struct store_module *m)
{
	return (m->generation ? 1 : 2) * m->seen.size;
}

static int prepare(struct making *k, const char *path, struct err *err)
{
	struct work *w = k->w;

	if (!policy_allows(w->policy, path))
		return err_set(err, ERR_REFUSED, "'%s': not among the policy's modules", path);
	const struct policy_rule *rule = work_rule(w, path, &k->policy);
	if (rule && rule->refuse)
		return err_set(err, ERR_REFUSED, "'%s': rule '%s' of the policy refuses it",
			       path, rule->name);
	if (look(w, path, &k->m, err) < 0)
		return -1;
	if (!k->m.id)
		return err_set(err, ERR_REFUSED, "'%s': no samples of it yet", path);
	uint64_t bytes = k->dry_run ? 0 : disk_need(&k->m);
	if (!w->asked_by_trusted && work_budget(w, k->m.owner, bytes, err) < 0)
		return err_wrap(err, "'%s'", path);
	if (work_check(w, path, &k->names, err) < 0)
		return -1;
	int rc = modules_analyze(w->modules, &k->m, err);
	if (rc < 0)
		return err_wrap(err, "'%s'", path);
	if (rc == 0)
		return err_set(err, ERR_REFUSED, "'%s': %s", path, k->m.refusal);
	if (check_share(k, err) < 0 || write_profile(k, err) < 0)
		return -1;
	if (k->known.own + k->known.inherited < k->policy.min_samples && !k->given.p)
		answer_line(k->to, "%s: only %.0f samples, the policy wants %u; more of them "
			     "would give a better layout", path, k->samples,
			     k->policy.min_samples);
	k->original_fd = work_open_pristine(w, &k->m, err);
	return k->original_fd < 0 ? -1 : 0;
}

/* out[] is filled. */
static int run_editor(struct making *k, struct err *err)
{
	struct ask_limits limits = work_limits(&k->policy);
	struct ask_job job = { .kind = JOB_OPTIMIZE, .nin = 2,
			       .in = { k->original_fd, k->profile_fd }, .a = k->g.number,
			       .passes = k->g.passes };
	char counted[WORK_COUNTED_MAX];
	int out[3];

	err->kind = ERR_NONE;
	job.in[2] = k->given.p ? -1 : work_evidence_file(k->w, &k->m, &k->policy,
							 &k->known.profile, counted, err);
	if (job.in[2] < 0 && err->kind != ERR_NONE)
		return -1;
	if (job.in[2] >= 0)
		(void)snprintf(k->from + strlen(k->from), sizeof(k->from) - strlen(k->from),
			       " and the counts of %s", counted);	/* fits */
	job.nin += job.in[2] >= 0;
	int rc = ask_run_job(k->w->ask, &job, &limits, out, 3, err);
	if (job.in[2] >= 0)
		close(job.in[2]);
	if (rc == 0)
		memcpy(k->out, out, sizeof(out));
	return rc;
}

/* The same of a counting generation; its figures are others. */
static int run_instrument(struct making *k, struct err *err)
{
	struct ask_limits limits = work_limits(&k->policy);
	struct ask_job job = { .kind = JOB_INSTRUMENT, .nin = 2,
			       .in = { k->original_fd, k->profile_fd },
			       .a = DECIDE_COUNT_PCT };
	int out[3];

	if (ask_run_job(k->w->ask, &job, &limits, out, 3, err) < 0)
		return -1;
	k->out[0] = out[0];
	k->counts_fd = out[1];
	k->out[2] = out[2];
	struct ask_job map = { .kind = JOB_MAP, .nin = 1, .in = { k->out[0] } };
	return ask_run_job(k->w->ask, &map, &limits, &k->out[1], 1, err);
}

static void name_passes(struct making *k)
{
	policy_pass_list(&k->policy, k->g.passes, sizeof(k->g.passes));
	if (k->counts)
		(void)snprintf(k->g.passes, sizeof(k->g.passes), "counting");
}

/* Runs the Editor; g, map and out[] are filled. */
static int make(struct making *k, struct err *err)
{
	struct work *w = k->w;
	struct store_generation *g = &k->g;
	struct wr stats = { 0 };

	name_passes(k);
	if (!g->passes[0])
		return err_set(err, ERR_REFUSED, "the policy switches all passes off");
	if (store_generation_next(w->store, k->m.id, &g->number, err) < 0)
		return -1;
	if ((k->counts ? run_instrument : run_editor)(k, err) < 0)
		return err_wrap(err, "'%s'", k->m.path);
	g->module = k->m.id;
	g->original = k->m.original;
	g->state = STATE_MADE;
	g->samples = k->samples;
	g->inherited = k->known.inherited;
	g->cpu_s = (double)(w->ask->job_cpu_ms - k->cpu_begun_ms) / 1000;
	int rc = digest_fd(k->out[0], &g->digest, err);
	off_t size = lseek(k->out[0], 0, SEEK_END);
	g->size_bytes = size > 0 ? (uint64_t)size : 0;
	if (rc == 0)
		rc = work_read(k->out[1], &k->map, err);
	if (rc == 0 && k->out[2] >= 0)
		rc = work_read(k->out[2], &stats, err);
	if (rc == 0 && stats.n < sizeof(g->stats))
		memcpy(g->stats, stats.p, stats.n);	/* the rest is zeroed */
	wr_free(&stats);
	return rc;
}

/* By what the inference leaves open, which is known only now. */
static int check_counting(struct making *k, struct err *err)
{
	const struct decide_module *facts = &k->w->again_facts;
	double cost_s = decide_count_cost_s(&facts->runs), open;

	if (work_open_share(k->g.stats, &open, err) < 0)
		return err_wrap(err, "'%s'", k->m.path);
	enum decide_count why = decide_counts(&k->policy, facts, open);

	k->count_cost_s = isfinite(cost_s) ? cost_s : 0;
	k->count_gain = decide_open_gain(facts, open);
	return why == DECIDE_COUNT ? 0 : err_set(err, ERR_REFUSED, "'%s': %s (%.0f %% open)",
						 k->m.path, decide_count_text[why],
						 100 * open);
}

/* Said before it is so: after a crash what is at the path tells. */
static int note_counting(struct making *k, struct err *err)
{
	struct store_counting c = { .module = k->m.id, .generation = k->g.digest,
				    .original = k->m.original, .begun_ns = store_now_ns(),
				    .expected_s = k->count_cost_s, .gain = k->count_gain,
				    .most_s = decide_count_most_s(&k->policy, k->count_gain) };

	return k->counts ? work_counting_begins(k->w, &c, k->counts_fd, err) : 0;
}

static int put_in_place(struct making *k, struct err *err)
{
	struct work *w = k->w;
	struct ask_limits limits = work_limits(&k->policy);
	struct store_intent intent = { .what = "install", .from = k->m.present,
				       .to = k->g.digest };
	struct ask_install i = { .path = k->m.path,
				 .expected = k->m.present, .original = k->m.original,
				 .generation = k->g.digest, .generation_fd = k->out[0],
				 .names = &k->names, .hard_links = w->policy->hard_links,
				 .counting = k->counts };
	struct err why = { 0 };

	(void)snprintf(intent.path, sizeof(intent.path), "%s", k->m.path);	/* fits */
	k->written = k->map.n + strlen(k->g.stats) + k->g.size_bytes +
		     (k->m.generation ? 0 : k->m.seen.size);
	if (store_generation_add(w->store, &k->g, wr_bytes(&k->map), &k->known.profile,
				 err) < 0 ||
	    store_intent_begin(w->store, &intent, err) < 0 || note_counting(k, err) < 0)
		return -1;
	work_live_look_again(w);	/* who has been rid of the old one gets none of these */
	int rc = ask_install(w->ask, &i, &limits, err);
	if (rc == 0)
		(void)snprintf(k->under, UNDER_MAX, "%.*s", UNDER_MAX - 1, w->ask->reply.text);
	if (rc < 0)		/* that was taken out before, and goes in again */
		work_live_forget(w, 0, k->m.path);
	if (rc < 0 && w->ask->stop)
		return -1;		/* not known how it went: the next start finds out */
	if (rc < 0)
		rc = store_generation_state(w->store, k->g.id, STATE_REFUSED, err->text, &why);
	else
		rc = work_look_at_once(w, k->m.path, &k->m, &why) < 0 ? -1
		     : store_generation_state(w->store, k->g.id, STATE_INSTALLED, "", &why) < 0
			     ? -1
			     : 1;
	if (rc < 0 || store_intent_end(w->store, intent.id, &why) < 0) {
		*err = why;
		return -1;
	}
	return rc == 1 ? 0 : -1;	/* refused: *err is the parent's reason */
}

static int prove_only(struct making *k, struct err *err)
{
	struct ask_limits limits = work_limits(&k->policy);
	struct ask_job job = { .kind = JOB_VERIFY, .nin = 2,
			       .in = { k->original_fd, k->out[0] } };
	int out;

	if (ask_run_job(k->w->ask, &job, &limits, &out, 1, err) < 0)
		return err_wrap(err, "'%s': not proven to be the same program", k->m.path);
	close(out);
	return 0;
}

static bool replace_older(void *ctx, const struct store_generation *g)
{
	struct making *k = ctx;
	struct err err = { 0 };

	if (g->id != k->g.id && g->state == STATE_INSTALLED &&
	    store_generation_state(k->w->store, g->id, STATE_REPLACED, "", &err) < 0)
		role_log_err(&err);
	return true;
}

static int reoptimize(struct making *k, const char *path, struct err *err)
{
	struct work *w = k->w;

	answer_progress(k->to, "%s: analysing", path);
	if (prepare(k, path, err) < 0)
		return -1;
	answer_progress(k->to, "%s: optimizing", path);
	if (make(k, err) < 0 || (k->counts && check_counting(k, err) < 0))
		return -1;
	answer_progress(k->to, "%s: verifying%s", path, k->dry_run ? "" : " and installing");
	if ((k->dry_run ? prove_only(k, err) : put_in_place(k, err)) < 0)
		return -1;
	if (!k->counts)
		work_show_generation(k->to, k->m.path, &k->g, k->dry_run);
	if (k->dry_run)
		return 0;
	if (store_generation_each(w->store, k->m.id, replace_older, k, err) < 0 ||
	    (!k->counts && work_counting_ends(w, k->m.id, err) < 0))
		return -1;
	if (k->counts)
		work_history_of(w, path, k->g.number, "counting",
			     "generation %" PRIu32 " counts what %.0f samples leave open, "
			     "%.0f %%, for %.0f ppm%s", k->g.number, k->samples,
			     100 * work_figure(k->g.stats, "open"), 1e6 * k->count_gain,
			     k->under);
	else
		work_history_of(w, path, k->g.number, "installed",
			     "generation %" PRIu32 " from %.0f samples%s, passes %s%s",
			     k->g.number, k->samples, k->from, k->g.passes, k->under);
	return 0;
}

/* k says what is to be done; all that it holds is gone afterwards. */
static int begin(struct making *k, const char *path, struct err *err)
{
	struct work *w = k->w;

	k->cpu_begun_ms = w->ask->job_cpu_ms;
	k->original_fd = k->profile_fd = k->counts_fd = -1;
	k->out[0] = k->out[1] = k->out[2] = -1;
	work_charge(w, 0, 0, 0);	/* what others have left */
	int rc = reoptimize(k, path, err);
	/* Whatever came of it: what fails again and again must not go on all day. */
	work_charge(w, k->m.id, k->m.owner, k->written);
	if (rc < 0 && err->kind == ERR_REFUSED && !k->dry_run)
		work_history(w, path, "refused", "%s", err->text);
	const int fd[] = { k->original_fd, k->profile_fd, k->counts_fd,
			   k->out[0], k->out[1], k->out[2] };
	for (int i = 0; i < 6; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	wr_free(&k->map);
	work_evidence_free(&k->known);
	return rc;
}

int work_reoptimize(struct work *w, const char *path, bool dry_run, struct answer *to,
		    struct err *err)
{
	struct making *k = memory_new(1, sizeof(*k));

	k->w = w;
	k->to = to;
	k->dry_run = dry_run;
	int rc = begin(k, path, err);
	free(k);
	return rc;
}

int work_keep(struct work *w, const char *path, struct bytes profile, struct answer *to,
	      struct err *err)
{
	struct making *k = memory_new(1, sizeof(*k));

	k->w = w;
	k->to = to;
	k->given = profile;
	int rc = begin(k, path, err);
	free(k);
	return rc;
}

int work_count(struct work *w, const char *path, struct err *err)
{
	struct making *k = memory_new(1, sizeof(*k));
	struct err why;

	k->w = w;
	k->counts = true;
	int rc = begin(k, path, err);
	struct store_counted none = { .original = k->m.original, .weight = 1 };
	if (rc < 0 && k->m.id && !w->ask->yield.done && !w->ask->stop &&
	    (work_counting_ends(w, k->m.id, &why) < 0 ||
	     store_profile_get(w->store, k->m.id, &none.use, &why) < 0 ||
	     store_counted_put(w->store, k->m.id, &none, &why) < 0))
		role_log_err(&why);
	store_counted_free(&none);
	free(k);
	return rc;
}

/* --- the proof anew --- */

static int prove_installed(struct work *w, const struct store_module *m, struct work_proof *out,
			   struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	struct wr text = { 0 };
	struct digest d;
	int proof = -1, rc = -1;

	int original = ask_open_original(w->ask, &m->original, err);
	int file = original < 0 ? -1 : ask_open_file(w->ask, m->path, err);
	if (file < 0 || modules_digest(w->modules, file, &d, err) < 0)
		goto out;
	if (!digest_equal(&d, &m->present)) {
		err_set(err, ERR_INPUT, "'%s': changed just now", m->path);
		goto out;
	}
	struct store_counting counting;
	struct ask_job job = { .kind = JOB_VERIFY, .nin = 2, .in = { original, file } };
	job.a = store_counting_get(w->store, m->id, &counting, err) == 1 &&
		digest_equal(&counting.generation, &d);
	if (ask_run_job(w->ask, &job, &limits, &proof, 1, err) < 0 ||
	    work_read(proof, &text, err) < 0)
		goto out;
	size_t n = text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n;
	if (n >= sizeof(out->detail))
		n = sizeof(out->detail) - 1;
	memcpy(out->detail, text.n ? text.p : (const uint8_t *)"", n);
	out->detail[n] = '\0';
	rc = 0;
out:
	if (original >= 0)
		close(original);
	if (file >= 0)
		close(file);
	if (proof >= 0)
		close(proof);
	wr_free(&text);
	return rc;
}

/* Has the module been laid out, and of which original? */
struct laid_out {
	const struct digest *original;		/* of what is at the path */
	bool of_it;
	uint32_t of_another;			/* the last generation; 0: none */
};

static bool see_laid_out(void *ctx, const struct store_generation *g)
{
	struct laid_out *l = ctx;

	if (g->state == STATE_MADE || g->state == STATE_REFUSED || g->state == STATE_BURST)
		return true;			/* it has never been at the path */
	if (digest_equal(&g->original, l->original))
		l->of_it = true;
	else
		l->of_another = g->number;
	return true;
}

/* 0: the analysis can read what is at the path, be it to refuse it. */
static int check_readable(struct work *w, const struct store_module *m, struct err *err)
{
	struct ask_limits limits = work_limits(w->policy);
	int table, file = m->text_bytes ? -1 : ask_open_file(w->ask, m->path, err);

	if (file < 0)
		return m->text_bytes ? 0 : -1;		/* 0: it has been read */
	struct ask_job job = { .kind = JOB_ANALYZE, .nin = 1, .in = { file } };
	int rc = ask_run_job(w->ask, &job, &limits, &table, 1, err);
	if (rc == 0)
		close(table);
	close(file);
	return rc < 0 && err->kind != ERR_REFUSED ? -1 : 0;
}

/* No generation is at the path.  What an upgrade put there is a program, and what is left of a
 * destroyed generation is none. */
static int look_at_original(struct work *w, const struct store_module *m,
			    struct work_proof *out, struct err *err)
{
	struct laid_out l = { .original = &m->original };
	struct err why;

	if (store_generation_each(w->store, m->id, see_laid_out, &l, err) < 0)
		return -1;
	bool other = !l.of_it && l.of_another;
	if (other && check_readable(w, m, &why) < 0)
		return err_set(err, why.kind, "'%s': neither generation %" PRIu32 " nor its "
			       "original, and no whole program: %s", m->path, l.of_another,
			       why.text);
	if (other)
		(void)snprintf(out->detail, sizeof(out->detail), "not rewritten: another file "
			       "than generation %" PRIu32 " was made from", l.of_another);
	else
		(void)snprintf(out->detail, sizeof(out->detail), "the original");
	return 0;
}

int work_verify(struct work *w, const char *path, struct work_proof *out, struct err *err)
{
	struct store_module m = { 0 };

	memset(out, 0, sizeof(*out));
	if (work_find_known(w, path, &m, err) < 0 || look(w, path, &m, err) < 0)
		return -1;
	out->generation = m.generation;
	if (m.generation)
		return prove_installed(w, &m, out, err);
	return look_at_original(w, &m, out, err);
}

/* --- after a crash --- */

static bool recover_intent(void *ctx, const struct store_intent *i)
{
	struct work *w = ctx;
	struct store_generation g = { 0 };
	struct store_module m = { 0 };
	struct err err = { 0 };
	bool install = strcmp(i->what, "install") == 0;

	if (work_look_at_once(w, i->path, &m, &err) < 0)
		role_log_err(&err);
	bool done = m.id && digest_equal(&m.present, &i->to);
	if (store_generation_by_digest(w->store, install ? &i->to : &i->from, &g, &err) > 0) {
		enum store_state state = done ? (install ? STATE_INSTALLED : STATE_RESTORED) :
					 (install ? STATE_REFUSED : STATE_INSTALLED);
		if (store_generation_state(w->store, g.id, state, done ? "" : "interrupted",
					   &err) < 0)
			role_log_err(&err);
	}
	work_history(w, i->path, done ? (install ? "installed" : "restored") : "undone",
		     "%s was interrupted; %s", i->what, done ? "it was finished" :
		     "the former content is in place");
	if (store_intent_end(w->store, i->id, &err) < 0)
		role_log_err(&err);
	return true;
}

int work_recover(struct work *w, struct err *err)
{
	if (store_intent_each(w->store, recover_intent, w, err) < 0)
		return -1;
	return modules_look_all(w->modules, NULL, NULL, err);
}
