/* blocktable.h - where the blocks of one original module are
 *
 * Made once per original by a confined `morph-edit analyze --table`, kept by the Manager, which
 * has no decoder.  Little-endian, without gaps:
 *
 *   header   "MORPHBLK" | u32 version = 1 | 32 bytes SHA-256 of the original | u64 base
 *            | u64 text_size | u32 nseg | u32 nfn | u32 nblock
 *   seg      u64 vaddr | u64 offset | u64 size        executable segments of the original
 *   fn       u64 entry | u32 size | u32 reason         ascending by entry
 *   block    u32 off | u32 size | u32 ninsn | u32 fn   ascending by off, disjoint
 *
 * off counts from base; size is in bytes; ninsn leaves NOPs out and is at least 1; fn is an
 * index; fn.size is the sum of the function's ranges; fn.reason is an enum skip (0 = movable).
 */
#ifndef LIB_BLOCKTABLE_H
#define LIB_BLOCKTABLE_H

#include "lib/blockmap.h"

enum { BLOCKTABLE_VERSION = 1 };

struct blocktable_fn {
	vaddr entry;
	uint32_t size;
	uint32_t reason;
};

struct blocktable_block {
	uint32_t off, size, ninsn, fn;
};

struct blocktable {
	struct digest original;
	vaddr base;
	uint64_t text_size;		/* bytes of executable sections or segments */
	uint32_t nseg, nfn, nblock;
	struct blockmap_seg *seg;
	struct blocktable_fn *fn;
	struct blocktable_block *block;
};

void blocktable_write(const struct blocktable *t, struct wr *out);
int blocktable_read(struct bytes b, struct blocktable *out, struct err *err);
void blocktable_free(struct blocktable *t);

/* Index of the block that holds `addr`, UINT32_MAX when none does.  O(log n). */
uint32_t blocktable_find(const struct blocktable *t, vaddr addr);
/* File offset in the original -> its address; -1 when in no executable segment. */
int blocktable_vaddr_of(const struct blocktable *t, file_off off, vaddr *out);

#endif
