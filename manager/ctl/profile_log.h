/* profile_log.h - a log of `morphctl record`, or what an instrumented program counted, to block
 * profiles, without a daemon */
#ifndef MANAGER_CTL_PROFILE_LOG_H
#define MANAGER_CTL_PROFILE_LOG_H

#include <stdio.h>

struct err;

struct profile_log_places {
	const char *morph_edit;		/* the program */
	const char *store;		/* folder; originals of generations are in it */
};

/* For every module of the log (or the one of a file of counts, by `morph-edit counts`): runs
 * `morph-edit analyze` and writes OUT_DIR/BASENAME.<first 12 hex digits of SHA-256>.profile
 * (lib/profile.h).  One line about each module to `say` (may be NULL).  Modules of a log
 * that are refused or gone are skipped and said. */
int profile_log_write(const char *log_path, const char *out_dir,
		      const struct profile_log_places *places, FILE *say, struct err *err);

#endif
