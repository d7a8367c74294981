/* ir_print.h - prints the annotated program as text, for --print-after */
#ifndef EDITOR_PASSES_IR_PRINT_H
#define EDITOR_PASSES_IR_PRINT_H

#include <stdio.h>

#include "postmorph/ir/ir.h"

/* The moved functions in layout order, in the form that tests/unit/irtext.h describes, except
 * that targets of exits are not named and code bytes are lost. */
void ir_print(const struct prog *prog, FILE *f);

#endif
