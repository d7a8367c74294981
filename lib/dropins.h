/* dropins.h - a configuration file and the files of the folder beside it, as one text
 *
 * FILE comes first, then the files FILE.d/NAME whose names end like FILE's, by name as bytes.
 * Where there are any, each begins with a line "--- # file: PATH"; else the text is FILE's
 * alone.
 */
#ifndef LIB_DROPINS_H
#define LIB_DROPINS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/rd.h"

struct err;

enum { DROPINS_MAX = 64, DROPINS_NAME_MAX = 4096 };

/* A descriptor at the beginning of the text, the caller's: FILE itself, or a memory file.  -1
 * with *err where a file cannot be read, or is no regular one, or all have more than `max`
 * bytes. */
int dropins_open(const char *path, size_t max, struct err *err);
/* Cuts the first part off *rest: its text, and its path, if the text tells, in name[].  Without
 * such lines the whole text is one part. */
struct bytes dropins_part(struct bytes *rest, char name[DROPINS_NAME_MAX]);

#endif
