/* buildid.h - where the build-ids of both files are */
#ifndef VERIFY_BUILDID_H
#define VERIFY_BUILDID_H

#include <stdint.h>

struct verify;

struct vbuildid {		/* filled by buildid.c, for headers.c */
	uint64_t off, now;	/* in the original's file and in the generation's */
	uint64_t n;		/* bytes; 0: there is none */
};

void verify_find_buildid(struct verify *v);

#endif
