/* debugsource.c - reads sections of debug information, by libelf
 *
 * libelf finds headers and decompresses; what it says of places in the file is checked again.
 *
 * Tested by tests/unit/editor/debug/test_debugfile.c.
 */
#include "editor/debug/debugsource.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "binary/buildid.h"
#include "lib/arena.h"
#include "lib/err.h"

/* Of one section, decompressed: what 4-byte offsets reach, halved.  Chosen. */
enum { MAX_CONTENT = 1 << 30 };

static Elf *open_elf(struct bytes file, struct err *err)
{
	const char *ident;
	size_t n = 0;

	if (elf_version(EV_CURRENT) == EV_NONE) {
		err_set(err, ERR_SYS, "libelf is of an unknown version");
		return NULL;
	}
	Elf *elf = file.n ? elf_memory((char *)(uintptr_t)file.p, (size_t)file.n) : NULL;
	ident = elf ? elf_getident(elf, &n) : NULL;
	Elf64_Ehdr *eh = ident && n > EI_DATA && ident[EI_CLASS] == ELFCLASS64 &&
			 ident[EI_DATA] == ELFDATA2LSB ? elf64_getehdr(elf) : NULL;

	if (!eh || elf_kind(elf) != ELF_K_ELF || eh->e_machine != EM_X86_64 ||
	    (eh->e_type != ET_DYN && eh->e_type != ET_EXEC)) {
		err_set(err, ERR_REFUSED, "no debug information of an x86-64 program: not such "
			"an ELF file");
		(void)elf_end(elf);	/* nothing was written; NULL is allowed */
		return NULL;
	}
	return elf;
}

int debugsource_read(struct bytes file, struct arena *a, struct debugsource *out,
		     struct err *err)
{
	VEC(struct debugsource_section) sections = { 0 };
	Elf *elf = open_elf(file, err);
	size_t names = 0;

	if (!elf)
		return -1;
	(void)elf_getshdrstrndx(elf, &names);	/* if it fails no name can be read */
	for (Elf_Scn *scn = elf_getscn(elf, 0); scn; scn = elf_nextscn(elf, scn)) {
		struct debugsource_section s = { .name = "" };

		if (!gelf_getshdr(scn, &s.h))
			continue;
		const char *name = elf_strptr(elf, names, s.h.sh_name);
		if (name)
			s.name = arena_dup(a, name, strlen(name) + 1);
		if (s.h.sh_type != SHT_NOBITS && s.h.sh_type != SHT_NULL)
			s.raw = bytes_at(file, s.h.sh_offset, s.h.sh_size);
		vec_push(a, &sections, s);
	}
	(void)elf_end(elf);		/* nothing was written */
	*out = (struct debugsource){ sections.v, sections.n };
	return 0;
}

const struct debugsource_section *debugsource_find(const struct debugsource *s,
						   const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->section[i].name, name) == 0)
			return &s->section[i];
	return NULL;
}

/* The form before SHF_COMPRESSED: "ZLIB", and the size in big-endian order. */
static uint64_t gnu_size(Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	uint64_t size = UINT64_MAX;

	if (data && data->d_size >= 12)
		memcpy(&size, (const uint8_t *)data->d_buf + 4, sizeof(size));
	return __builtin_bswap64(size);
}

static int decompress(Elf_Scn *scn, const Elf64_Shdr *h, const char *name, struct err *err)
{
	bool gnu = strncmp(name, ".zdebug", 7) == 0;
	Elf64_Chdr *c = h->sh_flags & SHF_COMPRESSED ? elf64_getchdr(scn) : NULL;

	if (!(h->sh_flags & SHF_COMPRESSED) && !gnu)
		return 0;
	if (c && c->ch_size <= MAX_CONTENT && elf_compress(scn, 0, 0) >= 0)
		return 0;
	if (!c && gnu && gnu_size(scn) <= MAX_CONTENT && elf_compress_gnu(scn, 0, 0) >= 0)
		return 0;
	return err_set(err, ERR_REFUSED, "section %s is compressed in a way that libelf does "
		       "not know here, or damaged, or larger than %d MiB", name,
		       MAX_CONTENT >> 20);
}

static int copy_content(Elf_Scn *scn, const char *name, struct arena *a, struct bytes *out,
			struct err *err)
{
	Elf64_Shdr h;

	if (!gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS)
		return 0;
	if (decompress(scn, &h, name, err) < 0)
		return -1;
	Elf_Data *data = elf_getdata(scn, NULL);
	if (!data)
		return err_set(err, ERR_INPUT, "section %s: %s", name, elf_errmsg(-1));
	if (data->d_size)
		*out = (struct bytes){ arena_dup(a, data->d_buf, data->d_size), data->d_size };
	return 0;
}

int debugsource_content(struct bytes file, const char *name, struct arena *a,
			struct bytes *out, struct err *err)
{
	Elf *elf = open_elf(file, err);
	size_t names = 0;
	Elf64_Shdr h;
	int rc = 0;

	*out = (struct bytes){ 0 };
	if (!elf)
		return -1;
	(void)elf_getshdrstrndx(elf, &names);	/* if it fails no name can be read */
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		const char *have = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) :
							   NULL;

		if (have && strcmp(have, name) == 0) {
			rc = copy_content(scn, name, a, out, err);
			break;
		}
	}
	(void)elf_end(elf);		/* nothing was written */
	return rc;
}

/* A note with a build-id in a section of notes. */
static struct bytes id_in(struct bytes notes)
{
	struct rd r = rd_of(notes);

	while (rd_left(&r) >= 12) {
		uint32_t name = rd_u32(&r), n = rd_u32(&r), type = rd_u32(&r);
		const uint8_t *owner = rd_skip(&r, (name + 3ull) & ~3ull);
		const uint8_t *id = rd_skip(&r, (n + 3ull) & ~3ull);

		if (owner && id && type == NT_GNU_BUILD_ID && name == 4 &&
		    memcmp(owner, "GNU", 4) == 0)
			return (struct bytes){ id, n };
	}
	return (struct bytes){ 0 };
}

int debugsource_check(const struct debugsource *s, const struct image *orig, struct err *err)
{
	struct buildid own = buildid_find(orig);
	const struct section *text = image_section(orig, ".text");
	const struct debugsource_section *now = debugsource_find(s, ".text");

	for (uint32_t i = 0; i < s->n; i++) {
		struct bytes id = s->section[i].h.sh_type == SHT_NOTE ?
					  id_in(s->section[i].raw) : (struct bytes){ 0 };

		if (id.n == 0 || own.id.n == 0)
			continue;
		if (id.n != own.id.n || memcmp(id.p, own.id.p, id.n) != 0)
			return err_set(err, ERR_REFUSED,
				       "the debug information is of another program: its "
				       "build-id differs");
		return 0;
	}
	if (!text || !now || text->h.sh_addr != now->h.sh_addr ||
	    text->h.sh_size != now->h.sh_size)
		return err_set(err, ERR_REFUSED, "the debug information is of another program: "
			       "its code is elsewhere");
	return 0;
}
