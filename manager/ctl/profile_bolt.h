/* profile_bolt.h - fdata and pre-aggregated profiles of llvm-bolt's tools to block profiles,
 * without a daemon */
#ifndef MANAGER_CTL_PROFILE_BOLT_H
#define MANAGER_CTL_PROFILE_BOLT_H

#include <stdbool.h>
#include <stdio.h>

#include "manager/ctl/profile_log.h"

/* Does the file begin like such a profile?  Only its first line is looked at; a file that
 * cannot be read does not. */
bool profile_bolt_is(const char *path);
/* The same as profile_log_import(): all texts together are of the one `binary`, which must be
 * given, because they do not name it.  A confined job reads them. */
int profile_bolt_import(const struct profile_log_import *import, const char *out_dir,
			const struct modulefile_places *places, FILE *say, struct err *err);

#endif
