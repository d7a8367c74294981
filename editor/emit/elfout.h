/* elfout.h - the file of a generation: the original, two new segments, new headers
 *
 * elfout.c plans and writes it; elfout_room.c finds room for the longer program header table,
 * elfout_symbols.c names new text.
 */
#ifndef EDITOR_EMIT_ELFOUT_H
#define EDITOR_EMIT_ELFOUT_H

#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct err;

enum { ELFOUT_PAGE = 4096, ELFOUT_MAX_FAR = 16 };

struct elfout_far {			/* a section that goes to the new read-only segment */
	uint32_t section;
	uint64_t off;			/* from the start of that segment */
};

/* How the new program headers get their places (see elfout_room.c). */
struct elfout {
	const struct image *img;
	char layout;			/* 'F' or 'L' */
	new_vaddr text_addr;		/* of new text, a multiple of the page size */
	file_off text_off;
	uint32_t nph;			/* program headers of the generation */
	/* of one more segment, in front of new text, which has nothing in */
	new_vaddr counters_addr;
	uint64_t counters_size;		/* the file and can be written; 0: there is none */
	bool add_eh_frame;		/* the original has no PT_GNU_EH_FRAME */

	/* What stands in [front, front_end) of the original moves by `shift`: up in layout
	 * F, in layout L down (modulo 2^64) to the new first segment. */
	file_off front, front_end;
	uint64_t shift;
	struct elfout_far far[ELFOUT_MAX_FAR];	/* layout F */
	uint32_t nfar;
	uint64_t far_size;
	/* layout L: file offsets grow by `lift`; 0 else.  The new first segment has low_size
	 * bytes. */
	uint64_t lift, low_size;
};

struct elfout_patch {			/* bytes of the original that change */
	file_off off;
	uint8_t size;
	uint8_t byte[18];
};

struct elfout_symbol {			/* a name for a part of a moved function */
	const char *name;
	new_vaddr addr;
	uint64_t size;
	bool hot;
};

struct elfout_parts {
	struct bytes text;		/* hot, then fluff */
	uint64_t hot_size;
	struct bytes tables;		/* new jump tables, then exception tables */
	struct bytes hdr, frame;	/* .eh_frame_hdr, .eh_frame */
	struct bytes map;		/* block map */
	struct bytes probes;		/* instead of the content of that section; 0: none */
	uint32_t probes_section;
	new_vaddr tables_addr, hdr_addr, frame_addr;	/* as elfout_place() said */
	new_vaddr entry;		/* of the program; 0: as it was */
	const struct elfout_patch *patch;
	uint32_t npatch;
	const struct elfout_symbol *symbol;	/* for .symtab, where there is one */
	uint32_t nsymbol;
};

/* Chooses the layout and where new text goes.  ERR_REFUSED when the file gives no way. */
int elfout_plan(const struct prog *prog, struct elfout *eo, struct err *err);
/* The same with a segment of counters of `size` bytes. */
int elfout_plan_counters(const struct prog *prog, uint64_t size, struct elfout *eo,
			 struct err *err);
/* The generation can have symbols for its text (elfout_symbols.c). */
bool elfout_has_symbols(const struct elfout *eo);
/* Index of the section header of .morph.text (`hot`) or .morph.fluff: they follow the
 * original's sections, and a section that is empty has no header. */
static inline uint16_t elfout_text_section(const struct elfout *eo, uint64_t hot_size, bool hot)
{
	return (uint16_t)(eo->img->nsh + (!hot && hot_size > 0));
}
/* Fills the addresses of the read-only parts from the sizes of text and the parts before
 * them. */
void elfout_place(const struct elfout *eo, uint64_t text_size, uint64_t tables_size,
		  uint64_t hdr_size, struct elfout_parts *parts);
/* Appends the whole file.  `out` must be empty. */
int elfout_write(const struct elfout *eo, const struct elfout_parts *parts, struct wr *out,
		 struct err *err);

/* elfout_room.c, between the two files: room for eo->nph headers; `seen` is the first address
 * behind the original's table that its code or data is seen to refer to. */
int elfout_room(struct elfout *eo, vaddr seen, struct err *err);
/* Section `index` of the original as the generation has it; `ro` is the new read-only
 * segment. */
Elf64_Shdr elfout_old_section(const struct elfout *eo, const Elf64_Phdr *ro, uint32_t index);
/* Puts what moved to its new places and the new places into .dynamic. */
void elfout_move_front(const struct elfout *eo, const Elf64_Phdr *ro, struct wr *out);
/* The original's header as the generation has it, if it names something that moved. */
Elf64_Phdr elfout_old_phdr(const struct elfout *eo, Elf64_Phdr ph);

/* elfout_symbols.c: appends the longer tables and sets their two headers in header[nsh]. */
void elfout_add_symbols(const struct elfout *eo, const struct elfout_parts *parts,
			const Elf64_Phdr *ro, Elf64_Shdr *header, struct wr *out);

#endif
