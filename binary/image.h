/* image.h - a bounds-checked view of one x86-64 ELF file in memory
 *
 * Reads headers, program headers, sections and dynamic entries; refuses what is not ELF64
 * little-endian x86-64 ET_EXEC/ET_DYN.  Everything points into the file's bytes or the arena
 * (job lifetime).
 */
#ifndef BINARY_IMAGE_H
#define BINARY_IMAGE_H

#include <elf.h>
#include <stdbool.h>

#include "lib/addr.h"
#include "lib/rd.h"

struct arena;
struct err;

struct section {
	const char *name;	/* "" when the name is unreadable */
	Elf64_Shdr h;		/* copied, host order */
};

struct image {
	struct bytes file;
	Elf64_Ehdr eh;
	/* [nph], checked: file ranges inside the file, no wrap-around */
	Elf64_Phdr *ph;
	struct section *sh;	/* [nsh], 0 when the file has no section headers */
	uint32_t nph, nsh;
	/* first executable PT_LOAD, NULL if none; kept apart because most look-ups are in it */
	const Elf64_Phdr *code;
	struct bytes text;	/* its content, n == 0 if none ... */
	vaddr text_at;		/* ... and where that is */
	bool pie_or_dso;	/* ET_DYN */
	bool executable;	/* ET_EXEC, or ET_DYN with PT_INTERP or DF_1_PIE */
	bool is_static;		/* no PT_INTERP and no PT_DYNAMIC with DT_NEEDED */
};

/* -1 with the name of the kind in a sentence when the file is no program or shared library for
 * x86-64: a script, an archive, an object file, a core file, a separate debug file ... */
int filekind_check(struct bytes file, struct err *err);
/* Fills *img; fails with a reason when the file is not an image that Morph understands. */
int image_parse(struct bytes file, struct arena *a, struct image *img, struct err *err);

/* n bytes of file content that the loader maps at `addr`; .p == NULL if not all of it is
 * there. */
struct bytes image_at(const struct image *img, vaddr addr, uint64_t n);
/* The bytes in the file from `addr` to the end of its segment; .p == NULL if there are none. */
struct bytes image_rest_anywhere(const struct image *img, vaddr addr);
static inline struct bytes image_rest(const struct image *img, vaddr addr)
{
	uint64_t off = addr - img->text_at;

	return off < img->text.n ? (struct bytes){ img->text.p + off, img->text.n - off } :
				   image_rest_anywhere(img, addr);
}
/* The PT_LOAD that holds addr in memory (p_memsz), NULL if none. */
const Elf64_Phdr *image_segment(const struct image *img, vaddr addr);
bool image_is_exec(const struct image *img, vaddr addr);
bool image_is_writable(const struct image *img, vaddr addr);
const struct section *image_section(const struct image *img, const char *name);	/* or NULL */
const struct section *image_section_at(const struct image *img, vaddr addr);	/* SHF_ALLOC */
/* First program header of that type, NULL if none. */
const Elf64_Phdr *image_phdr(const struct image *img, uint32_t type);
/* Lowest and highest (end) address of all PT_LOADs. */
void image_span(const struct image *img, vaddr *lo, vaddr *hi);
/* Value of the first dynamic entry with that tag; false when there is none. */
bool image_dynamic(const struct image *img, int64_t tag, uint64_t *value);

#endif
