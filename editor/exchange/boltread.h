/* boltread.h - profiles of llvm-bolt's tools as block profiles
 *
 * Read is the text of fdata (perf2bolt, merge-fdata, instrumentation by llvm-bolt), with
 * branches or with `no_lbr`, and of pre-aggregated profiles: lines B, F, f, r, T, R, S and E.
 * What its places are called is said in boltprofile.h.
 *
 * The text may come from anybody: each line is held against the code of the file.  Branches and
 * runs that it does not have are left out and counted.
 */
#ifndef EDITOR_EXCHANGE_BOLTREAD_H
#define EDITOR_EXCHANGE_BOLTREAD_H

#include "lib/profile.h"

struct arena;
struct err;

struct boltread_counts {
	uint64_t taken;		/* lines that were used */
	uint64_t elsewhere;	/* of other files, or from and to there; left out */
	uint64_t unknown;	/* of names that the file does not have; left out */
	uint64_t impossible;	/* of what its code does not have; left out */
};

/* Sets all of *out but module and original: clock `branches`, or `other` where the text has
 * samples alone.  -1: it is no such text, or nothing of it is of this file.  *out lives in the
 * arena. */
int boltread(struct bytes file, struct bytes text, struct arena *a, struct profile *out,
	     struct boltread_counts *counts, struct err *err);

#endif
