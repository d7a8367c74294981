/* flagscan.h - finds where the flags that `inc` changes are overwritten before anything reads
 * them, by looking ahead a few instructions
 *
 * It knows less than flaglive.h and assumes less: the Verifier shows the same by code of its
 * own (verify/flagsdead.h), so what is dead by this is dead there.
 */
#ifndef EDITOR_INSTRUMENT_FLAGSCAN_H
#define EDITOR_INSTRUMENT_FLAGSCAN_H

#include "postmorph/ir/ir.h"

struct flagscan;
struct innerways;

/* Looks at what follows every call of the program; the result lives in arena `a`. */
const struct flagscan *flagscan_new(const struct prog *prog, struct arena *a);
/* Something leads to what begins by reading flags, which no function does. */
bool flagscan_leads_to_reads(const struct prog *prog, const struct innerways *w);
/* No flag but CF is live where the instruction at `addr` of the original begins. */
bool flagscan_is_dead(const struct flagscan *s, vaddr addr);

#endif
