/* foreign.h - a generation as records and instructions, read without the Verifier's readers
 *
 * What foreign.c damages: headers and tables are the structures of <elf.h> at the places that
 * the section headers name, instructions are what Zydis finds in the images that the block map
 * lists.
 */
#ifndef TESTS_VERIFY_FOREIGN_H
#define TESTS_VERIFY_FOREIGN_H

#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/wr.h"

enum { FOREIGN_ROOM = 1 << 16 }; /* by which a damaged file may be longer */

struct foreign_insn {
	uint32_t off, len; /* in the file */
	ZydisDecodedInstruction insn;
};

struct foreign_record { /* a CIE or FDE of .eh_frame, without its length */
	uint32_t off, len;
	bool cie;
};

struct foreign {
	struct bytes original, pristine;
	uint8_t *gen; /* pristine.n + FOREIGN_ROOM bytes */
	uint64_t n; /* of gen[] */
	uint64_t seed;
	struct foreign_insn *insn;
	struct foreign_record *record;
	uint32_t ninsn, nrecord;
	struct blockmap map;
	uint64_t map_header; /* file offset of the section header of .morph.map */
};

static uint64_t below(struct foreign *t, uint64_t n)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return n ? (t->seed >> 11) % n : 0;
}

static const Elf64_Ehdr *header(const struct foreign *t)
{
	return (const Elf64_Ehdr *)(const void *)t->pristine.p;
}

static const Elf64_Shdr *section_headers(const struct foreign *t)
{
	return (const Elf64_Shdr *)(const void *)(t->pristine.p + header(t)->e_shoff);
}

static const Elf64_Phdr *program_headers(const struct foreign *t)
{
	return (const Elf64_Phdr *)(const void *)(t->pristine.p + header(t)->e_phoff);
}

static const Elf64_Shdr *section(const struct foreign *t, const char *name)
{
	const Elf64_Shdr *sh = section_headers(t);
	const char *names = (const char *)t->pristine.p + sh[header(t)->e_shstrndx].sh_offset;

	for (uint32_t i = 0; i < header(t)->e_shnum; i++)
		if (strcmp(names + sh[i].sh_name, name) == 0)
			return &sh[i];
	return NULL;
}

/* The file offset of an address of the generation; 0: of none. */
static uint64_t offset_of(const struct foreign *t, uint64_t addr)
{
	const Elf64_Phdr *ph = program_headers(t);

	for (uint32_t i = 0; i < header(t)->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && addr - ph[i].p_vaddr < ph[i].p_filesz)
			return ph[i].p_offset + addr - ph[i].p_vaddr;
	return 0;
}

static void foreign_read_code(struct foreign *t)
{
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint32_t i = 0; i < t->map.nblock; i++) {
		const struct blockmap_block *b = &t->map.block[i];
		uint64_t off = offset_of(t, t->map.gen_base + b->gen), end = off + b->gen_size;
		struct foreign_insn x = { 0 };

		for (; off < end; off += x.len) {
			if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(
				    &d, NULL, t->pristine.p + off, end - off, &x.insn)))
				break;
			x.off = (uint32_t)off;
			x.len = x.insn.length;
			t->insn = realloc(t->insn, (t->ninsn + 1) * sizeof(x));
			t->insn[t->ninsn++] = x;
		}
	}
}

static void foreign_read_frames(struct foreign *t)
{
	const Elf64_Shdr *s = section(t, ".eh_frame");
	struct foreign_record r;
	uint32_t len, id;

	for (uint64_t off = s ? s->sh_offset : 0; s && off + 8 <= s->sh_offset + s->sh_size;
	     off += 4 + len) {
		memcpy(&len, t->pristine.p + off, 4);
		memcpy(&id, t->pristine.p + off + 4, 4);
		if (len == 0)
			break;
		r = (struct foreign_record){ (uint32_t)off + 4, len, id == 0 };
		t->record = realloc(t->record, (t->nrecord + 1) * sizeof(r));
		t->record[t->nrecord++] = r;
	}
}

/* False: no generation, or one without a block map. */
static bool foreign_open(struct foreign *t, struct err *err)
{
	const Elf64_Shdr *s = section(t, ".morph.map");

	if (!s ||
	    blockmap_read(bytes_at(t->pristine, s->sh_offset, s->sh_size), &t->map, err) < 0)
		return false;
	t->map_header = (uint64_t)((const uint8_t *)s - t->pristine.p);
	t->gen = malloc(t->pristine.n + FOREIGN_ROOM);
	foreign_read_code(t);
	foreign_read_frames(t);
	return t->gen && t->ninsn && t->nrecord;
}

static void foreign_reset(struct foreign *t)
{
	memcpy(t->gen, t->pristine.p, t->pristine.n);
	t->n = t->pristine.n;
}

static void foreign_close(struct foreign *t)
{
	blockmap_free(&t->map);
	free(t->insn);
	free(t->record);
	free(t->gen);
}

#endif
