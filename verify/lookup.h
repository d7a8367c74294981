/* lookup.h - questions about the two files that several parts ask
 *
 * They only read, but for verify_note_inner() and those that call it.  Addresses may be
 * anything: what nothing is known of is answered with false, NULL or no bytes.
 */
#ifndef VERIFY_LOOKUP_H
#define VERIFY_LOOKUP_H

#include "verify/parts.h"

/* In a segment that only the generation has. */
bool verify_is_fresh(const struct verify *v, vaddr addr);
/* File bytes from addr to the end of its executable segment; .p == NULL if there are none. */
struct bytes verify_orig_code_anywhere(const struct verify *v, vaddr addr);
static inline struct bytes verify_orig_code(const struct verify *v, vaddr addr)
{
	return addr - v->orig.text_at < v->orig.text.n ? image_rest(&v->orig, addr) :
							 verify_orig_code_anywhere(v, addr);
}
/* One of the bytes 1 to 4 of an entry jump. */
bool verify_is_cut(const struct verify *v, vaddr addr);
/* An instruction of an FDE of the original begins at addr. */
bool verify_is_start(const struct verify *v, vaddr addr);
/* Where the code ends, the last segment with code, or everything. */
bool verify_is_end(const struct verify *v, vaddr addr);
/* Something leads to that address of the original, and whether anything does: walk.met. */
void verify_note_met(const struct verify *v, vaddr addr);
bool verify_is_met(const struct verify *v, vaddr addr);
/* The function that begins at addr has an entry jump (perhaps behind its endbr64). */
bool verify_has_entry(const struct verify *v, vaddr addr);
/* An FDE begins at addr, and not in the middle of a frame. */
bool verify_is_function(const struct verify *v, vaddr addr);
/* The block whose original begins exactly at addr, NULL if none. */
const struct blockmap_block *verify_image_of(const struct verify *v, vaddr addr);
/* True when being at `to` in the generation is being at `addr` in the original: `to` is addr
 * itself (and not a cut byte), or the image of addr, or of what addr leads to through NOPs and
 * direct jumps. */
bool verify_leads(const struct verify *v, vaddr addr, new_vaddr to);
/* The same of a way that is not used: the original's code is not run by it. */
bool verify_may_lead(const struct verify *v, vaddr addr, new_vaddr to);
/* Something leads to this address of the original: pointers.open. */
void verify_note_inner(const struct verify *v, vaddr addr);
/* hlt, ud0 to ud2, int3, int1: a handler may go on behind it, or behind what stands there. */
bool verify_is_trap(const struct insn *insn, const uint8_t *code);
/* A NOP or int3: what stands between code. */
bool verify_is_padding(uint8_t kind, const uint8_t *code);
/* More than NOPs begins at addr, or behind, in that FDE of the original: what a handler goes on
 * at that skips a trap in front of it. */
bool verify_goes_on(const struct verify *v, uint32_t fde, vaddr addr);
/* Root of a group of FDEs. */
uint32_t verify_group(const struct verify *v, uint32_t fde);
/* The FDEs of that group, ascending; *n of them.  Behind entries.c. */
const uint32_t *verify_members(const struct verify *v, uint32_t group, uint32_t *n);

/* All new text from `from` on is images of the function whose FDE is `fde`, and what is
 * between, to the end of one of its pieces: there an image ends, and the FDE.  What has
 * moved and has no entry jump of its own is a part of something. */
bool verify_is_text_of(const struct verify *v, uint32_t fde, new_vaddr from, uint64_t size);
/* The section of new text that the symbol says it is of, if its bytes are in there; else
 * NULL. */
const struct section *verify_new_text_of(const struct verify *v, const Elf64_Sym *sym);

/* Words of data stand in the section: no unwind table, nothing that the linker makes.  In
 * sections of code they are what no FDE covers. */
bool verify_holds_words(const struct section *s);
/* Data of all kinds stands in the section, and tables of computed jumps; others hold what their
 * makers have put there. */
bool verify_is_mixed(const struct section *s);

bool verify_same_bytes(struct bytes x, struct bytes y);
/* Sorts n addresses, and asks whether x is among n sorted ones.  n may be 0. */
void verify_sort_addrs(vaddr *addr, uint32_t n);
bool verify_has_addr(const vaddr *addr, uint32_t n, vaddr x);

#endif
