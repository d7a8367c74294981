/* work.h - what the manager does: spool to profiles, profiles to generations, tables for people
 *
 * Malloc-backed, lives as long as the manager.  Functions that take an answer append lines of
 * progress and tables to it (NULL: nobody listens); its end is left to the caller, who knows
 * what else belongs to the request.
 */
#ifndef MANAGER_WORK_WORK_H
#define MANAGER_WORK_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/blocktable.h"
#include "manager/work/accounts.h"
#include "manager/work/ask.h"
#include "manager/parent/counting.h"
#include "manager/parent/role.h"
#include "manager/store/module.h"
#include "manager/store/store.h"
#include "policy/decide.h"

struct answer;
struct attribution;
struct err;
struct ingest;
struct live;
struct lookwait;
struct made;
struct sense;
struct turns;
struct modules;
struct policy;

/* Of exchanges with a fleet's database. */
struct work_fleet {
	bool under_way, known;		/* ... when the last one was */
	uint64_t next_ms, retry_ms;	/* w->now_ms() */
	struct work_fleet_given *given;	/* what the one under way gives, in its order */
	uint32_t ngiven;
	uint8_t machine[STORE_MACHINE];	/* as whom */
	char class[STORE_CLASS];
	bool asks;			/* it asks for what the fleet has, too */
	struct work_fleet_wanted *wanted;	/* by digest; what it asks for */
	uint32_t nwanted;
	struct work_fleet_gives *gives;	/* which modules are given, as far as it was asked */
	uint32_t ngives;
	struct work_fleet_judged *judged;	/* of work_fleet_is_news() */
	uint32_t njudged;
	/* How the last one went; ended_ns 0: there was none since the start. */
	uint64_t ended_ns, dropped;
	uint32_t taken, refused, fleet, left_out;
	char trouble[512];		/* "": it succeeded */
};

/* What names of code that a user's processes made may cost yet (work_made.c). */
struct work_purse {
	bool used;
	uint32_t uid;
	double cpu_ms;			/* as it was then; less than nothing: overdrawn */
	uint64_t at_ms;			/* w->now_ms() */
};
enum { WORK_PURSES = 64 };		/* chosen */

struct work {
	const struct role_options *options;
	struct ask *ask;
	struct policy *policy;
	struct store *store;
	struct modules *modules;
	struct ingest *ingest;
	struct sense *sense;
	int spool_dir;
	struct accounts accounts;	/* as the spool was last taken in */
	uint64_t charged_ms;		/* of ask->job_cpu_ms */
	bool paused;
	char again[PATH_MAX];		/* what was begun by itself and given up; "" nothing */
	bool again_counts;		/* that was to count first */
	bool again_bursts;		/* in a process that does not end */
	struct decide_module again_facts;	/* for that, without its uses */
	pid_t burst_pid;		/* it counts now, of burst_path; 0: none does */
	char burst_path[PATH_MAX];
	uint64_t counting_ms;		/* when samples of what counts are looked at next */
	uint64_t counting_again_ms;	/* when it is asked again what counts */
	struct {
		int64_t module;		/* whose counting would not end; 0: none */
		uint64_t again_ms;	/* when that is tried again */
	} put_off[COUNTING_WATCHED];
	uint64_t started_ms;
	uint64_t (*now_ms)(void);	/* CLOCK_MONOTONIC, or a test's */
	struct lookwait *lookwait;	/* when files that changed are read */
	struct live *live;		/* running processes: work_live.c */
	struct turns *turns;		/* of these: work_turns.c */
	/* what is done now: it has no budget, and waits for nothing */
	bool asked_by_trusted;
	bool reads_at_once;		/* so does what we have done or undo ourselves */
	bool gives_way;			/* a long read, to trusted requests that wait */
	uint64_t read_bytes;		/* for digests of modules, so far */
	/* what went wrong last in the background; "" if nothing */
	char note[512];
	bool asks_whose;		/* samples are: work_share.c */
	/* why another policy than the one in the file is in force; "" if it is not */
	char policy_trouble[1200];
	char no_room[160];		/* on the store's disk, and what follows; "" there is */
	double samples;			/* of all modules, when that was decided last */
	uint64_t not_run_ms;		/* when jobs that cannot be run are tried again */
	bool registers;			/* asked of the monitor */
	char registers_why[320];
	struct {		/* of what Morph itself takes: what is entered already */
		double manager_s;
		uint64_t cost_ms[ASK_NCOST];
		uint64_t thin_ms;	/* when old entries are made coarser */
	} own;
	struct made *made;		/* while the spool is taken in: work_made.c */
	struct work_purse purse[WORK_PURSES];
	struct work_fleet fleet;
};

/* Policy, store, spool; w->options and w->ask are filled.  Says to the parent how to sample. */
int work_open(struct work *w, struct err *err);
void work_close(struct work *w);
/* The database turned out to be damaged: closed and set aside. */
void work_forget(struct work *w);
/* The policy (work_policy.c): at start, the last good one if it is wrong; what others must know
 * of it; read anew, on error the old one stays. */
int work_policy_first(struct work *w, struct err *err);
int work_policy_apply(struct work *w, struct err *err);
int work_reload(struct work *w, struct err *err);

struct work_spool {
	uint32_t files;
	uint64_t samples;		/* of known modules */
	/* why the newest samples are missing, "" if they are not */
	char warning[512];
};

/* Has the monitor write everything out and takes in all spool files. */
int work_sync(struct work *w, struct work_spool *out, struct err *err);
/* If the machine is idle: takes in the spool and, if the policy says so, reoptimizes one
 * module.  Jobs yield to others; what is given up is done again the next time. */
void work_idle(struct work *w);

struct idle_condition;
/* Each idle condition now, IDLE_NCONDITION of them; true when all hold. */
bool work_is_idle(struct work *w, struct idle_condition *out);
/* A job is under way: it makes room for others, or goes on.  `urgent`: somebody waits for
 * us. */
void work_yield(struct work *w, bool urgent);

/* --- budgets of owners (work_budget.c) --- */

/* May jobs be run for the owner, and so many bytes written?  -1 and ERR_REFUSED, which names
 * the budget, if not; root has no such budgets. */
int work_budget(struct work *w, uint32_t owner, uint64_t bytes, struct err *err);
/* What jobs have taken since the last call, and bytes that were written, are the owner's; of
 * root's only what was done for a module counts. */
void work_charge(struct work *w, int64_t module, uint32_t owner, uint64_t bytes);
/* The same of jobs that look into a file of his, begun by work_look_begin(): they also put off
 * when his files are looked at next (lookwait.h). */
void work_look_begin(struct work *w);
void work_look_end(struct work *w, uint32_t owner, uint64_t bytes);
/* May jobs be run for a file of that owner, and so many bytes be written, by what the policy
 * allows a day?  For root's *p says that.  1; 0; -1. */
int work_budget_left(struct work *w, uint32_t owner, uint64_t bytes, const struct policy *p,
		     struct err *err);
uint32_t work_owner(int fd);			/* of the file */

/* --- other names of a file (work_names.c) --- */

/* May the file be swapped, under all its names?  Else the reason.  *names: those other than the
 * path. */
int work_check(struct work *w, const char *path, struct names *names, struct err *err);
/* The path by which the file is known as a module: that, or other[] where that is only another
 * name of it. */
const char *work_name(const struct work *w, const char *path, char other[PATH_MAX]);

/* --- what Morph itself takes (work_own.c) --- */

/* Enters what has been taken since the last time, and how many samples came with *a.  What goes
 * wrong is logged. */
void work_account(struct work *w, const struct attribution *a);

/* --- rules of the policy (work_rule.c) --- */

struct policy_rule;
/* The one that applies to the file at the path, NULL without one; *out is the policy for it,
 * valid as long as w->policy. */
const struct policy_rule *work_rule(struct work *w, const char *path, struct policy *out);

/* --- whose use may show in layouts (work_share.c) --- */

struct share;
/* The source of manager/samples/userset.h; ctx is the work. */
int work_whose(void *ctx, uint32_t pid, uint64_t before_ns, uint32_t *uid);
/* May the module be laid out, by the policy for it? */
int work_share(struct work *w, const struct store_module *m, const struct policy *p,
	       struct share *out, struct err *err);
/* The policy is new: keeps whose samples are, or forgets it. */
int work_apply_share(struct work *w, struct err *err);

/* --- registers with the samples (work_registers.c) --- */

/* Has the monitor take them, or not, as the policy and what is known of the modules say. */
int work_registers(struct work *w, struct err *err);
/* What code is called that processes made (work_made.c), of struct module_services; ctx is the
 * work.  While the spool is taken in, which has its bounds for that. */
void work_made(void *ctx, const struct madeset_question *q, struct madeset_answer *answer);
void work_made_begin(struct work *w);
void work_made_end(struct work *w);
/* The interpreter of struct module_services; ctx is the work. */
int work_interpret(void *ctx, int fd, int original, struct bytes states, struct wr *edges,
		   struct err *err);
bool work_lacks(void *ctx, const struct store_module *m);
/* -1: jobs cannot be run (ask->not_run); it has been tried lately. */
int work_try_jobs(struct work *w, struct err *err);

/* Brings w->no_room up to date, and says in the log when that changes (work_room.c). */
bool work_has_room(struct work *w);

/* --- generations of which the store has no record (work_adopt.c) --- */

/* The adopter of struct module_services; ctx is the work. */
enum module_made work_adopt(void *ctx, const char *path, int fd, struct digest *original,
			    uint32_t *number, struct wr *map);

/* --- one module (work_module.c) --- */

/* The module at the path, and no other: nothing new comes into the store because somebody
 * names a file. */
int work_find_known(struct work *w, const char *path, struct store_module *m, struct err *err);
/* What is at the path now, after we have put it there or before we take it away: that waits
 * for nothing. */
int work_look_at_once(struct work *w, const char *path, struct store_module *m,
		      struct err *err);

struct work_evidence;
/* All that is known of the module, for the Editor: appended to *text; *e, zeroed before, is
 * the caller's to free. */
int work_profile(struct work *w, const struct store_module *m, struct work_evidence *e,
		 struct wr *text, struct err *err);
/* Processes met faults: generations that are to blame go (work_crash.c, policy/blame.h). */
void work_crashes(struct work *w, const struct attribution *a);
/* Puts the original back in the place of a generation that failed in `state`, a past tense
 * or an adjective of store_state_name[]; the module is refused for that until its original
 * changes. */
int work_take_back(struct work *w, struct store_module *m, const struct store_generation *g,
		   enum store_state state, const char *why, struct err *err);
/* Observations came in: generations that are slower than what was there before go
 * (work_speed.c). */
void work_speedtests(struct work *w, const struct attribution *a);
/* Where the report of a crash of a generation of that original is, if there is one. */
int work_bug_report(struct work *w, const struct digest *original, char path[PATH_MAX],
		    struct err *err);
/* Somebody just died: does not wait until the machine is idle. */
void work_crashed(struct work *w);

/* Path, or the name of one module without its folder, among those that `sees` says true of.
 * 1 found, 0 there is none, -1 failed, or several have the name. */
int work_find(struct work *w, const char *name,
	      bool (*sees)(const void *ctx, const struct store_module *m), const void *ctx,
	      struct store_module *out, struct err *err);
/* Is there a module that should get a (new) generation without anybody asking
 * (work_use.c)?  Judges those whose window of recent samples has ended, down to the first
 * one: 1 w->again is it, and w->again_counts says whether it is to be counted first; 0 none. */
int work_judge(struct work *w, struct err *err);
/* Of the line "NAME value" of a generation's figures; -1 without it, or if it is none
 * (work_figures.c). */
double work_figure(const char *stats, const char *name);
/* What of a module its samples leave open, 0 to 1, by those of a generation that counts. */
int work_open_share(const char *stats, double *out, struct err *err);
/* Tells what was made. */
void work_show_generation(struct answer *to, const char *path, const struct store_generation *g,
			  bool dry_run);
int work_reoptimize(struct work *w, const char *path, bool dry_run, struct answer *to,
		    struct err *err);
/* The same by this profile alone, of whoever has made it; samples need not be there. */
int work_keep(struct work *w, const char *path, struct bytes profile, struct answer *to,
	      struct err *err);
/* The original back (work_restore.c). */
struct work_restoring {
	bool force;		/* also over what was a generation and has been edited since;
				 * over nothing else that is not ours */
	bool dry_run;		/* it is said that it would be, or refused as it would be */
};
int work_restore(struct work *w, const char *path, struct work_restoring how, struct answer *to,
		 struct err *err);
/* The file at the path is no generation.  Was it one, before somebody edited it?  1: *of has
 * its digest and original; 0 none that is known; -1 failed (work_derived.c). */
int work_derived(struct work *w, const struct store_module *m, struct store_generation *of,
		 struct err *err);
/* The block map of a generation in a memory file, the caller's; -1: it is not kept, or that
 * failed. */
int work_map_file(struct work *w, const struct digest *generation, struct err *err);

/* --- counting exactly (work_count.c) --- */

/* Puts a generation in its place that counts, in a few runs, what samples leave open.  As
 * work_reoptimize(); what is refused is not tried again with that original. */
int work_count(struct work *w, const char *path, struct err *err);
/* A counting generation is about to be at the path: its file of counts stays the caller's. */
int work_counting_begins(struct work *w, const struct store_counting *c, int counts_fd,
			 struct err *err);
/* Another file is at the path of the module, or is about to be. */
int work_counting_ends(struct work *w, int64_t module, struct err *err);
/* The original back in the place of what counts, until it is laid out by what was counted
 * (work_restore.c). */
int work_counting_put_back(struct work *w, const char *path, struct err *err);
/* Takes in what a process has counted, which `memory` holds. */
int work_counting_take(struct work *w, struct store_counting *c, int memory, struct err *err);
/* The same of all that the parent has sent of processes that counted. */
void work_counted(struct work *w);
/* What has been counted of the module so far is evidence from now on. */
int work_counting_keep(struct work *w, const struct store_module *m,
		       const struct store_counting *c, struct err *err);
/* Is there a module that has been counted enough, or for long enough?  1: *path is it, and its
 * counts are kept for laying it out; 0 none. */
int work_count_ready(struct work *w, char path[PATH_MAX], struct err *err);
/* Is there a module that counts and has counted enough, is too slow, has cost what it may, or
 * began before this daemon?  1: *path is it; 0 none. */
int work_count_over(struct work *w, char path[PATH_MAX], struct err *err);
/* Its original is put back, idle or not: what it takes nobody need spend (work_idle.c). */
void work_count_end(struct work *w);
/* Is there a module that counts and is not going to be laid out, idle or not?  1: *path is it,
 * and its original is to be put back; 0 none. */
int work_count_overdue(struct work *w, char path[PATH_MAX], struct err *err);
/* Does that, or says why not (work_idle.c). */
void work_count_drop(struct work *w);
/* What had to be done with the module failed: for a while none of these names it. */
void work_count_put_off(struct work *w, const char *path);
/* Removes files of counts of which the store has no record. */
int work_count_sweep(struct work *w, struct err *err);

/* --- the same in processes that do not end (work_burst.c) --- */

/* Is there a process of the module that could count? */
bool work_burst_possible(struct work *w, const struct store_module *m, const struct policy *p);
/* Has one count for a while, by w->again_facts.  1: what it counted is evidence; 0: none has,
 * and the history says why; -1: given up. */
int work_burst(struct work *w, const char *path, struct err *err);

/* --- generations in running processes (work_live.c) --- */

struct live_row {		/* a process has one mapped */
	pid_t pid;
	uint64_t start;			/* as /proc/PID/stat has it */
	uint32_t uid;
	struct digest generation;	/* its form, of which the store knows what it is of */
	struct digest original;
	char *path;			/* of the module; NULL: somebody else has mapped it */
};

/* Takes out what is not wanted any more; if the machine is idle, more processes get one. */
void work_live(struct work *w, bool idle);
/* At the start: takes out what the last one has left that is not wanted. */
void work_live_first(struct work *w);
/* Has the parent look what processes have; -1: it cannot, which is logged. */
int work_live_look(struct work *w);
/* ... if any had something; of whom somebody has rid it by hand, that is noted. */
void work_live_look_again(struct work *w);
/* As it was then. */
const struct live_row *work_live_rows(const struct work *w, uint32_t *n);
/* The process gives back what it has of the module, for now. */
int work_live_give_back(struct work *w, pid_t pid, const char *path, struct err *err);
void work_live_free(struct work *w);

/* Has somebody taken a generation of the module out of it, by hand?  He wants none in it. */
bool work_live_leaves(struct work *w, pid_t pid, uint64_t start, int64_t module);
/* What it, or (0) any process, has of the module may be gone, by our own doing. */
void work_live_forget(struct work *w, pid_t pid, const char *path);

/* --- keep or restore, by turns in a process (work_turns.c) --- */

/* Takes some more of them, and judges. */
void work_turns(struct work *w);
/* Is the generation of the module at its path judged by turns? */
bool work_turns_decide(struct work *w, const struct store_module *m);
void work_turns_free(struct work *w);

/* --- a fleet (work_fleet.c, work_fleetanswer.c, work_fleetuse.c, work_fleetcounts.c) --- */

/* Samples came in: those that the policy gives are kept for that. */
void work_fleet_seen(struct work *w, const struct attribution *a);
/* Begins an exchange if it is time, or at once. */
void work_fleet(struct work *w);
int work_fleet_now(struct work *w, struct err *err);
/* What came of it: evidence is checked against block tables, and kept. */
void work_fleet_answer(struct work *w);
uint32_t work_fleet_epoch(void);
/* The policy is new: forgets what is not shared any more. */
int work_apply_fleet(struct work *w, struct err *err);
void work_fleet_free(struct work *w);

struct work_fleet_use {
	uint32_t contributors;		/* 0: the fleet knows nothing of it, or is not asked */
	double samples, weight;		/* that it has, and that these are worth; samples */
	double unseen;			/* usage_unseen() of the fleet's */
};
/* Adds to *own, the module's own samples, what the fleet's are worth beside them. */
int work_fleet_add(struct work *w, const struct store_module *m, const struct policy *p,
		   struct store_profile *own, struct work_fleet_use *out, struct err *err);
/* The same, but nothing is added. */
int work_fleet_worth(struct work *w, const struct store_module *m, const struct policy *p,
		     struct work_fleet_use *out, struct err *err);
/* Is it for the fleet's sake to be judged again?  Yes, once, when its own samples have grown by
 * a tenth since the last time, or what the fleet knows, or the policy, has changed. */
bool work_fleet_is_news(struct work *w, const struct store_module *m);
void work_fleet_is_new(struct work_fleet *f);	/* that has changed */
/* What a run counted, as a profile, waits for the next exchange if the policy gives it. */
int work_fleet_counted(struct work *w, const struct store_module *m, struct bytes profile,
		       struct err *err);
struct work_fleet_counts {
	uint32_t contributors;		/* 0: the fleet has none, or is not asked */
	uint32_t functions, taken;	/* of which it has counts, and whose are used */
};
/* Exact counts `own` of the module, a profile or nothing, and besides those of a fleet of
 * functions that these do not have and the samples `now` do not contradict: appended to *text,
 * unless it is NULL. */
int work_fleet_counts(struct work *w, const struct store_module *m, const struct policy *p,
		      const struct store_profile *now, struct bytes own, struct wr *text,
		      struct work_fleet_counts *out, struct err *err);
/* ", and 400 of a fleet of 23", or "". */
void work_fleet_text(const struct work_fleet_use *u, char *out, size_t n);

/* --- evidence of the version before (work_inherited.c, work_inherit.c) --- */

/* All that is known of a module: own samples, and inherited ones as far as they count. */
struct work_evidence {
	struct store_profile profile;	/* both */
	struct work_fleet_use fleet;	/* besides */
	double own, inherited;		/* samples */
	double matched, unseen;		/* of inherited ones: struct decide_inherited */
};
void work_evidence_free(struct work_evidence *e);
/* e->profile has the own samples: adds what is inherited, if the policy for the module wants
 * it, and tells. */
int work_inherited_add(struct work *w, const struct store_module *m, const struct policy *p,
		       struct work_evidence *e, struct err *err);
/* " (450 inherited from ...)" or nothing, for what was made from it. */
void work_inherited_text(const struct work_evidence *e, char *out, size_t n);

/* What is inherited, used or not. */
struct work_inherited {
	double samples, matched;	/* of the version before, and of them */
	uint32_t functions, recognised;
	enum decide_inherit why;
	double counts_as;		/* samples */
};
int work_inherited(struct work *w, const struct store_module *m, const struct policy *p,
		   struct work_inherited *out, struct err *err);	/* 1; 0: nothing is */

/* Whose the samples are, inherited ones that count among them; the rest of all of them is of
 * users of whom that is not known. */
struct work_whose {
	struct share_use *use;		/* the caller's to free */
	uint32_t n;
	double samples;
};
int work_whose_all(struct work *w, const struct store_module *m, const struct policy *p,
		   struct work_whose *out, struct err *err);

/* Does the policy, which *p becomes for the file at the path, want it to inherit? */
bool work_inherits(struct work *w, const char *path, struct policy *p);
/* Of struct module_services; ctx is the work. */
enum module_passes work_bequeath(void *ctx, const struct store_module *m,
				 struct store_legacy *out);
/* In an idle time: one job at most that makes a signature, or what a new version inherits. */
void work_inherit(struct work *w);
/* The policy is new: forgets all of it if nothing inherits any more. */
int work_apply_inherit(struct work *w, struct err *err);

/* --- exact counts as evidence beside samples (work_evidence.c) --- */

/* Are there counts of the module, and is it still used as it was then?  1; 0; -1. */
int work_evidence_holds(struct work *w, const struct store_module *m, const struct policy *p,
			const struct usage *use, struct err *err);
/* Counts that hold for the use `now`, a fleet's among them, as a file for the Editor, and what
 * they are of; -1: there are none, err->kind being ERR_NONE, or that failed. */
enum { WORK_COUNTED_MAX = 96 };
int work_evidence_file(struct work *w, const struct store_module *m, const struct policy *p,
		       const struct store_profile *now, char counted[WORK_COUNTED_MAX],
		       struct err *err);
/* "8 runs", or "a burst of 2.0 s". */
void work_say_counted(uint32_t runs, double burst_s, char out[WORK_COUNTED_MAX]);
/* The same appended to *out, as text: 1; 0; -1. */
int work_evidence_text(struct work *w, const struct store_module *m, const struct policy *p,
		       const struct store_profile *now, struct wr *out,
		       char counted[WORK_COUNTED_MAX], struct err *err);
/* Counting is over: keeps the counts, empty for none, and what they cost. */
int work_evidence_keep(struct work *w, const struct store_module *m,
		       const struct store_counting *c, struct wr *profile, struct err *err);
/* CPU time that it has taken from programs so far; and is it slower than counting may be? */
double work_counting_cost_s(const struct store_counting *c);
bool work_counting_is_slow(const struct store_counting *c);
/* Has counting cost what it may? */
bool work_counting_has_spent(const struct store_counting *c);
bool work_counting_has_enough(const struct store_counting *c);

struct work_proof {
	uint32_t generation;
	char detail[1024];
};

/* Proves anew what is at the path. */
int work_verify(struct work *w, const char *path, struct work_proof *out, struct err *err);
/* Somebody may have changed the file: brings the store up to date.  0, or the milliseconds
 * after which to look again. */
uint64_t work_look(struct work *w, const char *path);
/* MD5 sums of the originals of all modules that have a generation, for comparing with what
 * packages say (work_packages.c). */
int work_checksums(struct work *w, struct answer *to, struct err *err);
/* Looks at every module: packages may have replaced some. */
int work_look_all(struct work *w, struct answer *to, struct err *err);
/* What a killed manager left half done. */
int work_recover(struct work *w, struct err *err);

/* --- help for all of it --- */

struct ask_limits work_limits(const struct policy *p);
/* Appends the whole content; the descriptor stays the caller's. */
int work_read(int fd, struct wr *out, struct err *err);
/* Of a profile's samples; out->count is the caller's to free. */
int work_usage(const struct store_profile *p, struct usage *out, struct err *err);
/* The caller's to free; -1 also when the module is not analysed. */
int work_table(struct work *w, const struct store_module *m, struct blocktable *out,
	       struct err *err);
/* The pristine original, wherever it is; a descriptor or -1. */
int work_open_pristine(struct work *w, const struct store_module *m, struct err *err);
/* What happened to the module (work_history.c); _of: to a generation of it. */
void work_history(struct work *w, const char *path, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void work_history_of(struct work *w, const char *path, uint32_t generation, const char *event,
		     const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
