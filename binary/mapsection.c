/* mapsection.c - finds and reads the block map in a generation, a section that is not loaded
 *
 * Tested by tests/unit/binary/test_mapsection.c.
 */
#include "binary/mapsection.h"

#include "lib/blockmap.h"
#include "lib/err.h"

int mapsection_bytes(const struct image *img, struct bytes *out, struct err *err)
{
	const struct section *s = image_section(img, MAPSECTION);

	if (!s)
		return err_set(err, ERR_INPUT, "not a generation: it has no block map");
	struct bytes b = bytes_at(img->file, s->h.sh_offset, s->h.sh_size);
	if (!b.p)
		return err_set(err, ERR_INPUT, "block map outside the file");
	*out = b;
	return 0;
}

int mapsection_read(const struct image *img, struct blockmap *out, struct err *err)
{
	struct bytes b;

	return mapsection_bytes(img, &b, err) < 0 ? -1 : blockmap_read(b, out, err);
}
