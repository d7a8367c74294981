/* undo_search.h - generations found by looking at files, where nothing tells where they are */
#ifndef MANAGER_CTL_UNDO_SEARCH_H
#define MANAGER_CTL_UNDO_SEARCH_H

#include <stdbool.h>

/* Calls f for every regular file below the absolute path that may be a generation
 * (blockmap_may_be_in()), in the order of names.  Links are not followed; folders that cannot
 * be read count in *unread.  False from f ends it. */
void undo_search(const char *folder, bool (*f)(void *ctx, const char *path), void *ctx,
		 unsigned *unread);

#endif
