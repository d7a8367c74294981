/* try.c - one command, from its first run to the verdict
 *
 *	look      the command as it is, sampled: what it does, and which files matter
 *	lay out   copies that count, a run with them, new layouts, their proof (layouts.c)
 *	measure   pairs of runs with the originals and with the generations (measure.c)
 *	verdict   a table and a sentence (verdict.c)
 *
 * Every run is in a world of its own (world.h), from which nothing comes back but what it
 * printed and the digests of files.  All files of the trial are in one folder,
 * /tmp/morph-try.*, which goes with it, also when it is killed.
 */
#include "manager/try/try.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/memory.h"
#include "lib/say.h"
#include "manager/try/folder.h"
#include "manager/try/input.h"
#include "manager/try/interrupt.h"
#include "manager/try/loaderpath.h"
#include "manager/try/trial.h"

/* Modules with less of the time are left as they are; chosen. */
static const double least_share = 0.02;
/* So much longer than all should take, and at least so long, the first run may be: then it is
 * told at least what time is needed.  Chosen. */
enum { LOOK_TIMES = 10, LOOK_LEAST_S = 60 };
/* Of an input that is kept for all runs; chosen. */
static const off_t INPUT_MOST = (off_t)1 << 30;

/* Can that kind of world be entered here? */
static bool can_have(const struct trial *t, enum world_kind kind, bool user,
		     struct err *err)
{
	struct world w = { .kind = kind, .user = user, .folder = t->folder };
	struct keeper_spec s = { .world = &w, .in = -1, .cpu = -1, .command = &t->command,
				 .confined = !t->o->repeatable };
	struct keeper k;

	if (keeper_start(&s, t->folder, &k, err) < 0)
		return false;
	bool can = keeper_wait(&k, 0, err) == 0;
	keeper_free(&k);
	return can;
}

static int choose_world(struct trial *t, struct err *err)
{
	t->kind = t->o->repeatable ? WORLD_PLACES : WORLD_WHOLE;
	for (int user = 0; user < 2; user++)
		if (can_have(t, t->kind, user, err)) {
			t->user = user;
			return 0;
		}
	progress_say(t->begun_s,
		     "only the program itself and libraries that its loader finds by path can "
		     "be replaced: %s", err->text);
	t->kind = WORLD_NONE;
	if (can_have(t, WORLD_NONE, false, err))
		return 0;
	err->kind = ERR_REFUSED;
	return err_wrap(err, "what it writes cannot be kept apart here, so only with "
			"--repeatable");
}

/* Without namespaces only the program that the command line starts is one's own to choose. */
static void leave_other_programs(struct trial *t)
{
	for (unsigned i = 0; i < t->nmodule; i++) {
		struct trial_module *m = &t->module[i];

		if (strcmp(m->path, t->command.program) != 0 && !loaderpath_is_library(m->path))
			err_set(&m->why, ERR_REFUSED,
				"it cannot be replaced here: other programs start it");
	}
}

/* Who cannot write does something else, perhaps. */
static int check_confined(const struct trial *t, struct err *err)
{
	if (t->kind != WORLD_NONE || t->o->repeatable || !t->reference.result->status)
		return 0;
	return err_set(err, ERR_REFUSED, "it ended with code %d where it can write to no file "
		       "but those in $TMPDIR; --repeatable lets it write",
		       t->reference.result->status);
}

/* A name that was mistyped would be the same always: not there. */
static int check_outputs(const struct trial *t, struct err *err)
{
	for (unsigned i = 0; i < t->o->noutput; i++)
		if (!t->reference.result->there[i])
			return err_set(err, ERR_USAGE, "--output: the command leaves no file "
				       "'%s'", t->o->output[i]);
	return 0;
}

static bool matters(const struct trial *t, const struct look_file *f)
{
	if (!f->samples)	/* a library that was seen mapped: its counts will tell */
		return t->reference.result->watched;
	return (double)f->samples >= least_share * (double)t->look.samples;
}

static void take_modules(struct trial *t)
{
	for (size_t i = 0; i < t->look.nfile && t->nmodule < TRIAL_MODULES; i++) {
		const struct look_file *f = &t->look.file[i];

		if (matters(t, f))
			t->module[t->nmodule++] = (struct trial_module){
				.path = memory_need(strdup(f->path)),
				.share = (double)f->samples / (double)t->look.samples,
			};
	}
}

static int look(struct trial *t, struct err *err)
{
	double limit_s = LOOK_TIMES * t->o->time_s;
	limit_s = limit_s < LOOK_LEAST_S ? LOOK_LEAST_S : limit_s;
	progress_say(t->begun_s,
		     "running the command as it is, sampled; all should take up to %.0f s",
		     t->o->time_s);
	if (trial_run(t, NULL, 0, t->log, limit_s, &t->reference, err) < 0)
		return -1;
	const struct keeper_result *r = t->reference.result;
	progress_say(t->begun_s,
		     "it took %.2f s of CPU time in %.2f s, exit code %d", r->cpu_s, r->wall_s,
		     r->status);
	if (*r->lacks)
		progress_say(t->begun_s, "what it writes there fails: %s", r->lacks);
	if (r->left)
		progress_say(t->begun_s,
			     "processes that it left running, which were ended: %u", r->left);
	if (r->watched)
		progress_say(t->begun_s,
			     "it could not be sampled, so its counts tell what matters: %s",
			     r->unsampled);
	if ((r->watched ? look_read_watched : look_read)(t->log, &t->look, err) < 0)
		return -1;
	take_modules(t);
	if (check_confined(t, err) < 0 || check_outputs(t, err) < 0)
		return -1;
	if (t->kind == WORLD_NONE)
		leave_other_programs(t);
	if (t->nmodule)
		return 0;
	return err_set(err, ERR_REFUSED, "it runs too shortly: %.0f ms of CPU time",
		       1e3 * r->cpu_s);
}

/* Before a minute has gone into what is to be saved there. */
static int check_save(const char *dir, struct err *err)
{
	char *copy = memory_need(strdup(dir));
	const char *at = access(dir, F_OK) == 0 ? dir : dirname(copy);
	int rc = access(at, W_OK | X_OK) == 0
			 ? 0 : err_set(err, ERR_SYS, "--save: '%s': %s", at, strerror(errno));

	free(copy);
	return rc;
}

static int begin(struct trial *t, struct err *err)
{
	if (t->o->save && check_save(t->o->save, err) < 0)
		return -1;
	if (tempfolder_make(&t->temp, "morph-try", err) < 0)
		return -1;
	t->folder = t->temp.path;
	t->log = folder_path(t->folder, "log");
	char *world = folder_path(t->folder, "world");
	int rc = mkdir(world, 0755);
	free(world);
	if (rc < 0)
		return err_set(err, ERR_SYS, "'%s': %s", t->folder, strerror(errno));
	if (commandline_resolve(t->o->argv, &t->command, err) < 0)
		return -1;
	return input_take(t->folder, INPUT_MOST, &t->in, &t->in_at, err);
}

static void end(struct trial *t)
{
	struct err err;

	keeper_free(&t->reference);
	if (t->folder && tempfolder_remove(&t->temp, &err) < 0)
		say_line(stderr, "morphctl: %s", err.text);
	for (unsigned i = 0; i < t->nmodule; i++) {
		struct trial_module *m = &t->module[i];

		free(m->path);
		free(m->copy);
		free(m->counts);
		free(m->profile);
		free(m->generation);
		free(m->stats);
		free(m->report);
		free(t->saved[i]);
	}
	look_free(&t->look);
	if (t->in >= 0)
		close(t->in);
	commandline_free(&t->command);
	free(t->log);
}

int try_run(const struct try_options *options)
{
	struct trial t = { .o = options, .in = -1, .begun_s = progress_now_s(),
			   .reference = { .pidfd = -1, .go = -1, .ready = -1, .out = -1,
					  .error = -1 } };
	struct err err = { 0 };
	int code;

	interrupt_begin();
	if (begin(&t, &err) < 0 || choose_world(&t, &err) < 0 || look(&t, &err) < 0 ||
	    trial_lay_out(&t, &err) < 0 || trial_measure(&t, &err) < 0) {
		code = interrupt_signal() ? TRY_INTERRUPTED : err_exit_code(&err);
		say_line(stderr, "morphctl: try: %s", err.text);
	} else {
		code = trial_code(&t);
		if (code == TRY_FASTER && options->save && trial_save(&t, &err) < 0) {
			say_line(stderr, "morphctl: try: --save: %s", err.text);
			code = err_exit_code(&err);
		}
		if (trial_verdict(&t) < 0)
			code = 1;
	}
	end(&t);
	interrupt_end();
	return code;
}
