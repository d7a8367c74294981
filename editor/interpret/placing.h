/* placing.h - what sightings.c and branchstacks.c share: places of sightings in the original */
#ifndef EDITOR_INTERPRET_PLACING_H
#define EDITOR_INTERPRET_PLACING_H

#include "editor/interpret/sightings.h"

struct place {				/* of an instruction in the original */
	const struct fn *fn;
	uint32_t block;
	const struct insn *insn;
	bool moved;			/* seen in the block's image */
};

struct placing {
	const struct sightings_source *source;
	const struct prog *prog;
	struct sightings_stats *stats;
	VEC(struct profile_edge) edges;
	VEC(struct profile_call) calls;
	VEC(struct profile_block) blocks;
};

static inline const struct blockmap_block *placing_image(const struct sightings_source *s,
							 new_vaddr addr)
{
	return s->map ? blockmap_find_gen(s->map, addr) : NULL;
}

/* The instruction at an address of the mapped file; false when it is in no block. */
bool placing_find(const struct placing *p, new_vaddr addr, struct place *out);
/* Only the block, and the last instruction of that. */
bool placing_block(const struct placing *p, new_vaddr addr, struct place *out);
/* It is the last of its block. */
bool placing_is_last(const struct place *at);
/* Where control arrives in the original when it gets to `addr`; false when it cannot be
 * told. */
bool placing_arrival(const struct sightings_source *s, new_vaddr addr, vaddr *out);
/* An edge from the place's block to block `to` of its function, or to an empty one that leads
 * there; false when there is none, or several. */
bool placing_edge(struct placing *p, const struct place *at, uint32_t to, uint64_t count);
/* A branch that led to `to`: an edge, a call, or neither. */
void placing_branch(struct placing *p, const struct place *at, vaddr to, uint64_t count);
void placing_call(struct placing *p, const struct place *at, vaddr to, uint64_t count);
/* Fills edge, nedge, call, ncall, block and nblock. */
void placing_finish(struct placing *p, struct profile *out);

#endif
