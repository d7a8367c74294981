/* hazards.h - reasons to refuse a whole file; internal to PostMorph */
#ifndef POSTMORPH_HAZARDS_H
#define POSTMORPH_HAZARDS_H

#include "postmorph/ir/text.h"

struct err;

/* 0, or -1 with ERR_REFUSED: before and after the code of the file is known. */
int hazards_check_file(const struct image *img, struct err *err);
int hazards_check_code(const struct text *t, struct err *err);

#endif
