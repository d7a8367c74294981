/* profile_log.h - a log of `morphctl record`, or what an instrumented program counted, to block
 * profiles, without a daemon */
#ifndef MANAGER_CTL_PROFILE_LOG_H
#define MANAGER_CTL_PROFILE_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "lib/digest.h"
#include "lib/rd.h"
#include "manager/report/modulefile.h"

struct err;

struct profile_log_places {
	struct modulefile_places at;
	const char *const *binary;	/* [nbinary] of a log: taken for a file of that name */
	uint32_t nbinary;
	FILE *why;			/* gets the reasons instead of `say` */
};

/* For every module of the log (or the one of a file of counts, by `morph-edit counts`): runs
 * `morph-edit analyze` and writes OUT_DIR/BASENAME.<first 12 hex digits of SHA-256>.profile
 * (lib/profile.h).  One line about each module to `say` (may be NULL).  Modules of a log
 * that are refused or gone are skipped and said. */
int profile_log_write(const char *log_path, const char *out_dir,
		      const struct profile_log_places *places, FILE *say, struct err *err);

/* The same of recordings of others (manager/import/), all together.  A file that was mapped is
 * one of `binary` that has the same build-id or, where the recording has no build-ids, the same
 * name; else the one at its path.  With branch stacks a profile has executions. */
struct profile_log_import {
	const char *const *recording;
	uint32_t nrecording;
	const char *const *binary;
	uint32_t nbinary;
};
int profile_log_import(const struct profile_log_import *import, const char *out_dir,
		       const struct modulefile_places *places, FILE *say, struct err *err);

/* Makes the folder, if it is not there; writes the profile of a module into it, under the name
 * that has been said. */
int profile_log_folder(const char *path, struct err *err);
int profile_log_file(const char *out_dir, const char *module, const struct digest *original,
		     struct bytes profile, struct err *err);

#endif
