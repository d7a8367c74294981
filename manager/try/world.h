/* world.h - what a command sees of the files while it is tried: other files in the places of
 * some, and what it writes goes nowhere else
 *
 * WHOLE    A mount namespace, by root, or with a user namespace by anybody where the kernel
 *          lets him.  Its root is put together anew (worldtree.h) so that what is written goes
 *          to memory and is gone with the last process.
 * PLACES   The same namespace with the true files: what is written stays.
 * NONE     No namespace.  Nothing can be replaced but the program that is started itself, and
 *          the libraries that the loader's path leads to (loaderpath.h).
 */
#ifndef MANAGER_TRY_WORLD_H
#define MANAGER_TRY_WORLD_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum world_kind { WORLD_WHOLE, WORLD_PLACES, WORLD_NONE };

struct world_image {
	const char *path;	/* absolute, no symbolic links: where it is seen */
	const char *file;	/* its content; a fresh copy of it is made for each world */
};

struct world {
	enum world_kind kind;
	bool user;		/* with a user namespace of its own */
	const char *folder;	/* the trial's, seen as it is; `folder`/world is there, empty */
	const struct world_image *image;
	size_t nimage;
};

/* This process, a child of its own, enters it; it keeps its working folder, as it is seen
 * there.  WORLD_NONE needs nothing.  `lacks` gets the folders that cannot be written to there,
 * because the kernel can give no private ones, "" without any. */
int world_enter(const struct world *w, char *lacks, size_t size, struct err *err);

#endif
