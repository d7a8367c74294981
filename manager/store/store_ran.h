/* store_ran.h - which programs ran, by time: samples by hour, program and module
 *
 * They do not fade.  Hours become days and then thirty days (store_ran_thin()), all by UTC.  Of
 * one such period there are at most STORE_RAN_ROWS rows and those of no program: the smallest
 * ones become samples of no known program, in no module.  What there is stays when a module
 * changes.
 */
#ifndef MANAGER_STORE_STORE_RAN_H
#define MANAGER_STORE_STORE_RAN_H

#include <stdbool.h>
#include <stdint.h>

struct attribution;
struct err;
struct store;

/* Chosen.  Eight days of hours, sixty days, and twelve more in a year, as full as they can be,
 * are 135,000 rows and 2.3 MiB. */
enum { STORE_RAN_ROWS = 512 };

/* What the attribution has of it. */
int store_ran_add(struct store *s, const struct attribution *a, struct err *err);

struct store_ran {
	/* its path; "": not known, or of the smallest, or not asked for */
	const char *program;
	int64_t module;		/* -counter: in none (COUNTER_UNKNOWN and its like) */
	uint64_t samples;
	uint64_t begin_ns, end_ns;	/* of the first period of them, and of the last */
};
/* What is asked for: periods that lie in [since_ns, until_ns); until_ns 0: all since then. */
struct store_ran_span {
	uint64_t since_ns, until_ns;
	bool programs;		/* apart, one after the other; else all of a module together */
};
/* Calls f with the sums; it returns false to stop, and may not write to the store. */
int store_ran_each(struct store *s, const struct store_ran_span *span,
		   bool (*f)(void *ctx, const struct store_ran *r), void *ctx, struct err *err);

/* How long a period around `at_ns` may be, when it is now_ns: an hour, a day, thirty. */
uint64_t store_ran_unit_ns(uint64_t at_ns, uint64_t now_ns);
/* What is old becomes coarser. */
int store_ran_thin(struct store *s, uint64_t now_ns, struct err *err);

/* The module is forgotten: what it had is in no module. */
int store_ran_forget(struct store *s, int64_t module, struct err *err);

#endif
