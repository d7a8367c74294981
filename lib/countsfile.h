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
/* counters before that: starts, targets without a slot */
enum { COUNTSFILE_FIRST = 2 };

struct countsfile {
	uint8_t head[COUNTSFILE_HEAD];
	struct digest original;
	vaddr base;			/* targets count from here */
	uint32_t ncounter, nslot, nsite;
	uint64_t offset, size;		/* of counters and slots in the file */
	struct bytes map;		/* block map of the instrumented generation */
	/* by which it was chosen what is counted; n == 0: by guess alone */
	struct bytes heat;
	const char *path;		/* of the original, absolute */
	struct bytes counters, slots;	/* by reading only */
};

struct countsfile_slot {
	uint32_t site;
	uint64_t target;
	uint64_t count;
};

/* Where slots begin in the region, and the region's size, for that many. */
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
