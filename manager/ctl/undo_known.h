/* undo_known.h - what root's ledger knows, for undo; without a ledger (-1) nothing is known */
#ifndef MANAGER_CTL_UNDO_KNOWN_H
#define MANAGER_CTL_UNDO_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"

struct err;
struct ledger_entry;
struct names;

/* DIR/ledger, or -1 when there is none, which is no error. */
int undo_known_open(const char *store, int *ledger_fd, struct err *err);
/* The file of that content at the path: 1 and its original and owner, 0 unknown. */
int undo_known_find(int ledger_fd, const char *path, const struct digest *present,
		    struct digest *original, uint32_t *owner, struct err *err);
/* Is there an entry of the path, and one with that original? */
bool undo_known_path(int ledger_fd, const char *path);
bool undo_known_original(int ledger_fd, const char *path, const struct digest *original);
/* Further names that its generations of that original had; *out is filled. */
void undo_known_also(int ledger_fd, const char *path, const struct digest *original,
		     struct names *out);
/* The original of the generation that was seen last at the path: 1 and its entry; 0: there is
 * none, or two of different originals were seen in one second. */
int undo_known_last(int ledger_fd, const char *path, struct ledger_entry *out);
/* With every path of the ledger, each once.  -1: not all of it could be read. */
int undo_known_each(int ledger_fd, void (*f)(void *ctx, const char *path), void *ctx,
		    struct err *err);

#endif
