/* spool_format.h - constants of the spool's format that writer and reader share
 * (doc/formats.md)
 *
 * Sizes of blocks and tables were chosen, not measured one by one.
 */
#ifndef MONITOR_SPOOL_FORMAT_H
#define MONITOR_SPOOL_FORMAT_H

#include <stdint.h>

#include "lib/statememory.h"
#include "monitor/spool.h"

enum {
	SPOOL_VERSION = 7,
	/* that is read: without branch stacks, and the kernel's procedures */
	SPOOL_VERSION_OLDEST = 4,
	SPOOL_GRID = 256,	/* file header and blocks begin at multiples of it */
	SPOOL_HEADER_BYTES = 76, /* with its CRC; stands at 0 and again at SPOOL_HEADER_COPY */
	SPOOL_HEADER_COPY = 128,
	SPOOL_CLOCK_BYTES = 16,

	SPOOL_BLOCK_HEADER = 12,	/* u32 magic | u32 payload bytes | u32 CRC */
	SPOOL_BLOCK_FULL = 12 * 1024,	/* a payload this long is ended */
	SPOOL_EVENT_MAX = SPOOL_STACK_MAX + SPOOL_PROCEDURE_MAX + 257 + STATEMEMORY_MAX,
	SPOOL_PAYLOAD_MAX = SPOOL_BLOCK_FULL + SPOOL_EVENT_MAX,

	SPOOL_TIME_SHIFT = 16,	/* time unit: 65,536 ns */
	SPOOL_NSLOT = 31,	/* tasks that a block remembers; 31 in a tag: a new one */
	SPOOL_NFILE = 256,	/* mapped files that a block remembers */
	SPOOL_NPROCEDURE = 256,	/* likewise, the kernel's procedures */
	SPOOL_TAG_KERNEL = 0x40,	/* tag of a sample: 0 k p iiiii */
	SPOOL_TAG_PC = 0x20,	/* from which of the task's two last PCs */
	SPOOL_TAG_EVENT = 0x80,	/* tag of another event: 1 000 kkkk */
	SPOOL_TAG_PROCEDURE = 0x8e,	/* its procedure follows, then a sample in the kernel */
	SPOOL_TAG_STATE = 0x8f,	/* a sample follows, and behind it the state of its task */
};

#define SPOOL_MAGIC "MORPHSPL"
#define SPOOL_BLOCK_MAGIC 0x4b4c424du	/* "MBLK" */

/* CRC-32 as in IEEE 802.3 and zlib, over two ranges one after the other. */
uint32_t spool_crc(struct bytes a, struct bytes b);

/* Page-aligned numbers become short ones, and nothing is lost for others. */
static inline uint64_t spool_rot(uint64_t v)
{
	return v >> 12 | v << 52;
}

static inline uint64_t spool_unrot(uint64_t v)
{
	return v << 12 | v >> 52;
}

#endif
