/* elfout.h - the file of a generation: the original, two new segments, new headers
 *
 * elfout.c plans and writes it, with the help of elfout_room.c, which finds room for the longer
 * program header table, and elfout_symbols.c and elfout_dynsyms.c, which name new text.  None
 * of these calls elfout.c.  Structs hold no memory of their own: the image, the parts and the
 * patches belong to the caller and must live until elfout_write() returns.
 */
#ifndef EDITOR_EMIT_ELFOUT_H
#define EDITOR_EMIT_ELFOUT_H

#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct err;

/* MAX_FAR is more sections than can stand behind the program headers and be moved; chosen. */
enum { ELFOUT_PAGE = 4096, ELFOUT_MAX_FAR = 16 };

struct elfout_far {			/* a section that moves to the new read-only segment */
	uint32_t section;		/* its index */
	uint64_t off;			/* from the start of that segment */
	uint64_t more;			/* bytes that it has behind the original's */
};

/* The tables of dynamic symbols that get more entries (elfout_dynsyms.c): indices of their
 * sections, 0 for one that the file does not have, and the number of the original's symbols.
 * All 0: they stay as they are. */
struct elfout_dynsyms {
	uint32_t symbols, versions, gnu, sysv;
	uint64_t n;
};

/* The plan of the file: where new text goes, and how the program headers get their room
 * (elfout_room.c). */
struct elfout {
	const struct image *img;
	char layout;			/* 'F' or 'L' (elfout_room.c) */
	new_vaddr text_addr;		/* of new text, a multiple of the page size */
	file_off text_off;
	uint32_t nph;			/* program headers of the generation */
	/* of one more segment in front of new text, for counters: writable, with no bytes in
	 * the file; size 0: there is none */
	new_vaddr counters_addr;
	uint64_t counters_size;
	bool add_eh_frame;		/* the original has no PT_GNU_EH_FRAME */

	/* The bytes [front, front_end) of the original move by `shift`: up in layout F, down
	 * (modulo 2^64) to the new first segment in layout L. */
	file_off front, front_end;
	uint64_t shift;
	struct elfout_far far[ELFOUT_MAX_FAR];	/* layout F */
	uint32_t nfar;
	uint64_t far_size;
	struct elfout_dynsyms dynsyms;		/* layout F */
	/* layout L: all file offsets of the original grow by `lift`, and the new first segment
	 * has low_size bytes; else both are 0 */
	uint64_t lift, low_size;
};

struct elfout_patch {			/* bytes of the original that change */
	file_off off;
	uint8_t size;
	uint8_t byte[18];
};

struct elfout_moved {			/* a moved function, for .symtab */
	const char *name;		/* NULL: none fits */
	vaddr from;			/* its entry, and how much is behind it there */
	uint64_t old_size;
	new_vaddr to;			/* the image of the entry, to the end of its part */
	uint64_t size;
	bool hot;
	bool named;			/* it has a symbol: elfout_symbols.c */
};

struct elfout_symbol {			/* a name for a part of a moved function */
	const char *name;
	new_vaddr addr;
	uint64_t size;
	bool hot;
	uint32_t begins;		/* moved[] of the function whose image begins here */
};
enum { ELFOUT_INNER = UINT32_MAX };	/* in `begins`: of none */

struct elfout_dynsym {			/* the same in .dynsym, by the name that is there */
	uint64_t like;			/* index of the function's symbol */
	vaddr addr;
	uint64_t size;
	bool image, hot;		/* in new text; else the function's original */
};

struct elfout_parts {
	struct bytes text;		/* hot, then fluff */
	uint64_t hot_size;
	struct bytes tables;		/* new jump tables, then exception tables */
	struct bytes hdr, frame;	/* .eh_frame_hdr, .eh_frame */
	struct bytes map;		/* block map */
	struct bytes probes;		/* instead of the content of that section; 0: none */
	uint32_t probes_section;
	new_vaddr tables_addr, hdr_addr, frame_addr;	/* from elfout_place() */
	new_vaddr entry;		/* new entry point of the program; 0: as it was */
	const struct elfout_patch *patch;
	uint32_t npatch;
	const struct elfout_symbol *symbol;	/* for .symtab, where there is one */
	uint32_t nsymbol;
	struct elfout_moved *moved;		/* ascending by from */
	uint32_t nmoved;
	const struct elfout_dynsym *dynsym;	/* as many as there was made room for */
	uint32_t ndynsym;
};

/* Chooses the layout and where new text goes.  -1 with ERR_REFUSED when the file has no room
 * for two more segments, ERR_INPUT when it is malformed. */
int elfout_plan(const struct prog *prog, struct elfout *eo, struct err *err);
/* The same with a segment of counters of `size` bytes. */
int elfout_plan_counters(const struct prog *prog, uint64_t size, struct elfout *eo,
			 struct err *err);
/* The generation can have symbols for its text (elfout_symbols.c). */
bool elfout_has_symbols(const struct elfout *eo);
/* The tables of dynamic symbols, if they can get more entries; else *out is all 0. */
void elfout_find_dynsyms(const struct image *img, struct elfout_dynsyms *out);
/* The word of .gnu.hash for new symbols, without the bit that ends a chain.  None of them may
 * have a name with this hash. */
enum { ELFOUT_NO_HASH = 0 };
/* After the plan and before elfout_place(): room for so many dynamic symbols.  Returns their
 * number, or 0 when the file can have none. */
uint32_t elfout_make_dynsym_room(struct elfout *eo, uint32_t nsymbol);
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
/* Appends the whole file to `out`, which must be empty.  -1 when a patch is outside the
 * original; `out` then holds a part of the file. */
int elfout_write(const struct elfout *eo, const struct elfout_parts *parts, struct wr *out,
		 struct err *err);

/* --- for elfout.c --- */

/* elfout_room.c.  Finds room for eo->nph headers and sets the layout's fields of *eo; `seen` is
 * the lowest address after the original's table that its code or data is seen to refer to.  -1
 * with ERR_REFUSED. */
int elfout_room(struct elfout *eo, vaddr seen, struct err *err);
/* Only headers and .dynamic lead to the section, and it can be elsewhere as well. */
bool elfout_can_move(const struct image *img, uint32_t section);
/* Section `index` of the original as the generation has it; `ro` is the new read-only
 * segment, NULL for a section that does not go there. */
Elf64_Shdr elfout_old_section(const struct elfout *eo, const Elf64_Phdr *ro, uint32_t index);
/* In a program at a fixed address, the free bytes of the first segment in front of the next
 * section that stays; sh_size 0: there are none. */
Elf64_Shdr elfout_free_front(const struct elfout *eo);
/* Moves the bytes of what gave way, in `out`, and updates .dynamic there. */
void elfout_move_front(const struct elfout *eo, const Elf64_Phdr *ro, struct wr *out);
/* A program header of the original as the generation has it. */
Elf64_Phdr elfout_old_phdr(const struct elfout *eo, Elf64_Phdr ph);

/* elfout_symbols.c.  Appends the longer symbol and string table and sets their two headers in
 * header[nsh]. */
void elfout_add_symbols(const struct elfout *eo, const struct elfout_parts *parts,
			const Elf64_Phdr *ro, Elf64_Shdr *header, struct wr *out);
/* elfout_dynsyms.c.  After elfout_move_front(): writes the dynamic symbols behind the
 * original's, in the room that was made for them. */
void elfout_add_dynsyms(const struct elfout *eo, const struct elfout_parts *parts,
			const Elf64_Phdr *ro, struct wr *out);

#endif
