/* samplelines.h - places of a program as lines of text, with or without counts
 *
 *	0x4f2a0		an address
 *	+0x3f2a0	an offset in the file
 *	0x4f2a0 17	and how many samples were there
 */
#ifndef EDITOR_EXCHANGE_SAMPLELINES_H
#define EDITOR_EXCHANGE_SAMPLELINES_H

#include "binary/image.h"

struct samplelines {
	struct sampleline {
		vaddr addr;	/* 0: in no code */
		double count;
	} *at;			/* in the order of the lines */
	uint32_t n;
};

/* Lives in the arena.  -1: a line is malformed. */
int samplelines_read(struct bytes text, const struct image *img, struct arena *a,
		     struct samplelines *out, struct err *err);

#endif
