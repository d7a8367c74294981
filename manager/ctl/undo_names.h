/* undo_names.h - which original a file names, if it is a generation; and who may look */
#ifndef MANAGER_CTL_UNDO_NAMES_H
#define MANAGER_CTL_UNDO_NAMES_H

#include <stdbool.h>

#include "lib/digest.h"
#include "lib/rd.h"

struct err;

/* The digest in the file's section .morph.map.  1, 0 the file is no generation, -1.  The file
 * may be anybody's: a confined child reads it, and what it answers is a claim, no more. */
int undo_names(int fd, struct digest *original, struct err *err);

/* What the child does; for tests. */
bool undo_find_original(struct bytes file, struct digest *out);

#endif
