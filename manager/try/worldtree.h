/* worldtree.h - a root whose files are those of the present one, but what is written to them
 * goes elsewhere
 *
 * The kernel's overlay does that for one file system at a time, and without privileges only for
 * folders in which nothing is mounted.  So the new root is a file system in memory, in which
 * each folder of the old one is an overlay; where something is mounted below a folder, it is
 * made anew in memory and its entries are looked at in the same way.
 *
 *   /proc, /sys, /dev and what the kernel makes up   are the same ones
 *   /dev/shm                                         is a new one
 *   /run, and what no overlay can cover              can be read, not written
 */
#ifndef MANAGER_TRY_WORLDTREE_H
#define MANAGER_TRY_WORLDTREE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct mounts;

struct worldtree {
	const struct mounts *mounts;
	const char *root;	/* empty, a file system in memory: the new root grows in it */
	const char *layers;	/* empty, in memory as well: gets what is written */
	bool user;		/* without privileges outside of this user namespace */
	unsigned nlayer;
	char *lacks;		/* [size] what cannot be written to, with blanks between */
	size_t size;
};

int worldtree_build(struct worldtree *t, struct err *err);
/* An overlay of its own for a folder that several users write to, or somebody else owns: in a
 * user namespace the one above it cannot hold what is written there. */
int worldtree_cover(struct worldtree *t, const char *path, struct err *err);

#endif
