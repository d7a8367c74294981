/* flagsdead.h - nothing reads the flags that a counter changes before they are overwritten */
#ifndef VERIFY_FLAGSDEAD_H
#define VERIFY_FLAGSDEAD_H

#include <stdbool.h>

#include "lib/addr.h"

struct verify;

/* Looks at what the original does behind its calls and computed jumps: fills
 * counting.returns and what is behind it. */
void verify_look_at_returns(struct verify *v);
/* At that address of the original no flag but CF is read before it is overwritten. */
bool verify_flags_dead(const struct verify *v, vaddr addr);

#endif
