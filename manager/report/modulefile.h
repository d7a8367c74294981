/* modulefile.h - the files that a recording is of, and the jobs that look into them
 *
 * Everybody may have chosen a file's path and content: it is opened as a regular file only, and
 * confined jobs (manager/parent/job.h) parse it.
 */
#ifndef MANAGER_REPORT_MODULEFILE_H
#define MANAGER_REPORT_MODULEFILE_H

#include <sys/stat.h>

#include "lib/blockmap.h"
#include "manager/parent/job.h"

struct arena;
struct err;
struct profile;

struct modulefile_places {
	const char *morph_edit;		/* the program */
	const char *store;		/* folder; originals of generations are in it */
};

enum { MODULEFILE_OUTPUT_MAX = 1 << 30, MODULEFILE_JOB_S = 3600, MODULEFILE_ID_MAX = 20 };

struct modulefile_job {
	enum job_kind kind;
	int nin, in[JOB_MAX_IN];
	uint64_t a, b;			/* as the kind says */
};

/* One job for somebody who waits; *out is the caller's. */
int modulefile_run(const char *morph_edit, const struct modulefile_job *job, int *out,
		   struct err *err);
/* The same; the whole output, in the arena. */
int modulefile_text(const char *morph_edit, const struct modulefile_job *job, struct arena *a,
		    struct bytes *out, struct err *err);

/* A recording or profile that the command line names, for reading: no device, and no pipe,
 * which has no end that is sure to come, and is read once; for root, none of another user
 * (ERR_REFUSED), but for the one who called sudo. */
int modulefile_recording(const char *path, struct err *err);
/* Fails if one of the `n` files of --binary cannot be opened. */
int modulefile_check(const char *const *file, uint32_t n, struct err *err);
/* A descriptor.  What is no regular file is not opened at all. */
int modulefile_open(const char *path, struct stat *st, struct err *err);
/* A descriptor for the module of a profile, known by its digest: one of the `n` files, the one
 * at its path, or an original in the store. */
int modulefile_of_profile(const struct modulefile_places *places, const char *const *file,
			  uint32_t n, const struct profile *p, struct err *err);
/* The build-id of a file in hexadecimal digits, "" if it has none. */
int modulefile_build_id(const char *morph_edit, int fd, char hex[2 * MODULEFILE_ID_MAX + 1],
			struct err *err);
/* The block map of a generation, and a descriptor for its original in the store; *map is
 * filled, and the caller's, even when the original cannot be had. */
int modulefile_original(const struct modulefile_places *places, int fd, struct blockmap *map,
			struct err *err);
/* The separate debug file of that build-id, where packages and debuginfod keep them; -1: there
 * is none. */
int modulefile_debug(const char *build_id);

#endif
