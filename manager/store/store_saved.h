/* store_saved.h - what is needed to say what generations have saved: their use, their speed,
 * and what Morph itself has taken
 *
 * Use and costs are kept by hours, after a month by days and after a year by thirty days, so
 * that years of them are small (store_saved_thin()).  Both stay when a module changes: numbers
 * of generations do not come again.
 */
#ifndef MANAGER_STORE_STORE_SAVED_H
#define MANAGER_STORE_STORE_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/ranktest.h"

struct err;
struct store;

/* --- how much generations ran --- */

/* Processes that had it mapped were of a kind that was observed before the swap, or of none. */
enum { STORE_KIND_OTHER, STORE_KIND_OBSERVED };

struct store_used {
	uint32_t generation;
	/* mapped in while the processes ran: then `kind` is theirs (struct attribute_use), or
	 * STORE_KIND_OTHER beyond a few */
	bool live;
	uint32_t kind;
	double module_s, rest_s;	/* sampled CPU time in the module, and elsewhere */
	uint64_t begin_ns;		/* of the first period of it */
};

/* Into the hour of `time_ns`. */
int store_used_add(struct store *s, int64_t module, uint64_t time_ns,
		   const struct store_used *u, struct err *err);
/* Sums since then, in order of generations; *out is malloc'd. */
int store_used_get(struct store *s, int64_t module, uint64_t since_ns, struct store_used **out,
		   uint32_t *n, struct err *err);

/* --- how fast they are --- */

enum store_measured_by {
	STORE_BY_RUNS = 1,		/* CPU time of runs */
	STORE_BY_SHARE,			/* time in the module, for each second elsewhere */
	STORE_BY_TURNS,			/* in a process, in turns with its original */
};

struct store_measured {
	int64_t module;
	uint32_t generation, before;	/* numbers; before 0: the original */
	enum store_measured_by by;
	uint32_t kind;			/* BY_TURNS: of the process */
	struct ranktest_shift shift;	/* logarithm of the time; > 0: slower */
};

/* Over a former one of that generation, in turns or not. */
int store_measured_put(struct store *s, const struct store_measured *m, struct err *err);
/* Otherwise than in turns: it cannot be said any more. */
int store_measured_forget(struct store *s, int64_t module, uint32_t generation,
			  struct err *err);
/* 1; 0: it was not measured so. */
int store_measured_get(struct store *s, int64_t module, uint32_t generation, bool turns,
		       struct store_measured *out, struct err *err);

/* --- what Morph itself takes --- */

enum store_own {
	STORE_OWN_MONITOR, STORE_OWN_MANAGER, STORE_OWN_PARENT, STORE_OWN_JOBS,
	STORE_OWN_COUNTING,		/* more than usual, by those who ran what counts */
	STORE_OWN_SAMPLES,		/* no time: how many were taken */
	/* Jobs, all of which were STORE_OWN_JOBS once; that are others now. */
	STORE_OWN_ANALYSES, STORE_OWN_LAYOUTS, STORE_OWN_PROOFS, STORE_OWN_REGISTERS,
	STORE_NOWN
};

int store_own_add(struct store *s, enum store_own what, uint64_t time_ns, double amount,
		  struct err *err);
/* Sums since then; *begin_ns: of the first period of them, 0 when there is nothing. */
int store_own_get(struct store *s, uint64_t since_ns, double out[STORE_NOWN],
		  uint64_t *begin_ns, struct err *err);

/* What was read last of that, any text; "" at first. */
enum { STORE_READING_MAX = 128 };
int store_own_last(struct store *s, enum store_own what, char out[STORE_READING_MAX],
		   struct err *err);
int store_own_last_put(struct store *s, enum store_own what, const char *text, struct err *err);

/* Of use and costs, what is old becomes coarser. */
int store_saved_thin(struct store *s, uint64_t now_ns, struct err *err);

#endif
