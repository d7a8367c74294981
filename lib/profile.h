/* profile.h - the block profile of one original module, as a text file
 *
 *   morph-profile 1
 *   module /usr/bin/perl
 *   sha256 <64 hex digits of the original>
 *   clock tick
 *   outside 12.000                samples of this module in no known block
 *   block 0x4f2a0 153.000         samples in the block that begins there, ascending
 *
 * Control bytes and '%' in the module's path are written as %XX.  Numbers are plain decimals.
 * A count is in samples, not yet divided by the block's length: who reads it knows the length.
 * Lines of unknown kind are an error: a newer profile must not be half understood.
 */
#ifndef LIB_PROFILE_H
#define LIB_PROFILE_H

#include "lib/addr.h"
#include "lib/digest.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct arena;
struct err;

struct profile_block {
	vaddr addr;
	double samples;
};

struct profile {
	const char *module;
	struct digest original;
	const char *clock;		/* tick, cpu-clock, cycles, exact */
	double outside;
	double samples;			/* sum over block[]; derived on reading */
	struct profile_block *block;
	uint32_t nblock;
};

int profile_read(struct bytes text, struct arena *a, struct profile *out, struct err *err);
void profile_write(const struct profile *p, struct wr *out);

#endif
