/* running.h - the state of one trial of a process that runs, and its steps */
#ifndef MANAGER_TRY_RUNNING_H
#define MANAGER_TRY_RUNNING_H

#include "lib/err.h"
#include "manager/try/meter.h"
#include "manager/try/progress.h"
#include "policy/ratio.h"
#include "manager/try/sameprogram.h"
#include "manager/try/splicing.h"
#include "manager/try/try.h"

enum { RUNNING_MODULES = 16, RUNNING_SWAPS = 512 };

struct running_module {
	char *path;
	double share;		/* of all samples in files of the process */
	struct err why;		/* it stays as it is, because; kind ERR_NONE: it does not */
	bool mapped;		/* once, so that forks may have it */
	struct spliced made;
};

struct running {
	const struct try_process_options *o;
	double begun_s;
	char name[256];		/* of its program */
	struct splicing splicing;
	struct meter meter;
	struct sameprogram program;
	int lock;		/* the process is ours; -1 */
	struct running_module module[RUNNING_MODULES];
	unsigned nmodule;
	int kind;		/* of work; -1: there is none that can be counted */
	bool in;		/* they are mapped, or some of them */
	double turn_s, pair_s;
	double before_s;	/* what was before its pairs took */
	unsigned idle;		/* pairs in which nothing was done */
	struct ratio ratio;
	uint64_t pause_us[RUNNING_SWAPS];	/* of the last ones, in a ring */
	unsigned nswap;
};

/* turns.c */

/* What it does without a generation for a while, and with what its work is counted. */
int running_choose_work(struct running *t, struct err *err);
/* With generations or without; tried for a while.  -1 with the reason. */
int running_swap(struct running *t, bool in, struct err *err);
/* Pairs of turns until the ratio is known or the time is over. */
int running_measure(struct running *t, struct err *err);

/* runningverdict.c: TRY_FASTER or TRY_NOT_FASTER; prints what came out */
int running_code(const struct running *t);
void running_verdict(const struct running *t);

#endif
