/* infer.h - the steps of infer_counts() */
#ifndef EDITOR_INFER_H
#define EDITOR_INFER_H

#include "postmorph/ir.h"

/* Makes the counts of all moved functions likelier, edges seen and calls between functions included. */
void infer_fit(struct prog *prog, struct arena *scratch);

#endif
