/* elfout.h - the file of a generation: the original, two new segments, new headers */
#ifndef EDITOR_ELFOUT_H
#define EDITOR_ELFOUT_H

#include "lib/wr.h"
#include "postmorph/image.h"

struct err;

/* How the two new program headers get their place (see elfout.c). */
struct elfout {
	const struct image *img;
	char layout;			/* 'A', 'B' or 'C' */
	new_vaddr text_addr;		/* of new text, a multiple of the page size */
	file_off text_off;
	uint32_t nph;			/* program headers of the generation */
	uint32_t drop_note;		/* layout C: index of the PT_NOTE that makes room */
	uint32_t drop_property;		/* layout C: index of the PT_GNU_PROPERTY likewise */
};

struct elfout_patch {			/* bytes of the original that change */
	file_off off;
	uint8_t size;
	uint8_t byte[18];
};

struct elfout_parts {
	struct bytes text;		/* hot, then fluff */
	uint64_t hot_size;
	struct bytes tables;		/* new jump tables, then exception tables */
	struct bytes hdr, frame;	/* .eh_frame_hdr, .eh_frame */
	struct bytes map;		/* block map */
	new_vaddr tables_addr, hdr_addr, frame_addr;	/* as elfout_place() said */
	const struct elfout_patch *patch;
	uint32_t npatch;
};

/* Chooses the layout and where new text goes.  ERR_REFUSED when the file gives no way. */
int elfout_plan(const struct image *img, struct elfout *eo, struct err *err);
/* Index of the section that new text of that kind is in. */
uint16_t elfout_text_section(const struct elfout *eo, uint64_t hot_size, bool hot);
/* Fills the addresses of the read-only parts from the sizes of text and the parts before them. */
void elfout_place(const struct elfout *eo, uint64_t text_size, uint64_t tables_size,
		  uint64_t hdr_size, struct elfout_parts *parts);
/* Appends the whole file.  `out` must be empty. */
int elfout_write(const struct elfout *eo, const struct elfout_parts *parts, struct wr *out,
		 struct err *err);

#endif
