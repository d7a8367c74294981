/* codenames.h - names of code that a program has made at run time, as it has written them down
 *
 * Two forms are known: perf's map (lines of START SIZE NAME, numbers hexadecimal) and jitdump
 * (records, of which those of code that was loaded count).  Both are in linux
 * tools/perf/Documentation.  What was written later holds where code was made anew.
 */
#ifndef EDITOR_EXCHANGE_CODENAMES_H
#define EDITOR_EXCHANGE_CODENAMES_H

#include "lib/wr.h"

struct arena;
struct err;

/* `places` are lines 0xADDRESS, of the process that wrote the file.  The answer has the form of
 * editor/exchange/places.h, without addresses: where the process had its code is nobody's
 * business, and means nothing in another one.  -1: the file or the places are malformed. */
int codenames_resolve(struct bytes file, struct bytes places, struct arena *a, struct wr *out,
		      struct err *err);

#endif
