/* attribute.h - turns samples of a spool into counts of blocks, and their states into edges
 *
 * Two steps.  attribute_spool() walks a spool file and gathers a sample set: (mapped file,
 * offset) -> samples, without looking into any module.  attribute_resolve() then takes one
 * mapped file after the other, asks the resolver where its blocks are
 * (manager/samples/blockindex.h), and turns offsets into blocks.  States that came with the
 * samples are handed to the resolver's interpreter, a file at a time, and forgotten.
 */
#ifndef MANAGER_SAMPLES_ATTRIBUTE_H
#define MANAGER_SAMPLES_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/samples/counter.h"
#include "manager/samples/blockcounts.h"
#include "manager/samples/edgecounts.h"
#include "manager/samples/madeset.h"
#include "manager/samples/topnames.h"
#include "manager/samples/usersums.h"
#include "manager/samples/blockindex.h"
#include "manager/samples/space.h"
#include "policy/speedtest.h"

struct err;
struct spool_reader;

struct attribute_target {
	uint64_t module;		/* the resolver's name for the original module, e.g. its
					 * number in the store */
	const struct blockindex *index;	/* NULL: all samples count as outside */
	uint32_t generation;		/* that the mapped file is; 0: the original */
	void *own;			/* the resolver's */
	bool live;			/* a form of it, mapped in while the process ran */
};

struct attribute_resolver {
	/* 1: known, *out filled; 0: unknown or not allowed; -1: failed, nothing is attributed.
	 * What *out points to stays valid until release(). */
	int (*resolve)(void *ctx, const struct space_file *file, struct attribute_target *out,
		       struct err *err);
	/* may be NULL */
	void (*release)(void *ctx, const struct attribute_target *target);
	/* Called before release().  Fills *out, which is zeroed, with the edges and calls that
	 * `morph-edit interpret` sees in `states`, a stream of lib/statesample.h.  Without this
	 * function, or when it returns -1, the states are dropped, and counted as dropped. */
	int (*interpret)(void *ctx, const struct attribute_target *target, struct bytes states,
			 struct edgecounts *out, struct err *err);
	/* Are states of the module worth to be interpreted?  NULL: always. */
	bool (*lacks)(void *ctx, const struct attribute_target *target);
	/* What code is called that a process made, *answer, which is zeroed; may be NULL. */
	void (*made)(void *ctx, const struct madeset_question *q,
		     struct madeset_answer *answer);
	void *ctx;
};

struct attribute_place {	/* an instruction, by its address in the original */
	vaddr addr;
	uint32_t block, samples;
};

struct attribute_module {
	uint64_t module;
	uint64_t samples;	/* in blocks */
	uint64_t outside;	/* in the module, in no block */
	uint32_t ncount;
	struct blockcount *count;	/* ascending by block, every block once */
	uint32_t nplace;
	struct attribute_place *place;	/* of blocks with several samples, in no order */
	uint64_t states;	/* that were there to be interpreted */
	struct edgecounts edges;
};

/* A fault in this module killed a process, or one elsewhere a process whose program it is. */
struct attribute_crash {
	uint64_t module;
	uint32_t generation;
	uint32_t pid, signal, uid;
};

struct attribute_use {		/* processes of one kind that had this module mapped */
	uint64_t module;
	uint32_t generation;
	bool live;		/* mapped in while the processes ran */
	uint32_t kind;		/* of program and starter, not 0 */
	struct speedtest_sums sums;	/* covered_s: 0 */
};

struct attribute_whose {	/* samples of a module, in its blocks or not, of one user */
	uint64_t module;
	uint32_t uid;		/* as manager/samples/userset.h has it */
	uint32_t samples;
};

struct attribute_ran {		/* samples of one hour that came while that program ran */
	uint32_t hour;		/* since 1970 */
	char *program;		/* its path; "" if that is not known */
	int64_t module;		/* -counter: in none, but COUNTER_KERNEL and its like */
	uint64_t samples;
};

struct attribute_made {		/* samples in code that processes of a program made */
	/* malloc'd: its path, "" if that is not known; of the code, "" if it has no name */
	char *program, *name;
	uint32_t uid;		/* whose processes; MADESET_NOBODY: not known */
	uint64_t samples;
};

struct attribution {		/* the result, ascending by module */
	uint64_t counter[NCOUNTER];
	uint64_t bad_blocks;	/* damaged parts of spool files */
	uint64_t newest_ns;	/* time of the latest event */
	uint32_t nmodule;
	struct attribute_module *module;
	uint32_t ncrash;
	struct attribute_crash *crash;
	struct topnames kernel;		/* COUNTER_KERNEL by procedure, as far as it is known */
	uint32_t nmade;
	struct attribute_made *made;	/* COUNTER_ANON, all of it, in no order */
	/* none when records were lost: they would be missing here or there */
	uint32_t nuse;
	struct attribute_use *use;
	uint32_t nwhose;
	struct attribute_whose *whose;
	struct usersums user;	/* all samples by user, in modules or not */
	uint32_t nran;
	struct attribute_ran *ran;	/* programs malloc'd; all samples, in no order */
};

/* Collector of sample sets; keeps `spaces` and uses it, owned by the caller. */
struct attribute *attribute_new(struct spaces *spaces);
void attribute_free(struct attribute *a);	/* NULL is allowed */
/* Samples read from now on get their states from the feed (NULL: they bring them along, if
 * at all), which stays the caller's. */
struct statefeed;
void attribute_states(struct attribute *a, struct statefeed *feed);
/* Samples read from now on are entered there (NULL: nowhere); stays the caller's. */
struct userset;
void attribute_whose(struct attribute *a, struct userset *users);
/* Users, ascending, whose crashes are counted for each; those of all others are together.
 * Stays the caller's. */
void attribute_users(struct attribute *a, const uint32_t *uid, uint32_t n);
/* It is that time: what a spool file says to be later is taken to be now. */
void attribute_until(struct attribute *a, uint64_t wall_ns);
/* Reads the spool file to its end.  May be called for several files before resolving. */
void attribute_spool(struct attribute *a, struct spool_reader *r);
/* Resolves what was gathered and empties the collector.  *out must be zeroed before the
 * first use; results are added to it, nothing on failure.  The spaces have moved on by then:
 * who wants to read a file again loads the spaces as they were before it
 * (manager/store/ingest.h does). */
int attribute_resolve(struct attribute *a, const struct attribute_resolver *resolver,
		      struct attribution *out, struct err *err);
/* The kind of processes of that program, a file of the spaces, which that other one started, or
 * (RUNS_NO_FILE) nobody knows which. */
uint32_t attribute_kind(const struct spaces *s, uint32_t exe, uint32_t from);
void attribution_add(struct attribution *to, const struct attribution *from);
/* The module's entry, made where it belongs if missing; one entry more of the others. */
struct attribute_module *attribution_module(struct attribution *r, uint64_t module);
void attribution_crash(struct attribution *r, const struct attribute_crash *c);
void attribution_use(struct attribution *r, const struct attribute_use *u);
void attribution_whose(struct attribution *r, const struct attribute_whose *w);
void attribution_place(struct attribute_module *m, const struct attribute_place *p);
void attribution_ran(struct attribution *r, const char *program,
		     const struct attribute_ran *ran);
void attribution_made(struct attribution *r, const char *program, const char *name,
		      uint32_t uid, uint64_t samples);
void attribution_free(struct attribution *r);	/* leaves a zeroed, usable result */

#endif
