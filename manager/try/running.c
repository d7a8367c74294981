/* running.c - a process that runs, from its first sample to the verdict
 *
 *	look      may it be changed at all?  Samples of it
 *	lay out   generations that fit in it, proven, mapped (splicing.c)
 *	measure   pairs of turns with and without them (turns.c)
 *	verdict   a table and a sentence (runningverdict.c)
 *
 * At the end, and when it is interrupted, its originals are mapped back.  Where this program is
 * killed they are not: `morphctl live` lists and ends that.
 *
 * Tested by tests/e2e/trypid.sh.
 */
#include "manager/try/running.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/memory.h"
#include "lib/say.h"
#include "manager/parent/livefiles.h"
#include "manager/try/interrupt.h"
#include "manager/try/layouts.h"

/* Chosen: samples are taken for a sixth of the time, but not for longer than this. */
static const double sample_part = 1.0 / 6, sample_most_s = 10;
static const double least_share = 0.02;
/* For the first time, in turns, and to take them out. */
enum { FIRST_PATIENCE_MS = 10000, PATIENCE_MS = 3000, LAST_PATIENCE_MS = 20000 };

/* It has ended, or executed something: the sentence that says so, and true. */
static bool is_gone(const struct running *t, struct err *err)
{
	const char *how = meter_ended(&t->meter) ? "has ended" :
			  t->lock < 0 ? NULL : sameprogram_else(&t->program, t->o->pid);

	if (how)
		err_set(err, ERR_SYS, "process %d %s", (int)t->o->pid, how);
	return how;
}

/* Taking out what is not there changes nothing, and says whether the process may be touched. */
static int check_process(struct running *t, struct err *err)
{
	struct splicing_said said;
	int has = splicing_has(&t->splicing, t->o->pid, err);

	if (has > 0)
		return err_set(err, ERR_REFUSED, "process %d has generations already; to take "
			       "them back: morphctl live --off %d", (int)t->o->pid,
			       (int)t->o->pid);
	return has < 0 ? -1 : splicing_off(&t->splicing, t->o->pid, &said, err);
}

static void take_name(struct running *t)
{
	char path[64], exe[sizeof(t->name)];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)t->o->pid);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	const char *slash = strrchr(exe, '/');
	(void)snprintf(t->name, sizeof(t->name), "%s", slash ? slash + 1 : exe);
}

/* A counter that fails is known before anything is done. */
static int begin(struct running *t, struct err *err)
{
	const struct try_process_options *o = t->o;
	double count;

	if (kill(o->pid, 0) < 0)
		return err_set(err, ERR_SYS, "process %d: %s", (int)o->pid, strerror(errno));
	if (o->count && meter_run_count(o->count, &count, err) < 0)
		return -1;
	if (meter_open(&t->meter, o->pid, o->count, err) < 0 ||
	    splicing_open(&t->splicing, err) < 0 ||
	    splicing_can_map(&t->splicing, err) < 0 ||
	    (t->lock = livefiles_lock(t->splicing.folder, o->pid, err)) < 0)
		return -1;
	sameprogram_note(&t->program, o->pid);
	take_name(t);
	return check_process(t, err);
}

static int look(struct running *t, struct err *err)
{
	double s = sample_part * t->o->time_s;

	s = s > sample_most_s ? sample_most_s : s < 1 ? 1 : s;
	progress_say(t->begun_s,
		     "sampling %s (process %d) for %.0f s; all should take up to %.0f s",
		     t->name, (int)t->o->pid, s, t->o->time_s);
	if (splicing_sample(&t->splicing, t->o->pid, (unsigned)(s + 0.5), err) < 0)
		return -1;
	return running_choose_work(t, err);
}

/* One of its files: made, proven and mapped, so that the next one finds what room is left. */
static void lay_out_one(struct running *t, struct running_module *m,
			const struct splicing_file *f)
{
	struct splicing_said said;

	progress_say(t->begun_s, "laying out and proving %s", f->path);
	int rc = splicing_make(&t->splicing, t->o->pid, f, &m->made, &m->why);
	if (rc > 0 && m->made.moved == 0)
		err_set(&m->why, ERR_REFUSED, "no function is worth moving");
	m->mapped = rc > 0 && m->made.moved;	/* or may be */
	if (m->mapped &&
	    splicing_on(&t->splicing, t->o->pid, &m->made, &said, &m->why) == 0) {
		m->why.kind = ERR_NONE;
		t->in = true;
	}
}

/* Of each file that matters, before anything is mapped. */
static void count(struct running *t, const struct splicing_files *all, const double *samples,
		  double sum)
{
	uint64_t pause_us;
	struct err err;

	for (uint32_t i = 0; i < all->n && t->o->burst_s > 0 && !interrupt_signal(); i++) {
		if (samples[i] <= 0 || samples[i] < least_share * sum)
			continue;
		progress_say(t->begun_s,
			     "counting what %s executes, for %.1f s", all->file[i].path,
			     t->o->burst_s);
		t->in = true;		/* until it has been taken out for certain */
		if (splicing_count(&t->splicing, t->o->pid, &all->file[i],
				   (unsigned)(1000 * t->o->burst_s), &pause_us, &err) < 0)
			progress_say(t->begun_s, "not counted: %s", err.text);
	}
}

static int lay_out(struct running *t, struct err *err)
{
	static struct splicing_files all;
	double samples[SPLICING_FILES], sum = 0;
	unsigned left = 0;

	if (splicing_files(t->o->pid, &all, err) < 0 ||
	    splicing_catches(&t->splicing, &all, err) < 0)
		return -1;
	for (uint32_t i = 0; i < all.n; i++)
		sum += samples[i] = splicing_samples(&t->splicing, &all.file[i]);
	count(t, &all, samples, sum);
	for (uint32_t i = 0; i < all.n && t->nmodule < RUNNING_MODULES; i++) {
		struct running_module *m = &t->module[t->nmodule];

		if (samples[i] <= 0 || samples[i] < least_share * sum)
			continue;
		*m = (struct running_module){ .path = memory_need(strdup(all.file[i].path)),
					      .share = samples[i] / sum,
					      .made = { .plan = -1, .file = -1 } };
		t->nmodule++;
		lay_out_one(t, m, &all.file[i]);
		left += m->why.kind == ERR_NONE;
		if (interrupt_signal())
			return err_set(err, ERR_SYS, "interrupted");
	}
	t->splicing.patience_ms = PATIENCE_MS;
	if (left)
		return 0;
	if (!t->nmodule)
		return err_set(err, ERR_REFUSED, "there are no samples of its files%s",
			       splicing_program_gone(t->o->pid) ? SPLICING_GONE : "");
	return layouts_none(t->module[0].path, t->module[0].why.text, err);
}

/* What it forked in a turn with a generation has that, and goes on having it. */
static bool take_out_of_forks(struct running *t)
{
	struct splicing_said said;
	bool out = true;
	struct err err;

	for (unsigned i = 0; i < t->nmodule; i++) {
		struct running_module *m = &t->module[i];

		if (!m->mapped || splicing_off_all(&t->splicing, &m->made, &said, &err) == 0)
			continue;
		say_line(stderr, "morphctl: try: what it forked keeps its generation: %s; "
			 "`morphctl live` lists them, to take it out: morphctl live --off PID",
			 err.text);
		out = false;
	}
	return out;
}

/* Its originals come back, there and in what it has forked.  False when they do not. */
static bool take_out(struct running *t)
{
	struct err err, gone;
	bool out = true;

	t->splicing.patience_ms = LAST_PATIENCE_MS;
	if (t->in && !is_gone(t, &gone) && running_swap(t, false, &err) < 0 &&
	    !is_gone(t, &gone)) {
		say_line(stderr, "morphctl: try: it could not be taken out again: %s; to do "
			 "that: morphctl live --off %d", err.text, (int)t->o->pid);
		out = false;
	}
	if (out)
		t->in = false;
	return take_out_of_forks(t) && out;
}

static void end(struct running *t)
{
	for (unsigned i = 0; i < t->nmodule; i++) {
		struct running_module *m = &t->module[i];

		if (!t->in || m->why.kind != ERR_NONE)
			splicing_forget(&t->splicing, &m->made);
		spliced_close(&m->made);
		free(m->path);
	}
	splicing_close(&t->splicing);
	meter_close(&t->meter);
	if (t->lock >= 0)
		close(t->lock);
}

/* After its turns: it stays in only if it is to be kept. */
static int conclude(struct running *t)
{
	int code = running_code(t);
	bool stays = t->o->keep && code == TRY_FASTER;
	struct err err;

	if (stays && running_swap(t, true, &err) < 0) {
		say_line(stderr, "morphctl: try: --keep: %s", err.text);
		stays = false;
		code = 1;
	}
	if (!stays && !take_out(t))
		code = 1;
	running_verdict(t);
	return code;
}

/* Whatever noticed it first. */
static int fail(struct running *t, struct err *err)
{
	bool out = take_out(t), gone = is_gone(t, err);

	say_line(stderr, "morphctl: try: %s%s", err->text,
		 t->nswap && out && !gone ? "; taken out again" : "");
	return !out ? 1 : interrupt_signal() ? TRY_INTERRUPTED : err_exit_code(err);
}

int try_process(const struct try_process_options *options)
{
	struct running t = {
		.o = options, .begun_s = progress_now_s(), .kind = -1, .meter = { .pidfd = -1 },
		.lock = -1, .ratio = { .by_chance = true },
		.splicing = { .morph_edit = options->morph_edit,
			      .morph_verify = options->morph_verify,
			      .morph_live = options->morph_live, .store = options->store,
			      .patience_ms = FIRST_PATIENCE_MS },
	};
	struct err err = { 0 };
	int code;

	interrupt_begin();
	if (begin(&t, &err) < 0 || look(&t, &err) < 0 || lay_out(&t, &err) < 0 ||
	    running_measure(&t, &err) < 0 || is_gone(&t, &err))
		code = fail(&t, &err);
	else
		code = conclude(&t);
	end(&t);
	interrupt_end();
	return code;
}
