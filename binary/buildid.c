/* buildid.c - finds the note with a file's build-id, and derives that of a generation
 *
 * Tested by tests/programs/images.sh and tests/programs/names.sh.
 */
#include "binary/buildid.h"

#include <string.h>

#include "lib/digest.h"

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

/* Notes of a segment, one behind the other; what is broken ends them. */
static struct bytes find_in(struct bytes notes)
{
	static const char owner[] = "GNU";
	struct bytes none = { 0 };
	struct rd r = rd_of(notes);

	while (rd_left(&r) >= sizeof(Elf64_Nhdr)) {
		uint64_t name_size = rd_u32(&r), size = rd_u32(&r), type = rd_u32(&r);
		const uint8_t *name = r.p;

		(void)rd_skip(&r, align4(name_size));
		struct bytes id = { r.p, size };
		if (r.bad || size > rd_left(&r))
			return none;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof(owner) && size > 0 &&
		    size <= sizeof(struct digest) && memcmp(name, owner, sizeof(owner)) == 0)
			return id;
		(void)rd_skip(&r, align4(size));
	}
	return none;
}

struct buildid buildid_find(const struct image *img)
{
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type != PT_NOTE)
			continue;
		struct buildid b = {
			find_in(bytes_at(img->file, ph->p_offset, ph->p_filesz)), ph };
		if (b.id.n)
			return b;
	}
	return (struct buildid){ 0 };
}

void buildid_derive(struct bytes original, struct bytes map, uint8_t *out)
{
	uint8_t both[2 * sizeof(struct digest)] = { 0 };
	struct digest d = digest_of(map);

	memcpy(both, original.p, original.n);
	memcpy(both + sizeof(d), d.b, sizeof(d));
	d = digest_of((struct bytes){ both, sizeof(both) });
	memcpy(out, d.b, original.n);
}
