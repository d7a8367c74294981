/* saving.h - CPU time that generations have saved: how fast they are, times how much they ran
 *
 * A generation was compared with what was at its path before: its original, or a generation
 * that itself was compared, and so on down to the original.  Each of these comparisons is a
 * link.  One is of the CPU time of whole processes (of runs, or in turns), or of the time in
 * the module alone, with what else its processes do as the measure.  What was saved by the
 * newest is what the same work would have taken with the one before it, less what it took; the
 * next link begins with that.
 *
 * The interval takes all links at their ends at once, so it is at least as sure as the links
 * are together.
 */
#ifndef POLICY_SAVING_H
#define POLICY_SAVING_H

#include <stdbool.h>
#include <stdint.h>

enum { SAVING_LINKS = 32 };

struct saving_link {
	bool of_module;			/* else of whole processes */
	/* logarithm of the time now by the time before: > 0 is slower */
	double low, estimate, high;
};

struct saving {				/* CPU time in seconds; < 0: lost */
	double low_s, estimate_s, high_s;
};

/* Of processes that took process_s in all, of which module_s in the module; the newest link
 * first. */
struct saving saving_of(double process_s, double module_s, const struct saving_link *link,
			uint32_t n);
/* Adds them: the interval of the sum holds where both hold. */
void saving_add(struct saving *to, const struct saving *more);

#endif
