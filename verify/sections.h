/* sections.h - sections of the original that the generation has a new content of */
#ifndef VERIFY_SECTIONS_H
#define VERIFY_SECTIONS_H

#include <stdint.h>

struct vsections {		/* indices, equal in both files; 0: it has the old content */
	uint32_t symbols;	/* .symtab */
	uint32_t probes;	/* the notes of static probe points */
};

#endif
