/* headers.h - how the generation's file differs from the original's as a whole */
#ifndef VERIFY_HEADERS_H
#define VERIFY_HEADERS_H

#include <elf.h>
#include <stdint.h>

struct vfile {			/* filled by headers.c */
	const Elf64_Phdr **fresh;	/* [nfresh] segments that only the generation has */
	uint32_t nfresh;
	/* The original's byte at file offset X is at X + lift in the generation, unless its
	 * section has moved (front.c).  Not 0 only for programs linked to a fixed address. */
	uint64_t lift;
};

#endif
