/* ctl_evidence.h - what the commands share that show recordings and profiles without a
 * daemon */
#ifndef MANAGER_CTL_CTL_EVIDENCE_H
#define MANAGER_CTL_CTL_EVIDENCE_H

#include "lib/table.h"
#include "manager/ctl/ctl.h"
#include "manager/report/evidence.h"
#include "manager/report/rows.h"

struct ctl_evidence {
	struct evidence_source source;
	const char **binary;		/* source's; malloc'd */
	enum rows_by by;
	bool by_given;
	bool callers;			/* --by=caller, of report alone */
	bool dot;			/* for Graphviz */
	bool laid_out;			/* flow in the order of a layout by it */
	const char *out;		/* NULL: standard output */
	bool blocks;			/* only these, hottest first */
	/* in the order and at the addresses of a generation, whichever it is if the number
	 * is 0 */
	bool original, placed;
	uint32_t generation;
	const char *html;		/* a page is written to it; NULL: no page */
	const char *counts;		/* an exact profile, NULL: none */
	double mhz;			/* 0: as the machine says */
	bool shares;			/* recordings of different lengths count alike */
	const char *module;		/* NULL: all */
	const char *sort;		/* NULL: as the command does */
	uint32_t limit;			/* rows of a table */
	char *edit;			/* morph-edit's path; malloc'd */
	const char **log;		/* [nlog] of --log; malloc'd */
	uint32_t nlog;
};

/* Takes the options that the command's usage line has; what is left begins at argv[optind].
 * 0, or the exit code after a message. */
int ctl_evidence_options(const struct ctl *ctl, int argc, char **argv, uint32_t limit,
			 struct ctl_evidence *out);
/* The first argument that begins like that; NULL: none does. */
const char *ctl_evidence_find(int argc, char **argv, const char *start);
/* Says that one of the options, as arguments begin, is for recordings alone, if it is there. */
bool ctl_evidence_only_logs(const struct ctl *ctl, int argc, char **argv,
			    const char *const *option);
void ctl_evidence_free(struct ctl_evidence *o);

/* Reads logs and profiles, all together; what could not be had of modules is said.  0, or the
 * exit code after a message. */
int ctl_evidence_read(const struct ctl_evidence *o, const char *const *path, uint32_t n,
		      struct arena *a, struct evidence *out);
/* Where a module is named, and nothing is of it, says that; 0, or the exit code. */
int ctl_evidence_nothing(const struct ctl_evidence *o, bool found);
/* What could not be had is news, not a failure: the samples are all there. */
void ctl_evidence_notes(const struct evidence *e);
/* A recording is not written over by what is made of it: -1 if `out` is one of them. */
int ctl_evidence_out(const char *out, const char *const *input, uint32_t n, struct err *err);
/* The indices of a module, and of a function of it: NAME, fn_HEX or 0xHEX.  -1: there are no
 * samples of it. */
int ctl_evidence_function(const struct evidence *e, const char *module, const char *function,
			  uint32_t *out_module, uint32_t *out_function, struct err *err);
/* Says what the words are that --sort takes; returns 2. */
int ctl_evidence_wrong_sort(const struct ctl *ctl, const char *sort, const char *const *words);
/* Which of the words `sort` is, 0 for NULL; -1: none. */
int ctl_evidence_sort(const char *sort, const char *const *words);

/* The columns that say what a row is, three at most; how many there are. */
int ctl_evidence_columns(enum rows_by by, struct table_column *col);
double ctl_evidence_percent(double part, double whole);
/* "samples" or "executions". */
const char *ctl_evidence_unit(const struct evidence *e);

#endif
