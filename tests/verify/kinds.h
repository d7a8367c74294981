/* kinds.h - damage of code, unwind tables, block map and file, for foreign.c
 *
 * A function is a kind.  It returns false when the generation has nothing of the kind.
 */
#ifndef TESTS_VERIFY_KINDS_H
#define TESTS_VERIFY_KINDS_H

#include "tests/verify/kinds_tables.h"
#include "tests/verify/kinds_counting.h"

/* --- instructions of images --- */

static const struct foreign_insn *pick(struct foreign *t)
{
	return &t->insn[below(t, t->ninsn)];
}

/* With a relative operand, a displacement or a constant. */
static const struct foreign_insn *pick_with(struct foreign *t, int what)
{
	for (int i = 0; i < 10000; i++) {
		const struct foreign_insn *x = pick(t);

		if ((what == 0 && x->insn.raw.imm[0].size && x->insn.raw.imm[0].is_relative) ||
		    (what == 1 && x->insn.raw.disp.size) ||
		    (what == 2 && x->insn.raw.imm[0].size && !x->insn.raw.imm[0].is_relative) ||
		    (what == 3 && (x->insn.attributes & ZYDIS_ATTRIB_HAS_MODRM)))
			return x;
	}
	return NULL;
}

static bool change_number(struct foreign *t, uint32_t off, uint32_t bits)
{
	static const int step[] = { 1, -1, 2, 3, 4, -4, 5, 7, 8, -8, 16, 128, 4096, -4096 };
	uint64_t value = 0;

	memcpy(&value, t->gen + off, bits / 8);
	value += (uint64_t)(int64_t)step[below(t, sizeof(step) / sizeof(step[0]))];
	memcpy(t->gen + off, &value, bits / 8);
	return true;
}

static bool damage_relative(struct foreign *t)
{
	const struct foreign_insn *x = pick_with(t, 0);

	return x &&
	       change_number(t, x->off + x->insn.raw.imm[0].offset, x->insn.raw.imm[0].size);
}

static bool damage_displacement(struct foreign *t)
{
	const struct foreign_insn *x = pick_with(t, 1);

	return x && change_number(t, x->off + x->insn.raw.disp.offset, x->insn.raw.disp.size);
}

static bool damage_constant(struct foreign *t)
{
	const struct foreign_insn *x = pick_with(t, 2);

	return x &&
	       change_number(t, x->off + x->insn.raw.imm[0].offset, x->insn.raw.imm[0].size);
}

static bool damage_modrm(struct foreign *t)
{
	const struct foreign_insn *x = pick_with(t, 3);

	if (x)
		t->gen[x->off + x->insn.raw.modrm.offset] ^= (uint8_t)(1 << below(t, 8));
	return x;
}

static bool damage_opcode(struct foreign *t)
{
	const struct foreign_insn *x = pick(t);

	t->gen[x->off + x->insn.raw.prefix_count * (below(t, 4) > 0)] ^=
		(uint8_t)(1 << below(t, 8));
	return true;
}

/* Another prefix in the place of one that is there. */
static bool damage_prefix(struct foreign *t)
{
	static const uint8_t prefix[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0,
					  0xf2, 0xf3, 0x40, 0x41, 0x42, 0x44, 0x48, 0x4f };

	for (int i = 0; i < 10000; i++) {
		const struct foreign_insn *x = pick(t);

		if (x->insn.raw.prefix_count == 0)
			continue;
		t->gen[x->off + below(t, x->insn.raw.prefix_count)] =
			prefix[below(t, sizeof(prefix))];
		return true;
	}
	return false;
}

/* A prefix in front of an instruction, which takes a byte of a NOP behind or before it. */
static bool damage_added_prefix(struct foreign *t)
{
	static const uint8_t prefix[] = { 0x2e, 0x3e, 0x26, 0x36, 0x66,
					  0x67, 0xf2, 0xf3, 0x48, 0x40 };

	for (int tries = 0; tries < 20000; tries++) {
		uint32_t i = (uint32_t)below(t, t->ninsn - 1);
		const struct foreign_insn *x = &t->insn[i], *nop = &t->insn[i + 1];

		if (nop->insn.mnemonic != ZYDIS_MNEMONIC_NOP || nop->off != x->off + x->len ||
		    nop->len != 1)
			continue;
		memmove(t->gen + x->off + 1, t->gen + x->off, x->len);
		t->gen[x->off] = prefix[below(t, sizeof(prefix))];
		return true;
	}
	return false;
}

static bool damage_insn_order(struct foreign *t)
{
	uint32_t i = (uint32_t)below(t, t->ninsn - 1);
	const struct foreign_insn *x = &t->insn[i], *y = &t->insn[i + 1];

	if (y->off != x->off + x->len)
		return true; /* no damage: not counted */
	memcpy(t->gen + x->off, t->pristine.p + y->off, y->len);
	memcpy(t->gen + x->off + y->len, t->pristine.p + x->off, x->len);
	return true;
}

static void fill_nops(uint8_t *p, uint32_t n)
{
	static const uint8_t nop[][6] = { { 0x90 },
					  { 0x66, 0x90 },
					  { 0x0f, 0x1f, 0x00 },
					  { 0x0f, 0x1f, 0x40, 0x00 },
					  { 0x0f, 0x1f, 0x44, 0x00, 0x00 } };

	for (uint32_t k; n; p += k, n -= k) {
		k = n < 5 ? n : 5;
		memcpy(p, nop[k - 1], k);
	}
}

static bool damage_to_nop(struct foreign *t)
{
	const struct foreign_insn *x = pick(t);

	fill_nops(t->gen + x->off, x->len);
	return true;
}

static bool damage_to_copy(struct foreign *t)
{
	const struct foreign_insn *x = pick(t);

	for (int i = 0; i < 10000; i++) {
		const struct foreign_insn *y = pick(t);

		if (y->len != x->len || y == x)
			continue;
		memcpy(t->gen + x->off, t->pristine.p + y->off, y->len);
		return true;
	}
	return false;
}

static bool damage_to_trap(struct foreign *t)
{
	static const uint8_t one[] = { 0xcc, 0xc3, 0xf4, 0x90, 0xf1, 0xfa, 0x9b };
	const struct foreign_insn *x = pick(t);

	t->gen[x->off] = one[below(t, sizeof(one))];
	return true;
}

static bool damage_landing_mark(struct foreign *t)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa },
			     other[] = { 0xf3, 0x0f, 0x1e, 0xfb };

	for (int i = 0; i < 20000; i++) {
		const struct foreign_insn *x = pick(t);

		if (x->len != 4 || memcmp(t->pristine.p + x->off, endbr, 4) != 0)
			continue;
		if (below(t, 2))
			fill_nops(t->gen + x->off, 4);
		else
			memcpy(t->gen + x->off, other, 4);
		return true;
	}
	return false;
}

static bool damage_nop(struct foreign *t)
{
	for (int i = 0; i < 20000; i++) {
		const struct foreign_insn *x = pick(t);

		if (x->insn.mnemonic != ZYDIS_MNEMONIC_NOP)
			continue;
		t->gen[x->off + below(t, x->len)] = (uint8_t)below(t, 256);
		return true;
	}
	return false;
}

/* What is in new text between images. */
static bool damage_between(struct foreign *t)
{
	uint32_t i = (uint32_t)below(t, t->map.nblock);

	for (uint32_t n = 0; n + 1 < t->map.nblock; n++, i = (i + 1) % (t->map.nblock - 1)) {
		const struct blockmap_block *b = &t->map.block[i];

		if (i + 1 >= t->map.nblock || b[1].gen == b->gen + b->gen_size)
			continue;
		uint64_t off = offset_of(t, t->map.gen_base + b->gen + b->gen_size);
		t->gen[off + below(t, b[1].gen - b->gen - b->gen_size)] =
			(uint8_t)below(t, 256);
		return true;
	}
	return false;
}

static bool damage_entry_jump(struct foreign *t)
{
	if (t->map.nentry == 0)
		return false;
	uint64_t off = offset_of(t, t->map.orig_base + t->map.entry[below(t, t->map.nentry)]);
	uint64_t other = offset_of(t, t->map.orig_base + t->map.entry[below(t, t->map.nentry)]);
	switch (below(t, 4)) {
	case 0:
		return change_number(t, (uint32_t)off + 1, 32);
	case 1: /* the original's code again */
		memcpy(t->gen + off, t->original.p + off, 5);
		return true;
	case 2: /* to where another one leads */
		memcpy(t->gen + off + 1, t->gen + other + 1, 4);
		return true;
	default:
		t->gen[off] = below(t, 2) ? 0xe8 : 0xeb;
		return true;
	}
}

/* --- unwind tables --- */

static const struct foreign_record *pick_record(struct foreign *t, bool cie)
{
	for (int i = 0; i < 10000; i++) {
		const struct foreign_record *r = &t->record[below(t, t->nrecord)];

		if (r->cie == cie)
			return r;
	}
	return NULL;
}

static bool damage_cie(struct foreign *t)
{
	const struct foreign_record *r = pick_record(t, true);

	return r && change_number(t, r->off + 4 + (uint32_t)below(t, r->len - 4), 8);
}

static bool damage_fde_field(struct foreign *t)
{
	const struct foreign_record *r = pick_record(t, false);

	return r && change_number(t, r->off + 4 * (uint32_t)below(t, 3), 32);
}

static bool damage_fde_rest(struct foreign *t)
{
	const struct foreign_record *r = pick_record(t, false);

	return r && r->len > 12 &&
	       change_number(t, r->off + 12 + (uint32_t)below(t, r->len - 12), 8);
}

static bool damage_record_length(struct foreign *t)
{
	const struct foreign_record *r = &t->record[below(t, t->nrecord)];

	if (below(t, 2))
		return change_number(t, r->off - 4, 32);
	memset(t->gen + r->off - 4, 0, 4);
	return true;
}

/* Two FDEs of one length change places, with what they say of their addresses. */
static bool damage_fde_order(struct foreign *t)
{
	for (int i = 0; i < 10000; i++) {
		const struct foreign_record *a = pick_record(t, false),
					    *b = pick_record(t, false);

		if (!a || !b || a == b || a->len != b->len || a->len < 16)
			continue;
		/* only the address is left where it was */
		memcpy(t->gen + a->off + 8, t->pristine.p + b->off + 8, b->len - 8);
		memcpy(t->gen + b->off + 8, t->pristine.p + a->off + 8, a->len - 8);
		return true;
	}
	return false;
}

static bool damage_search_table_head(struct foreign *t)
{
	const Elf64_Shdr *s = section(t, ".eh_frame_hdr");

	return s && change_number(t, (uint32_t)(s->sh_offset + below(t, 12)), 8);
}

/* --- the block map --- */

static bool write_map(struct foreign *t, const struct blockmap *map)
{
	const Elf64_Shdr *s = section(t, ".morph.map");
	struct wr w = { 0 };
	uint64_t size;

	blockmap_write(map, &w);
	size = w.n < s->sh_size ? w.n : s->sh_size;
	memcpy(t->gen + s->sh_offset, w.p, size);
	memcpy(t->gen + t->map_header + offsetof(Elf64_Shdr, sh_size), &size, sizeof(size));
	wr_free(&w);
	return true;
}

static bool damage_map_tables(struct foreign *t)
{
	struct blockmap map = t->map;
	uint32_t i;

	if (map.ntable == 0)
		return false;
	map.table = malloc(map.ntable * sizeof(*map.table));
	memcpy(map.table, t->map.table, map.ntable * sizeof(*map.table));
	i = (uint32_t)below(t, map.ntable);
	switch (below(t, 5)) {
	case 0: /* cut */
		map.table[i].nentry = 1 + (uint32_t)below(t, map.table[i].nentry);
		break;
	case 1: /* longer than it is */
		map.table[i].nentry += 1 + (uint32_t)below(t, 4);
		break;
	case 2:
		map.table[i].kind = 1 + (uint32_t)below(t, 3);
		break;
	case 3:
		map.table[i].orig_addr += 4 * below(t, 4);
		break;
	default: /* no such table */
		map.ntable--;
		memmove(map.table + i, map.table + i + 1,
			(map.ntable - i) * sizeof(*map.table));
	}
	write_map(t, &map);
	free(map.table);
	return true;
}

static bool damage_map_entries(struct foreign *t)
{
	struct blockmap map = t->map;

	if (map.nentry < 2)
		return false;
	map.entry = malloc(map.nentry * sizeof(*map.entry));
	memcpy(map.entry, t->map.entry, map.nentry * sizeof(*map.entry));
	uint32_t i = (uint32_t)below(t, map.nentry - 1);
	if (below(t, 2))
		map.entry[i] += 1 + (uint32_t)below(t, map.entry[i + 1] - map.entry[i] - 1);
	else
		memmove(map.entry + i, map.entry + i + 1,
			(--map.nentry - i) * sizeof(*map.entry));
	write_map(t, &map);
	free(map.entry);
	return true;
}

static bool damage_map_blocks(struct foreign *t)
{
	struct blockmap map = t->map;

	map.block = malloc(map.nblock * sizeof(*map.block));
	memcpy(map.block, t->map.block, map.nblock * sizeof(*map.block));
	struct blockmap_block *b = &map.block[below(t, map.nblock)];
	struct blockmap_block *other = &map.block[below(t, map.nblock)];
	switch (below(t, 6)) {
	case 0:
		b->gen_size += (uint32_t)below(t, 17) - 8;
		break;
	case 1:
		b->orig_size += (uint32_t)below(t, 17) - 8;
		break;
	case 2:
		b->orig += (uint32_t)below(t, 17) - 8;
		break;
	case 3:
		b->called = !b->called;
		break;
	case 4: {
		uint32_t orig = b->orig;

		b->orig = other->orig;
		other->orig = orig;
		break;
	}
	default: /* two blocks are one */
		if (b + 1 < map.block + map.nblock) {
			b->gen_size = b[1].gen + b[1].gen_size - b->gen;
			b->orig_size += b[1].orig_size;
			map.nblock--;
			memmove(b + 1, b + 2,
				(size_t)(map.block + map.nblock - b - 1) * sizeof(*b));
		}
	}
	write_map(t, &map);
	free(map.block);
	return true;
}

static bool damage_map_head(struct foreign *t)
{
	struct blockmap map = t->map;

	switch (below(t, 6)) {
	case 0:
		map.generation++;
		break;
	case 1:
		map.original.b[below(t, 32)] ^= 1;
		break;
	case 2:
		map.orig_base += 1 + below(t, 16);
		break;
	case 3:
		map.gen_base += 1 + below(t, 16);
		break;
	case 4:
		map.hot_size += (uint32_t)below(t, 33) - 16;
		break;
	default:
		map.fluff_size += (uint32_t)below(t, 33) - 16;
		break;
	}
	return write_map(t, &map);
}

/* --- tags of .dynamic, and the file as a whole --- */

/* A tag where the table ends: a second one of a kind that is there, or a new one. */
static bool damage_added_tag(struct foreign *t)
{
	static const int64_t tag[] = {
		DT_INIT,	  DT_FINI,
		DT_INIT_ARRAY,	  DT_INIT_ARRAYSZ,
		DT_FINI_ARRAY,	  DT_FINI_ARRAYSZ,
		DT_TEXTREL,	  DT_FLAGS,
		DT_FLAGS_1,	  DT_SYMBOLIC,
		DT_RPATH,	  DT_RUNPATH,
		DT_NEEDED,	  DT_RELA,
		DT_RELASZ,	  DT_RELACOUNT,
		DT_JMPREL,	  DT_PLTRELSZ,
		DT_SYMTAB,	  DT_STRTAB,
		DT_GNU_HASH,	  DT_VERSYM,
		DT_VERNEED,	  DT_BIND_NOW,
		DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ,
		DT_HASH,	  DT_RELR,
		DT_RELRSZ,	  DT_AUDIT,
		DT_DEPAUDIT,	  DT_FILTER,
		DT_AUXILIARY,
	};
	struct table of;

	if (!table_of(t, ".dynamic", &of))
		return false;
	Elf64_Dyn *d = (Elf64_Dyn *)(void *)(t->gen + of.off);
	for (uint64_t i = 0; i + 1 < of.n; i++) {
		if (d[i].d_tag != DT_NULL)
			continue;
		d[i].d_tag = tag[below(t, sizeof(tag) / sizeof(tag[0]))];
		d[i].d_un.d_val = d[below(t, i)].d_un.d_val;
		return true;
	}
	return false;
}

static bool damage_shorter_file(struct foreign *t)
{
	t->n -= 1 + below(t, below(t, 2) ? 64 : t->n / 4);
	return true;
}

static bool damage_longer_file(struct foreign *t)
{
	uint64_t more = 1 + below(t, FOREIGN_ROOM - 1);

	memset(t->gen + t->n, (int)below(t, 256), more);
	t->n += more;
	return true;
}

static bool damage_shifted(struct foreign *t)
{
	uint64_t from = below(t, t->n - 32), n = 1 + below(t, 8);

	memmove(t->gen + from + n, t->gen + from, t->n - from - n);
	return true;
}

static bool damage_page(struct foreign *t)
{
	uint64_t from = below(t, t->n / 4096) * 4096, to = below(t, t->n / 4096) * 4096;

	memmove(t->gen + to, t->gen + from, 4096);
	return true;
}

static bool damage_any(struct foreign *t)
{
	t->gen[below(t, t->n)] ^= (uint8_t)(1 << below(t, 8));
	return true;
}

static const struct other_kind {
	const char *name;
	bool (*damage)(struct foreign *t);
} others[] = {
	{ "code: branch or call", damage_relative },
	{ "code: displacement", damage_displacement },
	{ "code: constant", damage_constant },
	{ "code: ModRM", damage_modrm },
	{ "code: opcode", damage_opcode },
	{ "code: another prefix", damage_prefix },
	{ "code: prefix added", damage_added_prefix },
	{ "code: two instructions change places", damage_insn_order },
	{ "code: NOP", damage_to_nop },
	{ "code: another instruction", damage_to_copy },
	{ "code: one byte, trap or return", damage_to_trap },
	{ "code: endbr64", damage_landing_mark },
	{ "code: within a NOP", damage_nop },
	{ "code: between images", damage_between },
	{ "entry jump", damage_entry_jump },
	{ "CIE", damage_cie },
	{ "FDE: CIE, address, length", damage_fde_field },
	{ "FDE: LSDA, rules", damage_fde_rest },
	{ "CIE or FDE: its own length", damage_record_length },
	{ "FDE: two change places", damage_fde_order },
	{ ".eh_frame_hdr: head", damage_search_table_head },
	{ "map: jump tables", damage_map_tables },
	{ "map: entries", damage_map_entries },
	{ "map: blocks", damage_map_blocks },
	{ "map: head", damage_map_head },
	{ ".dynamic: a tag more", damage_added_tag },
	{ "counting: start", damage_start },
	{ "counting: two bytes of the start change places", damage_start_order },
	{ "counting: a counter's word", damage_counter_word },
	{ "counting: another operation", damage_counter_code },
	{ "counting: a counter gone", damage_counter_gone },
	{ "counting: a counter's place", damage_counter_place },
	{ "counting: a counter more", damage_counter_added },
	{ "file: shorter", damage_shorter_file },
	{ "file: longer", damage_longer_file },
	{ "file: moved by some bytes", damage_shifted },
	{ "file: a page in the place of another", damage_page },
	{ "file: any bit", damage_any },
};

#endif
