/* debugelf.h - a separate debug file: the headers of a generation, and sections of debug
 * information
 *
 * Nothing of the file is loaded.  Sections of the generation keep their numbers and addresses
 * and have no content, except for notes, by whose build-id debuggers find the file, unwind data
 * and symbols.
 */
#ifndef EDITOR_DEBUG_DEBUGELF_H
#define EDITOR_DEBUG_DEBUGELF_H

#include "binary/image.h"
#include "lib/wr.h"

struct debugelf_section {
	const char *name;
	uint32_t type, info;		/* `info` of a symbol table */
	uint64_t flags, align, entsize;
	struct bytes content;
};

/* Appends the file.  section[n] take the place of the generation's sections of the same name,
 * or follow them; a section .symtab is linked to .strtab.  At most UINT16_MAX / 2 of them. */
void debugelf_write(const struct image *gen, const struct debugelf_section *section,
		    uint32_t n, struct wr *out);

#endif
