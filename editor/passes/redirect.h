/* redirect.h - selects the functions to which all pointers are changed to lead to images */
#ifndef EDITOR_PASSES_REDIRECT_H
#define EDITOR_PASSES_REDIRECT_H

#include "postmorph/ir/ir.h"

/* Sets fn->redirected and fn->threaded of all functions, from `moved` of all functions.
 * To be done again whenever the set of moved functions has changed. */
void redirect_select(struct prog *prog);

#endif
