/* blockmap.h - the block-mapping function of a generation (section .morph.map)
 *
 * Written by the Editor, believed by the Verifier only after proof, used by the Manager to take
 * samples of a running generation back to the blocks of its original.  doc/formats.md has the
 * byte layout.  All integers little-endian, without gaps.
 *
 *   header   "MORPHMAP" | u32 version = 2 | u32 generation | 32 bytes SHA-256 of the original
 *            | u64 orig_base | u64 gen_base | u32 hot_size | u32 fluff_size
 *            | u32 nseg | u32 nblock | u32 nentry | u32 ntable
 *   seg      u64 vaddr | u64 offset | u64 size executable segments of the generation file
 *   block    gen_size, and the differences of gen, orig and orig_size from their most frequent
 *            values: LEB128, ascending by gen, disjoint
 *   entry    u32 orig ascending; original address of an entry jump (5 bytes)
 *   table    u64 orig_addr | u64 new_addr | u32 nentry | u32 kind  ascending by new_addr
 *
 * `gen` counts from gen_base, the first byte of new text: [0, hot_size) is hot text,
 * [hot_size, hot_size + fluff_size) is fluff text.  `orig` counts from orig_base.
 * A block's image has its original's instructions in order, some of them longer, without
 * trailing NOPs, its last branch re-encoded, and behind them at most one synthetic jmp,
 * or NOPs that lead into an aligned image behind it; gen_size covers all of it.
 * (A LOOP or JRCXZ out of reach of 8 bits is re-encoded as `loop +2; jmp +5; jmp rel32
 * TARGET`.) No original block has two images.  One whose image is empty (nothing but NOPs, or a
 * lone JMP to the next block) is not listed: jumps to it lead on to the image of its successor.
 * Nor is one that was not copied: jumps to it lead to its original.
 */
#ifndef LIB_BLOCKMAP_H
#define LIB_BLOCKMAP_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/bracket.h"
#include "lib/digest.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct err;

enum { BLOCKMAP_VERSION = 2 };

struct blockmap_seg {
	vaddr vaddr;
	file_off offset;
	uint64_t size;		/* bytes in the file */
};

struct blockmap_block {
	uint32_t gen, gen_size;
	uint32_t orig, orig_size;
	bool called;		/* begins with a call of 5 bytes whose image has 6 */
};

enum blockmap_table_kind {
	BLOCKMAP_TABLE_REL32 = 1,	/* entry = target - table address, signed 32 bits */
	BLOCKMAP_TABLE_ABS64 = 2,	/* entry = target address, 64 bits */
	/* entry = target - address of the original's table, signed 32 bits: the code that reads
	 * the table still forms the original's address, and adds a displacement to it */
	BLOCKMAP_TABLE_BESIDE32 = 3,
};

static inline uint32_t blockmap_entry_size(uint32_t table_kind)
{
	return table_kind == BLOCKMAP_TABLE_ABS64 ? 8 : 4;
}

struct blockmap_table {
	vaddr orig_addr;
	new_vaddr new_addr;
	uint32_t nentry;
	uint32_t kind;		/* enum blockmap_table_kind */
};

struct blockmap {
	uint32_t generation;
	struct digest original;
	vaddr orig_base;
	new_vaddr gen_base;
	uint32_t hot_size, fluff_size;
	uint32_t nseg, nblock, nentry, ntable;
	struct blockmap_seg *seg;
	struct blockmap_block *block;
	uint32_t *entry;
	struct blockmap_table *table;
	/* [nblock], indices of block[] ascending by orig; made on reading */
	uint32_t *by_orig;
	struct bracket bracket;	/* of by_orig[] */
};

/* Why the analysis does not touch a generation; who reads that knows what the file is. */
extern const char blockmap_refusal[];

/* Bytes near the end of the regular file say that it may be a generation: nothing is parsed. */
bool blockmap_may_be_in(int fd);
/* Appends the encoded map.  Arrays must be in the documented order. */
void blockmap_write(const struct blockmap *map, struct wr *out);
/* Range-checked decoding of untrusted bytes: order, disjointness and bounds hold afterwards. */
int blockmap_read(struct bytes b, struct blockmap *out, struct err *err);
/* The same for a caller that only asks which original block an image is of:
 * blockmap_find_orig() must not be called, and it is not checked that no original block has two
 * images. */
int blockmap_read_images(struct bytes b, struct blockmap *out, struct err *err);
/* Frees what blockmap_read() allocated; a zeroed map is allowed. */
void blockmap_free(struct blockmap *map);

/* The block whose image holds `addr`; NULL when addr is not in new text.  O(log n). */
const struct blockmap_block *blockmap_find_gen(const struct blockmap *map, new_vaddr addr);
/* The block whose original range holds `addr`; NULL when it was not moved.  O(log n). */
const struct blockmap_block *blockmap_find_orig(const struct blockmap *map, vaddr addr);
/* The original address of an address in a block's image, and the other way round: the one at
 * the same distance from the block's start, but not behind its end.  Exact, except where
 * branches were re-encoded or instructions added. */
vaddr blockmap_orig_of(const struct blockmap *map, const struct blockmap_block *b,
		       new_vaddr addr);
new_vaddr blockmap_gen_of(const struct blockmap *map, const struct blockmap_block *b,
			  vaddr addr);
/* File offset in the generation -> its address; -1 when in no executable segment. */
int blockmap_vaddr_of(const struct blockmap *map, file_off off, new_vaddr *out);

/* The segment list, which the block table has too.  *out is malloc'ed, the caller's to free. */
void blockmap_segs_write(const struct blockmap_seg *seg, uint32_t nseg, struct wr *out);
int blockmap_segs_read(struct rd *r, uint32_t nseg, struct blockmap_seg **out, struct err *err);
int blockmap_segs_vaddr(const struct blockmap_seg *seg, uint32_t nseg, file_off off,
			vaddr *out);

#endif
