/* debug.h - the debug information of one file while it is translated (debugfile.h)
 *
 * Each section that changes is read as it was and written anew; offsets that are said to be in
 * a section are from its start.  Everything but the new sections lives in the arena.
 */
#ifndef EDITOR_DEBUG_DEBUG_H
#define EDITOR_DEBUG_DEBUG_H

#include <stdbool.h>

#include "editor/debug/addresses.h"
#include "lib/wr.h"

struct err;

enum debug_section_id {
	DEBUG_INFO, DEBUG_TYPES, DEBUG_ABBREV, DEBUG_LINE, DEBUG_ADDR, DEBUG_ARANGES,
	DEBUG_RANGES, DEBUG_RNGLISTS, DEBUG_LOC, DEBUG_LOCLISTS, DEBUG_MACRO, DEBUG_NSECTION
};

struct debug_section {
	struct bytes was;		/* n == 0: there is none */
	struct wr now;
};

struct debug_attr {
	uint32_t name, form;
	int64_t implicit;		/* of DW_FORM_implicit_const */
};

struct debug_decl {			/* of one abbreviation code */
	uint64_t code;
	uint32_t tag;
	bool children;
	const struct debug_attr *attr;	/* [n], as they were */
	uint32_t n;
};

struct debug_abbrevs {			/* one table */
	uint64_t was, now;		/* offsets in the section */
	uint16_t version;		/* of the units that use it */
	const struct debug_decl *decl;	/* [n], ascending by code */
	uint32_t n;
};

struct debug_string {
	uint32_t form;			/* 0: none; never an index */
	struct bytes value;		/* as in the section */
};

struct debug_unit {
	enum debug_section_id section;	/* DEBUG_INFO or DEBUG_TYPES */
	uint64_t off, first, end;	/* of its header, its first entry, its end */
	uint64_t abbrevs_at;		/* place of the offset in the header, and the offset */
	uint64_t abbrevs_off;
	uint16_t version;
	const struct debug_abbrevs *abbrevs;
	vaddr base;			/* of its lists */
	uint64_t addr_base, rnglists_base, loclists_base;	/* 0: not given */
	uint64_t lines;			/* offset of its line program; NO_LINES: none */
	struct debug_string name, dir;	/* of its source file */
	uint64_t originals;		/* its unit for originals; 0: none (originals.c) */
	addresses_ranges code;		/* of it; and of its functions with images, ascending */
	addresses_ranges moved;
};

#define NO_LINES UINT64_MAX

/* A function, an inlined one or a block with variables: debuggers take a line once in each. */
struct debug_scope {
	uint64_t lines;			/* as of its unit */
	struct addresses_range range;	/* of the original */
	uint32_t id;
	uint32_t order;			/* outer ones before inner ones: lines.c */
};

struct debug_fix {			/* a 4-byte offset to be written when it is known */
	enum debug_section_id section;
	uint64_t at, was;
	bool originals;			/* of a line program: that for originals */
};

struct debug_moved {			/* a function with images */
	uint32_t unit;
	uint64_t off;			/* of its entry, in the unit's section */
	addresses_ranges was;
};

/* The place of a list of an old one, by its offset and the base of its unit. */
struct debug_list {
	uint64_t was, base, addr_base, now;
	bool taken;
};

/* A table of lists that units name by number, of either kind. */
struct debug_listtable {
	uint64_t was;			/* base: offset of the old table */
	uint32_t n;
	uint32_t *offset;		/* [n], from `was` of the new lists; 0: not used */
	const struct debug_unit **user;	/* [n] */
	struct wr lists;
	VEC(struct debug_fix) fixes;	/* where units name it */
};

struct debug_lists {			/* of ranges, or of places of variables */
	enum debug_section_id old, new;	/* section of DWARF up to 4, of DWARF 5 */
	bool locations;
	struct debug_list *known[2];	/* hash tables of lists in `old` and `new` */
	uint32_t nknown[2], room[2];
	VEC(struct debug_listtable *) table;	/* as units name them first */
	VEC(struct debug_listtable *) by_base;
};

struct debug {
	struct arena *a;
	struct addresses addresses;
	struct debug_section section[DEBUG_NSECTION];
	VEC(struct debug_unit) unit;
	struct debug_abbrevs *abbrevs;	/* [nabbrevs], ascending by `was` and version */
	uint32_t nabbrevs;
	struct debug_lists ranges, locations;
	VEC(struct debug_scope) scope;
	/* of each scope: itself, or, of a block without variables, the one around it */
	VEC(uint32_t) belongs;
	VEC(struct debug_fix) line_fix;
	VEC(struct debug_fix) call;	/* where calls name entries of .debug_info */
	VEC(struct debug_moved) function;	/* in the order of units */
	addresses_ranges moved;		/* their code, ascending */
	addresses_ranges jumps;		/* what entry jumps take the place of, ascending */
	struct bytes str_offsets;	/* .debug_str_offsets */
	bool *starts;			/* [.debug_addr] a slot that has a start now */
	uint64_t nread;			/* entries of lists and tables read, so far */
	uint64_t most_bytes;		/* of a new section of lists */
	struct err *err;
};

/* Refuses what is malformed: "SECTION at offset OFF: WHY".  Returns -1. */
int debug_malformed(struct debug *d, enum debug_section_id s, uint64_t off, const char *why);
/* Counts n more entries read; -1 when the file makes the same ones be read without end. */
int debug_count(struct debug *d, uint64_t n);

/* forms.c.  Moves behind a value; false if the form is unknown.  A value of a list's index, an
 * offset or a number is in *value. */
bool debug_skip_value(struct rd *r, uint32_t form, uint16_t version, uint64_t *value);
bool debug_is_address(uint32_t form);	/* DW_FORM_addr or an index of one */
bool debug_is_offset(uint32_t form, uint16_t version);
bool debug_takes_location(uint32_t attr);

/* abbrevs.c.  Fills d->abbrevs and the units' pointers, writes the new section, and its offsets
 * into the headers of units. */
int debug_translate_abbrevs(struct debug *d);
const struct debug_decl *debug_find_decl(const struct debug_abbrevs *t, uint64_t code);
/* What became of the range of an entry: where the offset of its list goes. */
enum debug_range_form { DEBUG_NO_RANGE, DEBUG_AT_LOW, DEBUG_AT_HIGH, DEBUG_RANGE_UNKNOWN };
enum debug_range_form debug_range_form(const struct debug_decl *decl);
bool debug_has_entry(const struct debug_decl *decl);	/* low_pc became entry_pc */

/* units.c.  Fills d->unit by the headers; walks all entries. */
int debug_read_units(struct debug *d);
int debug_translate_units(struct debug *d);

/* lists.c */
void debug_lists_init(struct debug *d);
/* An address of .debug_addr. */
int debug_address(struct debug *d, const struct debug_unit *u, uint64_t index, vaddr *out);
/* Offset of the new list of places that an old one at `off` becomes. */
int debug_translate_list(struct debug *d, const struct debug_unit *u, uint64_t off,
			 uint64_t *now);
/* The same for number `index` of the unit's table, which keeps its number. */
int debug_translate_indexed(struct debug *d, const struct debug_unit *u, uint64_t index);
/* The unit's table of lists at `base` is named at offset `at` of its section. */
int debug_use_table(struct debug *d, struct debug_lists *l, const struct debug_unit *u,
		    uint64_t base, uint64_t at);
/* Writes the list of these ranges, in their order; number `index` of the unit's table. */
int debug_write_ranges(struct debug *d, const struct debug_unit *u,
		       const addresses_ranges *ranges, uint64_t *now);
int debug_write_indexed(struct debug *d, const struct debug_unit *u,
			const addresses_ranges *ranges, uint64_t index);
/* The ranges of a list of the original. */
int debug_read_ranges(struct debug *d, const struct debug_unit *u, uint32_t form,
		      uint64_t value, addresses_ranges *out);
/* After all lists: puts the tables into the sections and fixes what names them. */
int debug_finish_lists(struct debug *d, struct debug_lists *l);
void debug_free_lists(struct debug_lists *l);

/* originals.c.  Fills d->jumps; after all entries, d->moved. */
int debug_find_jumps(struct debug *d);
void debug_collect_moved(struct debug *d);
/* Adds a unit for the originals of moved functions to each unit that has some; `name` gives
 * the name of the function at an address, or NULL. */
int debug_add_originals(struct debug *d, const char *(*name)(void *ctx, vaddr at), void *ctx);

/* callees.c.  The attribute names the function that is called, by an offset in .debug_info. */
bool debug_names_callee(const struct debug *d, const struct debug_decl *decl,
			const struct debug_attr *attr, uint16_t version);
/* After the originals: makes calls of functions with images name their symbols; `name` gives
 * one that only the function at an address has, or NULL. */
int debug_name_callees(struct debug *d, const char *(*name)(void *ctx, vaddr at), void *ctx);

/* lines.c.  Writes .debug_line and what refers to it. */
int debug_translate_lines(struct debug *d);
/* aranges.c */
int debug_translate_aranges(struct debug *d);

#endif
