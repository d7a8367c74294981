/* fuzz_origin.c - which original any file names, as root's undo asks it (manager/ctl/undo_names.c)
 *
 * What the reader of all sections (binary/image.c) takes for the map of a generation must name
 * the same one: two readers, one of them small.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "binary/image.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "manager/ctl/undo_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = { data, size };
	struct arena *a = arena_new();
	struct image img = { 0 };
	struct digest d;
	struct err err = { 0 };

	bool found = undo_find_original(file, &d);
	if (found)		/* from the file, not from beside it */
		assert(memmem(data, size, d.b, sizeof(d.b)));
	if (image_parse(file, a, &img, &err) == 0) {
		const struct section *s = image_section(&img, ".morph.map");
		struct bytes map = { NULL, 0 };

		if (s)
			map = bytes_at(file, s->h.sh_offset, s->h.sh_size);
		if (map.p && map.n >= 48 && memcmp(map.p, "MORPHMAP", 8) == 0)
			assert(found && memcmp(d.b, map.p + 16, sizeof(d.b)) == 0);
	}
	arena_free(a);
	return 0;
}
