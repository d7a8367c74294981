/* names.h - further names of a file: a few absolute paths, in a text of bounded size
 *
 * Who gives them is not believed: what they name is looked at (install_set.h).
 */
#ifndef MANAGER_PARENT_NAMES_H
#define MANAGER_PARENT_NAMES_H

#include <limits.h>
#include <stdbool.h>

/* Of one file, the first one included; all further ones together, with an end each: chosen.
 * Programs that distributions ship with several names have two to four. */
enum { NAMES_MOST = 16, NAMES_BYTES = PATH_MAX };

struct names {
	unsigned n, bytes;
	char text[NAMES_BYTES];		/* each with its NUL */
};

/* Once.  -1: there is no room for it. */
int names_add(struct names *names, const char *path);
bool names_have(const struct names *names, const char *path);	/* NULL is allowed */
/* A line for each; names that were found have no line break. */
void names_lines(const struct names *names, char out[NAMES_BYTES]);
/* i < n */
const char *names_at(const struct names *names, unsigned i);

#endif
