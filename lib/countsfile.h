/* countsfile.h - the file that an instrumented program counts in (doc/formats.md) */
#ifndef LIB_COUNTSFILE_H
#define LIB_COUNTSFILE_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/digest.h"
#include "lib/wr.h"

struct arena;
struct err;

enum { COUNTSFILE_HEAD = 48, COUNTSFILE_SLOT = 32 };	/* bytes */
enum { COUNTSFILE_VERSION = 3 };
/* The first edge counter has this index.  The two before it count how often the program was
 * started, and calls whose target got no slot. */
enum { COUNTSFILE_FIRST = 2 };

struct countsfile {
	uint8_t head[COUNTSFILE_HEAD];
	struct digest original;
	vaddr base;			/* targets count from here */
	uint32_t ncounter, nslot, nsite;
	uint64_t offset, size;		/* of counters and slots in the file */
	struct bytes map;		/* block map of the instrumented generation */
	/* the expected counts by which the edges to count were chosen; n == 0: guesses alone */
	struct bytes heat;
	const char *path;		/* of the original, absolute */
	struct bytes counters, slots;	/* by reading only */
};

struct countsfile_slot {
	uint32_t site;
	uint64_t target;
	uint64_t count;
};

/* Of the region that holds counters and slots: where its slots begin, and its size. */
uint64_t countsfile_slots_at(uint32_t ncounter);
uint64_t countsfile_size(uint32_t ncounter, uint32_t nslot);
/* Where the region begins in the file. */
uint64_t countsfile_offset(const char *path);
/* A file in which nothing has been counted. */
void countsfile_write(const struct countsfile *f, struct wr *out);
/* Whether the first bytes of a file say that it is one. */
bool countsfile_is(struct bytes start);
/* Range-checked.  Points into `file` and the arena. */
int countsfile_read(struct bytes file, struct arena *a, struct countsfile *out,
		    struct err *err);
uint64_t countsfile_counter(const struct countsfile *f, uint32_t i);
/* False when nothing is in slot `i`. */
bool countsfile_slot(const struct countsfile *f, uint32_t i, struct countsfile_slot *out);

#endif
