/* verify.h - is a generation the same program as its original? */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"
#include "lib/rd.h"

struct arena;
struct err;

/* Whole pages, where a process has them, and where in the file. */
struct verify_segment {
	uint64_t addr, size, offset;
	bool exec;
	bool counters;		/* memory of the process alone, of no file */
};
enum { VERIFY_MAX_FRESH = 4 };

struct verify_stats {		/* of what was shown */
	uint32_t blocks, instructions, entries, tables, unwind_rows;
	uint32_t generation;
	struct digest original;
	/* of a counting generation: where its counters are, from its first byte in memory, and
	 * their size */
	uint64_t counters, counters_size;
	/* of one for running processes: the original's code, its offset in the generation, and
	 * what is new */
	struct verify_segment text, fresh[VERIFY_MAX_FRESH];
	uint64_t text_offset;
	uint32_t nfresh;
};

/* 0 only when `generation` is shown, block by block, to be `original` in another order; else -1
 * with ERR_REFUSED and the first doubt, naming addresses on both sides.  Shares only `binary`
 * and `lib` with what produced the generation. */
int verify_generation(struct bytes original, struct bytes generation, struct arena *a,
		      struct verify_stats *stats, struct err *err);
/* The same of a counting generation (morph-edit instrument --private): it is shown to do what
 * the original does and to count besides, in a segment of its own.  A generation that does not
 * count is refused here, one that does is refused there. */
int verify_counting_generation(struct bytes original, struct bytes generation, struct arena *a,
			       struct verify_stats *stats, struct err *err);
/* The same as verify_generation(), and that it may take the place of the original in a process
 * that runs, and the original its place again; fills text, fresh and nfresh. */
int verify_live_generation(struct bytes original, struct bytes generation, struct arena *a,
			   struct verify_stats *stats, struct err *err);
/* The same of one that counts besides, as verify_counting_generation() says, in memory that
 * whoever maps it gives the process. */
int verify_live_counting_generation(struct bytes original, struct bytes generation,
				    struct arena *a, struct verify_stats *stats,
				    struct err *err);

#endif
