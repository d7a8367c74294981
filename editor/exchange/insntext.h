/* insntext.h - the text of instructions, through libopcodes */
#ifndef EDITOR_EXCHANGE_INSNTEXT_H
#define EDITOR_EXCHANGE_INSNTEXT_H

#include <stdio.h>

#include "lib/addr.h"

struct err;
struct image;

/* A line for each instruction of the range: `prefix`, its address in hexadecimal digits, a tab,
 * its text.  -1: the range is not in the file. */
int insntext_print(const struct image *img, vaddr start, uint64_t size, const char *prefix,
		   FILE *out, struct err *err);

#endif
