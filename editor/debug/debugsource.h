/* debugsource.h - the sections of the file that holds an original's debug information
 *
 * It may be a separate debug file, whose loaded sections have no content.  Everything points
 * into the file or the arena.
 */
#ifndef EDITOR_DEBUG_DEBUGSOURCE_H
#define EDITOR_DEBUG_DEBUGSOURCE_H

#include <elf.h>
#include <stdbool.h>

#include "lib/rd.h"

struct arena;
struct err;
struct image;

struct debugsource_section {
	const char *name;		/* "" when it cannot be read */
	Elf64_Shdr h;
	struct bytes raw;		/* as in the file; n == 0: no content */
};

struct debugsource {
	struct debugsource_section *section;	/* [n] */
	uint32_t n;
};

/* -1 with ERR_REFUSED or ERR_INPUT when it is no ELF file of 64 bits for x86. */
int debugsource_read(struct bytes file, struct arena *a, struct debugsource *out,
		     struct err *err);
const struct debugsource_section *debugsource_find(const struct debugsource *s,
						   const char *name);	/* or NULL */
/* Content of the section with that name, decompressed; n == 0 if there is none.  -1 with
 * ERR_REFUSED if it is compressed in a way that libelf does not know.  `file` is the caller's
 * own: libelf may change the header of the section, which cannot be read again then. */
int debugsource_content(struct bytes file, const char *name, struct arena *a,
			struct bytes *out, struct err *err);
/* -1 with ERR_REFUSED if it is of another program than the original. */
int debugsource_check(const struct debugsource *s, const struct image *orig, struct err *err);

#endif
