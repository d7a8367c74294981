/* splice.h - a generation into a running process, and out again
 *
 * ON        What is new is mapped first, then the text is replaced by the generation's, in one
 *           call each, so that a process in which only some of this was done runs as well.
 * OFF       The text is replaced by the original's.  What was new stays mapped: return
 *           addresses on stacks lead there.  It costs nothing but addresses.
 * FILES     Descriptors come into the process by a pair of sockets that it makes, so it needs
 *           no right to open them, and its mount namespace does not matter.  The original's is
 *           taken from the process itself (/proc/PID/map_files): it is the very file, whatever
 *           is at its path now.
 * JOURNAL   None: the mappings themselves say what was done, in the same instant in which it
 *           is done.
 * WHEN      A thread stands in no instruction that changes, nor does the place that a signal
 *           handler returns to: the bytes from there on are the same in both files.  (That no
 *           return address is inside of an entry jump, morph-verify --live has shown.)
 */
#ifndef LIVE_SPLICE_H
#define LIVE_SPLICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct live_map;
struct live_maps;
struct live_plan;

struct live_limits {
	uint64_t pause_ns;	/* for stopping all threads */
	uint64_t patience_ns;	/* for a moment in which that can be done */
	/* who asks knows that exceptions find no handler in the process: an unwinder in it
	 * does not matter */
	bool nobody_catches;
};

struct live_outcome {
	/* the longest one: from the first thread asked to stop to the last that
	 * had stopped let go */
	uint64_t pause_ns;
	unsigned tries;
	bool was_so;		/* nothing was to be done */
	uint64_t base;		/* on: addresses in memory less those in the file */
};

/* The mapping of the plan's original in the process: NULL with ERR_REFUSED.  *original gets a
 * descriptor of its file.  Where the generation itself is mapped there, it is that mapping, and
 * *original is -1. */
const struct live_map *live_find_text(pid_t pid, const struct live_maps *maps,
				      const struct live_plan *plan, int generation,
				      int *original, struct err *err);
/* Maps the generation in the process.  -1 with the reason. */
int live_on(pid_t pid, const struct live_plan *plan, int generation,
	    const struct live_limits *limits, struct live_outcome *out, struct err *err);
/* Writes the counters of a generation that counts, as they are now: the process has it, or had
 * it.  -1 with ERR_REFUSED where it is not so. */
int live_read_counters(pid_t pid, const struct live_plan *plan, int generation, int out,
		       struct err *err);
/* Is `map` the text of an original that a file below `folder`, or the file of that name, took
 * the place of? */
bool live_is_spliced(const struct live_maps *maps, const struct live_map *map,
		     const char *folder);
/* The same of that very file. */
bool live_is_spliced_by(pid_t pid, const struct live_maps *maps, const struct live_map *map,
			int generation);
/* Maps all originals back where that file, or one below the folder, is in their place. */
int live_off_file(pid_t pid, int generation, const struct live_limits *limits,
		  struct live_outcome *out, struct err *err);
int live_off(pid_t pid, const char *folder, const struct live_limits *limits,
	     struct live_outcome *out, struct err *err);

#endif
