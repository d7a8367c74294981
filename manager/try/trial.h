/* trial.h - the state of one trial, and its steps in the order in which try.c takes them */
#ifndef MANAGER_TRY_TRIAL_H
#define MANAGER_TRY_TRIAL_H

#include "lib/err.h"
#include "manager/try/commandline.h"
#include "manager/try/keeper.h"
#include "manager/try/look.h"
#include "manager/try/progress.h"
#include "policy/ratio.h"
#include "manager/try/tempfolder.h"
#include "manager/try/try.h"
#include "manager/try/world.h"

enum { TRIAL_MODULES = 16 };

struct trial_module {
	char *path;		/* of the original */
	double share;		/* of all samples, or of all instructions counted */
	struct err why;		/* it stays as it is, because; kind ERR_NONE: it does not */
	struct err uncounted;	/* why it has no counts; kind ERR_NONE: not known */
	bool counting;		/* there is a program that counts */
	bool counted;		/* and its counts are the profile; else it is of samples */
	char *copy;		/* files of the trial's folder: the one that counts, */
	char *counts, *profile, *generation, *stats, *report;
	uint64_t functions, moved;
	double instructions;	/* that it executed, by its profile */
	double taken_before, taken_after;	/* branches by the profile */
};

enum trial_same { SAME_YES, SAME_NO, SAME_UNKNOWN };

struct trial {
	const struct try_options *o;
	double begun_s;
	struct tempfolder temp;
	const char *folder;	/* its path; NULL: none yet */
	enum world_kind kind;
	bool user;		/* worlds need a user namespace */
	struct commandline command;
	int in;			/* as keeper_spec has it */
	off_t in_at;
	struct keeper reference;	/* the first run, as it is; ended */
	char *log;
	struct look look;
	struct trial_module module[TRIAL_MODULES];
	unsigned nmodule;
	bool side_by_side;	/* pairs run in slices of one CPU */
	double before_s;	/* that what was before the pairs took */
	double pair_s;		/* that the first pair took */
	struct ratio ratio;
	bool errors_differ;	/* its standard error differs from run to run: not compared */
	enum trial_same same;
	char differs[128];	/* how, if not SAME_YES */
	char *saved[TRIAL_MODULES];	/* its profile outside of the folder; NULL: not saved */
};

/* One run with these images, from its start to its end; *k is the caller's to free, also
 * after a failure. */
int trial_run(struct trial *t, const struct world_image *image, size_t nimage,
	      const char *log, double limit_s, struct keeper *k, struct err *err);
/* A run that waits for keeper_go(). */
int trial_start(struct trial *t, const struct world_image *image, size_t nimage,
		const char *log, int cpu, struct keeper *k, struct err *err);
/* "perl, libc.so.6": of those that are laid out anew; valid until the next call. */
const char *trial_names(const struct trial *t);

/* layouts.c: copies that count, the run of these, new layouts and their proof.  Modules that
 * are refused are left as they are.  -1: nothing is left to try, or we are interrupted. */
int trial_lay_out(struct trial *t, struct err *err);

/* sameness.c: did the run what the reference did?  If not, *how (may be NULL) says what is
 * different. */
extern const char trial_standard_error[];	/* the last thing that is compared */
bool trial_did_same(const struct trial *t, const struct keeper *k, char how[128]);

/* pairs of runs, until the ratio is known or the time is over (measure.c) */
int trial_measure(struct trial *t, struct err *err);

/* save.c: the profiles of what was laid out, into o->save */
int trial_save(struct trial *t, struct err *err);

/* verdict.c: TRY_FASTER or TRY_NOT_FASTER; prints what came out, and calls o->show: -1 if that
 * failed */
int trial_code(const struct trial *t);
int trial_verdict(const struct trial *t);

#endif
