/* absvalue.h - what the jump table analysis knows about one value; internal to PostMorph
 *
 * Two values with the same name are made of the same root, each in its own form (whole, zero-
 * or sign-extended from its low bits), so that a bound of one is a bound of the other.
 */
#ifndef POSTMORPH_TABLES_ABSVALUE_H
#define POSTMORPH_TABLES_ABSVALUE_H

#include "postmorph/tables/absop.h"

static const uint32_t ABS_UNBOUND = UINT32_MAX;

enum { W8, W16, W32, W64 };	/* index in bound[] */
enum { FORM_WHOLE };		/* the root itself */

enum abs_kind {
	ABS_PLAIN,
	ABS_BASE,	/* address of the table of `group` */
	ABS_ENTRY,	/* sign-extended entry of it, at an index <= `index` */
	ABS_TARGET,	/* where such an entry leads */
	ABS_WORD,	/* such an entry, zero-extended */
	ABS_SCALED,	/* 4 * an index <= `index`: the offset of an entry; of no group */
	ABS_MIXED,	/* may be any of these, for the groups in `may` */
};

struct abs_value {
	uint64_t may;		/* bit group % 64 of every group that it may depend on */
	uint32_t name;		/* 0 = none */
	uint32_t bound[4];	/* low 8, 16, 32, 64 bits are <= this */
	uint32_t index;
	uint16_t group;
	uint8_t kind;		/* enum abs_kind */
	uint8_t form;
	uint8_t clean;		/* of MIXED: that many low bits were overwritten */
	uint8_t short32;	/* the upper 32 bits are 0 */
	/* what bounds it, or the index, are a mask or a shift alone; of what was compared
	 * before that, the rest says nothing about a table */
	uint8_t masked;
	/* no jump by a table has come since its table's address was formed, or its entry read:
	 * that may be there for something else (the last byte: states are compared as bytes) */
	uint8_t fresh;
};

/* Index in bound[] of 8, 16, 32 or 64 bits. */
unsigned value_width(unsigned bits);
/* Nothing is known of it. */
struct abs_value value_plain(void);
/* A number <= bound. */
struct abs_value value_bounded(uint64_t bound);
/* Part of a dispatch at an index <= `index`, of which `from` (NULL: nothing) says where that
 * is known from. */
struct abs_value value_of_table(enum abs_kind kind, uint16_t group, uint32_t index,
				const struct abs_value *from);
/* What the low bits, of that width, are at most; the largest such number if nothing is
 * known. */
uint32_t value_bound(const struct abs_value *v, unsigned w);
/* What is left of a value when only parts of it remain, or it may have been overwritten:
 * nothing is known, but whoever uses it still spoils the table that it came from. */
void value_blur(struct abs_value *v);
/* The low src_bits of *src, extended to `bits`; writing 32 bits clears the upper half. */
struct abs_value value_extend(const struct abs_value *src, unsigned src_bits, bool sx,
			      unsigned bits);
/* What holds for both; names are joined by the caller. */
struct abs_value value_join(const struct abs_value *x, const struct abs_value *y);
/* Operations on bytes are often done on whole registers: the low bits of the result come
 * from the low bits alone.  y may be NULL.  False: none of x and y comes from a table, or
 * all of it. */
bool value_logic(const struct abs_value *x, const struct abs_value *y, struct abs_value *out);
/* v is the result of OP_AND or OP_SHR with a constant, of *old. */
void value_mask(struct abs_value *v, const struct op *op, const struct abs_value *old);
/* The low bits (of width w) of a value of v's name, in that form, are <= n: what that says
 * about v. */
void value_limit(struct abs_value *v, uint8_t form, unsigned w, uint32_t n);

#endif
