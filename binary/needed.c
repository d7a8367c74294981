/* needed.c - versions that the loader looks for with imported symbols
 *
 * Each symbol has a number of a version (DT_VERSYM).  The numbers of versions that other files
 * have are in records of records (DT_VERNEED); loadtables.c has shown that they end.
 *
 * Tested by tests/unit/binary/test_needed.c.
 */
#include "binary/needed.h"

#include <elf.h>
#include <stddef.h>

enum { HIDDEN = 0x8000, MAX_RECORDS = 1 << 12 };	/* bounds the work; chosen */

static uint32_t word(const struct image *img, vaddr at, uint64_t field)
{
	struct rd r = rd_of(image_at(img, at + field, sizeof(uint32_t)));

	return rd_u32(&r);
}

static uint16_t half(const struct image *img, vaddr at, uint64_t field)
{
	struct rd r = rd_of(image_at(img, at + field, sizeof(uint16_t)));

	return rd_u16(&r);
}

/* Of one file: the offset of the version's name, 0 if it is not among them. */
static uint32_t name_in(const struct image *img, vaddr need, uint16_t version)
{
	vaddr at = need + word(img, need, offsetof(Elf64_Verneed, vn_aux));

	for (uint32_t i = 0; i < MAX_RECORDS; i++) {
		uint32_t next = word(img, at, offsetof(Elf64_Vernaux, vna_next));

		if (half(img, at, offsetof(Elf64_Vernaux, vna_other)) == version)
			return word(img, at, offsetof(Elf64_Vernaux, vna_name));
		if (!next)
			break;
		at += next;
	}
	return 0;
}

const char *needed_version(const struct image *img, uint32_t symbol)
{
	uint64_t versions, need, names;

	if (!image_dynamic(img, DT_VERSYM, &versions) ||
	    !image_dynamic(img, DT_VERNEED, &need) || !image_dynamic(img, DT_STRTAB, &names))
		return "";
	uint16_t version = half(img, versions, symbol * (uint64_t)sizeof(uint16_t)) &
			   (uint16_t)~HIDDEN;
	if (version <= VER_NDX_GLOBAL)
		return "";
	for (uint32_t i = 0; i < MAX_RECORDS; i++) {
		uint32_t name = name_in(img, need, version);
		uint32_t next = word(img, need, offsetof(Elf64_Verneed, vn_next));

		if (name) {
			struct rd r = rd_of(image_rest(img, names + name));
			const char *s = rd_str(&r);

			return s ? s : "";
		}
		if (!next)
			break;
		need += next;
	}
	return "";
}
