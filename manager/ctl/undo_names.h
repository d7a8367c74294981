/* undo_names.h - which original a file names, if it is a generation; and who may look */
#ifndef MANAGER_CTL_UNDO_NAMES_H
#define MANAGER_CTL_UNDO_NAMES_H

#include <stdbool.h>

#include "lib/digest.h"
#include "lib/rd.h"

struct err;

/* The digest in the file's section .morph.map.  1, 0 the file is no generation, -1.  After 0,
 * *broken: it is no whole file of any kind (undo_is_broken()); NULL: nobody asks.  The file may
 * be anybody's: a confined child reads it, and what it answers is a claim, no more. */
int undo_names(int fd, struct digest *original, bool *broken, struct err *err);

/* What the child does; for tests. */
bool undo_find_original(struct bytes file, struct digest *out);
/* Empty, begun with nothing but zeros, or an ELF file that is cut off: what a crash or a full
 * disk makes of a program, and no package delivers. */
bool undo_is_broken(struct bytes file);

#endif
