/* payload.h - recognizes programs that read their own file; internal to PostMorph */
#ifndef POSTMORPH_PAYLOAD_H
#define POSTMORPH_PAYLOAD_H

#include "binary/image.h"

struct err;

/* 0, or -1 with ERR_REFUSED when the file has a payload. */
int payload_check(const struct image *img, struct err *err);

#endif
