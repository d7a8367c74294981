/* elfnaming.h - the least that names an original: an ELF header, a section .morph.map, a name
 */
#ifndef TESTS_UNIT_ELFNAMING_H
#define TESTS_UNIT_ELFNAMING_H

#include <elf.h>
#include <string.h>

#include "lib/digest.h"
#include "lib/wr.h"

static const char elf_names[] = "\0.shstrtab\0.morph.map";

/* A map of that version.  The caller frees it. */
static inline struct wr elf_naming(const struct digest *original, unsigned version)
{
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			  .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 1 };
	Elf64_Shdr sh[3] = { { 0 } };
	struct wr w = { 0 };

	wr_raw(&w, &eh, sizeof(eh));
	sh[1] = (Elf64_Shdr){ .sh_name = 1, .sh_offset = w.n, .sh_size = sizeof(elf_names) };
	wr_raw(&w, elf_names, sizeof(elf_names));
	sh[2] = (Elf64_Shdr){ .sh_name = 11, .sh_offset = w.n, .sh_size = 48 };
	wr_raw(&w, "MORPHMAP", 8);
	wr_u32(&w, version);
	wr_u32(&w, 1);
	wr_raw(&w, original->b, sizeof(original->b));
	eh.e_shoff = w.n;
	wr_raw(&w, sh, sizeof(sh));
	memcpy(w.p, &eh, sizeof(eh));
	return w;
}

#endif
