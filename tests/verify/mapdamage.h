/* mapdamage.h - what mutate.c does to the claims of the block map
 *
 * A changed map is put in the place of the old one, and may be shorter than that.
 */
#ifndef TESTS_VERIFY_MAPDAMAGE_H
#define TESTS_VERIFY_MAPDAMAGE_H

#include <stdlib.h>

#include "tests/verify/harmless.h"

static uint64_t below(struct target *t, uint64_t n)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return n ? (t->seed >> 11) % n : 0;
}

/* Puts a changed map in the old one's place; it may be shorter. */
static bool replace_map(struct target *t, const struct blockmap *map)
{
	struct wr w = { 0 };

	blockmap_write(map, &w);
	memcpy(t->gen + t->map_section->sh_offset, w.p, w.n);
	uint64_t size = w.n;
	memcpy(t->gen + t->map_section_header + offsetof(Elf64_Shdr, sh_size), &size, 8);
	wr_free(&w);
	return true;
}

static bool damage_missing_block(struct target *t)
{
	struct blockmap map = t->map;
	uint32_t i = (uint32_t)below(t, map.nblock);

	map.nblock--;
	map.block = malloc(t->map.nblock * sizeof(*map.block));
	memcpy(map.block, t->map.block, i * sizeof(*map.block));
	memcpy(map.block + i, t->map.block + i + 1, (map.nblock - i) * sizeof(*map.block));
	replace_map(t, &map);
	free(map.block);
	return true;
}

static bool damage_missing_entry(struct target *t)
{
	struct blockmap map = t->map;

	if (map.nentry == 0)
		return false;
	uint32_t i = (uint32_t)below(t, map.nentry--);
	map.entry = malloc(t->map.nentry * sizeof(*map.entry));
	memcpy(map.entry, t->map.entry, i * sizeof(*map.entry));
	memcpy(map.entry + i, t->map.entry + i + 1, (map.nentry - i) * sizeof(*map.entry));
	replace_map(t, &map);
	free(map.entry);
	return true;
}

/* Changes one or two blocks of a copy of the map. */
static bool change_blocks(struct target *t,
			  void (*change)(struct target *, struct blockmap_block *,
					 struct blockmap_block *))
{
	struct blockmap map = t->map;

	map.block = malloc(map.nblock * sizeof(*map.block));
	memcpy(map.block, t->map.block, map.nblock * sizeof(*map.block));
	uint64_t i = below(t, map.nblock), k = below(t, map.nblock);
	change(t, &map.block[i], &map.block[k == i ? (i + 1) % map.nblock : k]);
	replace_map(t, &map);
	free(map.block);
	return true;
}

static void overlap(struct target *t, struct blockmap_block *b, struct blockmap_block *other)
{
	(void)other;
	if (below(t, 2))
		b->gen_size += 1 + (uint32_t)below(t, 8);
	else
		b->orig_size += 1 + (uint32_t)below(t, 8);
}

static void shrink(struct target *t, struct blockmap_block *b, struct blockmap_block *other)
{
	(void)other;
	if (below(t, 2))
		b->gen_size -= 1 + (uint32_t)below(t, b->gen_size);
	else
		b->orig_size -= 1 + (uint32_t)below(t, b->orig_size);
}

static void swap_blocks(struct target *t, struct blockmap_block *b,
			struct blockmap_block *other)
{
	struct blockmap_block x = *b;

	(void)t;
	b->orig = other->orig;
	b->orig_size = other->orig_size;
	other->orig = x.orig;
	other->orig_size = x.orig_size;
}

static bool damage_overlap(struct target *t) { return change_blocks(t, overlap); }
static bool damage_short_block(struct target *t) { return change_blocks(t, shrink); }
static bool damage_swapped(struct target *t) { return change_blocks(t, swap_blocks); }

/* A new table loses its last entries, in the map and in its bytes. */
static bool damage_short_table(struct target *t)
{
	struct blockmap map = t->map;

	if (map.ntable == 0)
		return false;
	uint32_t i = (uint32_t)below(t, map.ntable);
	uint64_t n = map.table[i].nentry, size = blockmap_entry_size(map.table[i].kind);
	if (n < 2)
		return false;
	uint64_t left = 1 + below(t, n - 1);
	map.table = malloc(map.ntable * sizeof(*map.table));
	memcpy(map.table, t->map.table, map.ntable * sizeof(*map.table));
	map.table[i].nentry = (uint32_t)left;
	replace_map(t, &map);
	memset(t->gen + offset_of(t, map.table[i].new_addr) + left * size, 0,
	       (n - left) * size);
	free(map.table);
	return true;
}

#endif
