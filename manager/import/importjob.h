/* importjob.h - reads a recording in a confined process of its own */
#ifndef MANAGER_IMPORT_IMPORTJOB_H
#define MANAGER_IMPORT_IMPORTJOB_H

#include "lib/rd.h"
#include "manager/import/import.h"

struct arena;
struct err;

struct import_id {		/* of a file that the recording has mappings of */
	const char *path;
	char hex[2 * 20 + 1];	/* its build-id */
	bool several;		/* files with different ones were at that path */
};

struct imported {
	int log_fd;		/* a log, as `morphctl record` writes it; the caller's */
	struct import_counts counts;
	uint32_t nid;
	struct import_id *id;	/* ascending by path, each once */
};

/* What is in *out but log_fd lives in the arena.  -1: the recording cannot be read; *err says
 * why, without its name. */
int importjob_run(const char *path, struct arena *a, struct imported *out, struct err *err);
/* Of the file that was mapped from `path`; NULL: the recording does not have its build-id. */
const struct import_id *imported_id(const struct imported *im, const char *path);

#endif
