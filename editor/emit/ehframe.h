/* ehframe.h - writing .eh_frame and .eh_frame_hdr of a generation
 *
 * Everything is the caller's, who must keep it until ehframe_write() returns.
 */
#ifndef EDITOR_EMIT_EHFRAME_H
#define EDITOR_EMIT_EHFRAME_H

#include "lib/wr.h"
#include "postmorph/unwind/cfi.h"

struct err;

struct ehframe_row {
	new_vaddr addr;
	uint32_t state;			/* index in cfi.state[] */
};

struct ehframe_span {			/* one new FDE */
	uint32_t cie;			/* index in cfi.cie[] */
	new_vaddr addr;
	uint64_t len;
	/* row[row .. row + nrow), ascending; the first at addr */
	uint32_t row, nrow;
	new_vaddr lsda;			/* 0: none; else its CIE has an LSDA encoding */
};

struct ehframe_input {
	const struct cfi *cfi;
	const struct ehframe_span *span;
	const struct ehframe_row *row;
	uint32_t nspan;
};

/* Size of the .eh_frame_hdr that ehframe_write() is going to make. */
uint64_t ehframe_hdr_size(const struct ehframe_input *in);
/* Appends to `hdr` and `frame` the two sections as they must stand at those addresses
 * (multiples of 4 and 8): copies of all records of `cfi`, their pointers adjusted, and one FDE
 * a span. -1 with ERR_REFUSED when a distance does not fit its field or a state cannot be
 * expressed with its CIE; `frame` is then untouched, `hdr` may hold a part of its section. */
int ehframe_write(const struct ehframe_input *in, new_vaddr hdr_addr, new_vaddr frame_addr,
		  struct wr *hdr, struct wr *frame, struct err *err);

#endif
