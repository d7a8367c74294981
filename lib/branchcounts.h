/* branchcounts.h - what branch stacks tell of one mapped file, as a stream
 *
 * Two branches of a stack, one after the other, tell of a taken branch and of a run: control
 * went from where the first led to straight to the second, without a taken branch in between.
 * Equal ones are added up.  `morph-edit interpret` reads the stream, and is the first to look
 * whether the code has such branches.  Little-endian, without gaps:
 *
 *   "MBRANCH1"
 *   record   u64 from | u64 to | u64 count and kind: the count times 2, plus 1 for a run
 *
 * Addresses are those of the file.  Of a branch, `from` is its instruction and `to` its target;
 * of a run, `from` is the first instruction and `to` the branch at its end.
 */
#ifndef LIB_BRANCHCOUNTS_H
#define LIB_BRANCHCOUNTS_H

#include "lib/rd.h"
#include "lib/wr.h"

struct err;

struct branchcount {
	uint64_t from, to;
	uint64_t count;		/* below 2^63 */
	bool run;		/* else a taken branch */
};

/* A run's bytes; longer ones are no runs.  Chosen: straight code is hardly ever as long. */
enum { BRANCHCOUNT_RUN_MAX = 1 << 16 };

void branchcounts_write_header(struct wr *out);
void branchcounts_write(const struct branchcount *b, struct wr *out);

/* Do the bytes begin like such a stream? */
bool branchcounts_is(struct bytes stream);

struct branchcounts_reader {
	struct rd rd;
	uint64_t nread;		/* records so far */
};

/* -1 when it is no such stream.  `stream` must live as long as the reader. */
int branchcounts_open(struct bytes stream, struct branchcounts_reader *out, struct err *err);
/* 1: *out filled; 0: the end; -1: cut short. */
int branchcounts_read(struct branchcounts_reader *r, struct branchcount *out, struct err *err);

#endif
