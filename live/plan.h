/* plan.h - what the proof of a generation says of its place in memory
 *
 * `morph-verify --live ORIGINAL GENERATION` shows that a process which runs the original may
 * get the generation's pages instead, and prints what is mapped where:
 *
 *	generation N of SHA256: the same program (...)
 *	text ADDRESS SIZE OFFSET OFFSET		in the original, in the generation
 *	new ADDRESS SIZE OFFSET rx|r		once or more
 *
 * in hexadecimal digits.  Where it counts besides (--counting), the first of what is new is
 * "new ADDRESS SIZE 0 rw": memory of zeros, which the process shares with its forks alone.
 * Addresses are those of the files; in memory all are as far from theirs as the text is.
 */
#ifndef LIVE_PLAN_H
#define LIVE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"

struct err;

enum { LIVE_PAGE = 4096, LIVE_MAX_NEW = 4 };

struct live_new {
	uint64_t addr, size, offset;
	bool exec;
	bool counters;		/* memory of no file */
};

struct live_plan {
	struct digest original;
	uint64_t text, text_size;		/* whole pages, as all sizes here */
	uint64_t original_offset, generation_offset;
	struct live_new fresh[LIVE_MAX_NEW];	/* ascending, disjoint, behind the text */
	uint32_t nfresh;
};

/* Decodes the lines, `text` is changed.  -1 with ERR_INPUT for anything else. */
int live_plan_parse(char *text, struct live_plan *out, struct err *err);
/* From the first new byte to the last one. */
uint64_t live_plan_fresh_size(const struct live_plan *p);

#endif
