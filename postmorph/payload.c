/* payload.c - recognizes programs that read data from their own file, and refuses them
 *
 * Self-extracting archives, packed scripts and interpreters with a program inside keep data in
 * their file that is not loaded, and find it from the file's end or from where the headers end.
 * A generation ends elsewhere.  Two forms can be told from what linkers and debuggers write:
 *
 *   appended    bytes that are not zero behind all that headers describe (tools that rewrite
 *               files leave some zero bytes);
 *   a section   of plain data, not loaded, whose name does not begin with a dot as those of
 *               systems do.
 *
 * Tested by tests/e2e/refusals.sh.
 */
#include "lib/err.h"
#include "postmorph/payload.h"

static uint64_t later(uint64_t end, uint64_t off, uint64_t size)
{
	return off + size > end ? off + size : end;
}

/* All ranges lie in the file: image_parse() looked. */
static uint64_t described(const struct image *img)
{
	const Elf64_Ehdr *eh = &img->eh;
	uint64_t end = later(sizeof(*eh), eh->e_phoff, img->nph * sizeof(Elf64_Phdr));

	if (img->nsh)
		end = later(end, eh->e_shoff, img->nsh * sizeof(Elf64_Shdr));
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_filesz)
			end = later(end, img->ph[i].p_offset, img->ph[i].p_filesz);
	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if (h->sh_type != SHT_NULL && h->sh_type != SHT_NOBITS && h->sh_size)
			end = later(end, h->sh_offset, h->sh_size);
	}
	return end;
}

int payload_check(const struct image *img, struct err *err)
{
	uint64_t end = described(img);

	for (uint64_t i = end; i < img->file.n; i++)
		if (img->file.p[i])
			return err_set(
				err, ERR_REFUSED,
				"%llu bytes are appended to it: it may read its own file",
				(unsigned long long)(img->file.n - end));
	for (uint32_t i = 1; i < img->nsh; i++) {
		const struct section *s = &img->sh[i];

		if (s->h.sh_type == SHT_PROGBITS && !(s->h.sh_flags & SHF_ALLOC) &&
		    s->h.sh_size && *s->name && *s->name != '.')
			return err_set(
				err, ERR_REFUSED,
				"a section of it is data of its own: it may read its own file");
	}
	return 0;
}
