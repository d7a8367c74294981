/* import.h - reads recordings of others: perf.data, and the text of `perf script`
 *
 * A recording is hostile input.  These readers run in a confined job (importjob.h) and tell in
 * spool events what they find, so that from there on everything is as with samples of our own.
 */
#ifndef MANAGER_IMPORT_IMPORT_H
#define MANAGER_IMPORT_IMPORT_H

#include "lib/rd.h"
#include "monitor/spool.h"

struct arena;
struct err;

/* The device of a mapped file whose inode the recording does not have. */
#define IMPORT_NO_DEVICE UINT32_MAX

/* Of a mapping that has none: the file is known by its path, if it has one. */
static inline void import_need_inode(struct spool_event *mapping)
{
	const char *path = mapping->mmap.path;

	if (!mapping->mmap.inode && path[0] == '/' && path[1] != '/') {
		mapping->mmap.dev_major = IMPORT_NO_DEVICE;
		mapping->mmap.inode = 1;
	}
}

struct import_sink {
	/* in the order of time, of text in that of its lines; the event is the reader's */
	void (*event)(void *ctx, const struct spool_event *ev);
	/* the build-id of the file that was mapped from that path */
	void (*build_id)(void *ctx, struct bytes id, const char *path);
	void *ctx;
};

struct import_counts {
	uint64_t samples, stacks;	/* told of */
	uint64_t chosen;		/* stacks of chosen branches only: not told of */
	uint64_t others;		/* samples of other events than the first */
	uint64_t unknown;		/* records or lines of a kind that is not read */
	uint64_t lost;
	const char *clock;		/* what samples are by: cycles, cpu-clock or other */
};

/* Do the bytes begin like a perf.data file, of whatever kind? */
bool perfdata_is(struct bytes file);
/* -1 with *err filled when the file is malformed, cut short, of another byte order or of
 * another architecture; events may have been told of by then. */
int perfdata_read(struct bytes file, struct arena *a, const struct import_sink *sink,
		  struct import_counts *counts, struct err *err);
/* Text as `perf script -F pid,tid,time,ip,brstack --show-mmap-events` writes it, or with
 * `brstackoff`, or `dso`.  -1 when there is no sample in it. */
int perftext_read(struct bytes file, struct arena *a, const struct import_sink *sink,
		  struct import_counts *counts, struct err *err);

#endif
