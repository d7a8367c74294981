/* mounts.h - what is mounted where, by the text of /proc/self/mountinfo
 *
 * Read once, before anything is mounted for a trial.
 */
#ifndef MANAGER_TRY_MOUNTS_H
#define MANAGER_TRY_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct mounts {
	struct mounts_item {
		char *at;	/* absolute path */
		char *type;	/* of the file system */
	} *item;
	size_t n;
};

/* Of the text, in which lines that are none are passed by. */
void mounts_parse(const char *text, struct mounts *out);
void mounts_free(struct mounts *m);
/* The type of what is mounted at the path, the topmost; NULL: nothing is. */
const char *mounts_type(const struct mounts *m, const char *path);
/* Is something mounted below the folder? */
bool mounts_below(const struct mounts *m, const char *path);
/* A file system in which files of users lie, and not one that the kernel makes up. */
bool mounts_is_ordinary(const char *type);

#endif
