/* show.h - what morphctl is shown: each function here answers the client with its tables
 *
 * They write nothing to the store, and leave the end of the answer to the caller.  -1: nothing
 * was answered, or not all.
 */
#ifndef MANAGER_CONTROL_SHOW_H
#define MANAGER_CONTROL_SHOW_H

#include <stdint.h>

#include "manager/work/work.h"

struct client;
struct table;

/* An empty table with the columns of the array `col`. */
#define NEW_TABLE(title, col) table_new(title, (int)(sizeof(col) / sizeof((col)[0])), col)
/* show_give.c.  Answers with the table, and frees it. */
void show_give(struct client *cl, struct table *t);
/* The same, but no table when there are no rows. */
void show_some(struct table *t, struct client *cl);

/* show.c, show_policy.c: what is known without asking anybody, so it is answered at once. */
int show_status(struct work *w, struct client *cl, struct err *err);
/* show_values.c: the same as values; and what the spool has. */
int show_values(struct work *w, struct client *cl, struct err *err);
void show_spool_size(struct work *w, uint64_t *files, uint64_t *bytes);
/* show_reach.c: what of the machine's CPU time is in what can be laid out. */
int show_reach(struct work *w, struct client *cl, struct err *err);
int show_list(struct work *w, struct client *cl, struct err *err);
int show_history(struct work *w, const char *path, struct client *cl, struct err *err);
int show_policy(struct work *w, struct client *cl, struct err *err);
/* show_saved.c: CPU time that generations have saved since then, and what Morph has taken. */
struct show_saved {
	uint64_t since_ns;	/* since 1970; 0: all there is */
	bool brief;		/* the sums alone */
};
int show_saved(struct work *w, const struct show_saved *s, struct client *cl, struct err *err);
/* show_overview.c: the machine on one screen; and how many times as fast a generation is as
 * what was there before, with its interval, NAN where that is not known. */
int show_overview(struct work *w, struct client *cl, struct err *err);
struct show_times {
	double as_fast, low, high;
};
void show_times_of(struct work *w, const struct store_module *m, struct show_times *out);
/* Which rule is about the file at the path, and the settings that it makes.  Asks the
 * parent. */
int show_rule(struct work *w, const char *path, struct client *cl, struct err *err);

/* show_report.c: runs jobs for names. */
struct show_report {
	const char *module;	/* NULL: all */
	uint32_t limit;		/* procedures, */
	bool limited;		/* and modules */
	bool by_name;		/* else by samples */
	uint64_t since_ns, until_ns;	/* since 1970; 0: no bound */
	enum show_by {
		SHOW_BY_ALL,	/* modules and procedures */
		SHOW_BY_MODULE,
		SHOW_BY_PROCEDURE,
		SHOW_BY_MACHINE,	/* programs and libraries, kernel, and the other ones */
		SHOW_BY_USER,	/* who may not see all sees himself */
		SHOW_BY_PROGRAM,	/* which one ran; also in one module */
	} by;			/* of all modules */
};
int show_report(struct work *w, const struct show_report *r, struct client *cl,
		struct err *err);
/* What the request asks for; argv stays the caller's. */
int show_report_options(int argc, const char *const *argv, struct show_report *out,
			struct err *err);
/* OPTION=NS, a time since 1970; false: it is another one. */
bool show_read_ns(const char *arg, const char *option, uint64_t *out);
/* show_ran.c: by program, and of a time. */
int show_ran(struct work *w, const struct show_report *r, struct client *cl, struct err *err);
/* show_cycles.c: what was counted beside the samples, for a job, and what it is of; -1:
 * nothing, and samples do without.  And that it was taken is said. */
int show_open_counted(struct work *w, const struct store_module *m,
		      const struct store_profile *now, char counted[WORK_COUNTED_MAX]);
void show_counted(struct client *cl, const char *counted);
/* show_flow.c: runs jobs. */
struct show_flow {
	const char *module, *function;
	bool dot;		/* for Graphviz */
	bool placed;		/* as it would be laid out */
};
int show_flow(struct work *w, const struct show_flow *r, struct client *cl, struct err *err);
/* show_annotate.c: runs jobs for names and text: one for each piece of a function, of so
 * many. */
enum { SHOW_TEXT_PIECES = 16 };
struct show_annotate {
	const char *module, *function;
	bool placed;		/* in the order and at the addresses of the generation */
	uint32_t generation;	/* whose number that must be; 0: any */
	/* only the blocks with samples, most first, and so many */
	bool blocks;
	uint32_t limit;
};
/* `annotate MODULE FUNCTION [OPTION]...`. */
int show_annotate_read(int argc, const char *const *argv, struct show_annotate *out,
		       struct err *err);
int show_annotate(struct work *w, const struct show_annotate *r, struct client *cl,
		  struct err *err);
/* show_cycles.c: a table of blocks without rows, the caller's; `placed`: with a column more,
 * their addresses in the original. */
struct table *show_blocks_table(bool placed);
/* Gives both, or what of them was asked for. */
void show_blocks(const struct show_annotate *r, struct client *cl, struct table *blocks,
		 struct table *insns);
/* By instruction, of the function with that number in the block table; `file` is the original;
 * `placed`: what a job says of how it lies in a generation, or nothing.  1; 0: that is not
 * known, and nothing was shown but perhaps why. */
struct procedures;
int show_cycles(struct work *w, const struct procedures *l, uint32_t fn, int file,
		struct bytes placed, const struct show_annotate *r, struct client *cl,
		struct err *err);
int show_explain(struct work *w, const char *module, struct client *cl, struct err *err);

/* show_explained.c: the module in sentences, a table that is the caller's; `misplaced`: why it
 * is left because of where it is, "" if it is not; `reasons`: why functions are left. */
int show_explained(struct work *w, const struct store_module *m, const char *misplaced,
		   const struct table *reasons, struct table **out, struct err *err);

/* show_fleet.c: how exchanges with a fleet's database go; what a fleet knows of a module and
 * what that is worth, in words or as a table, "" or NULL if nothing. */
int show_share(struct work *w, struct client *cl, struct err *err);
struct show_fleet {
	char text[96];			/* "": nothing */
	double counts_as, samples;	/* NAN: nothing */
	uint32_t machines, counting;	/* of samples; of exact counts */
};
int show_fleet_of(struct work *w, const struct store_module *m, struct show_fleet *out,
		  struct err *err);
struct table *show_fleet_table(struct work *w, const struct store_module *m);

/* show_problems.c: what is wrong, and what the machine does not offer the monitor. */
void show_problems(struct work *w, struct client *cl);
void show_lacks(struct work *w, struct client *cl);

/* show_live.c: which running processes have which generation, of what the client may see; the
 * caller's. */
struct table *show_running(struct work *w, const struct client *cl);
/* How many have one of the module. */
uint64_t show_processes(const struct work *w, const char *path);

#endif
