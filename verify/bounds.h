/* bounds.h - the number of entries of a jump table that a load of one can reach */
#ifndef VERIFY_BOUNDS_H
#define VERIFY_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/addr.h"

struct verify;

struct vedge {			/* control goes from one instruction to another one */
	uint32_t to, from;	/* numbers of instructions */
	/* lowest bits of the opcode of the conditional jump that goes, as if it were taken */
	uint8_t condition;
	bool conditional;
};

/* The instructions of one function that were reached, and all ways between them. */
struct vgraph {
	struct verify *v;
	struct arena *a;
	const vaddr *addr;	/* [n] */
	bool *open;		/* [n] control may come there from elsewhere */
	uint32_t n;
	VEC(struct vedge) edges;
	uint32_t *first;	/* [n + 1] index of the first edge to each; vgraph_close() */
	uint64_t budget;	/* steps left for all questions about the function */
};

enum vbound_kind {
	BOUND_PROVEN,		/* fewer than the entries asked for */
	BOUND_BEYOND,		/* comparisons admit more: `most` is the largest index */
	BOUND_UNKNOWN,
};

struct vbound {
	enum vbound_kind kind;
	uint64_t most;
};

/* Sorts the edges. */
void vgraph_close(struct vgraph *g);
/* Is the index of the load, which reads entries by way of register `base` (16: at a constant
 * address), always below nentry? */
struct vbound vbound_of(struct vgraph *g, uint32_t load, uint8_t base, uint32_t nentry);

#endif
