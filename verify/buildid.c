/* buildid.c - the generation's build-id is its own
 *
 * Debuggers and profilers look by it for what belongs to a file.  It is the first bytes of a
 * digest of the original's, which is as long, and of the block map (binary/buildid.h).  front.c
 * and keptbytes.c leave its bytes out, and nothing else.  Where the original has none that is
 * found, all notes are the original's.
 *
 * Tested by tests/unit/verify/test_front.c and tests/programs/images.sh.
 */
#include "binary/buildid.h"
#include "verify/lookup.h"

void verify_find_buildid(struct verify *v)
{
	struct buildid o = buildid_find(&v->orig), g = buildid_find(&v->gen);

	if (o.id.n == 0 || o.id.n != g.id.n)
		return;
	v->buildid = (struct vbuildid){ .off = (uint64_t)(o.id.p - v->orig.file.p),
					.now = (uint64_t)(g.id.p - v->gen.file.p),
					.n = o.id.n };
}

int verify_buildid(struct verify *v)
{
	const struct section *map = image_section(&v->gen, ".morph.map");
	struct bytes o = bytes_at(v->orig.file, v->buildid.off, v->buildid.n);
	uint8_t want[sizeof(struct digest)];

	if (buildid_find(&v->orig).id.n != v->buildid.n)
		return refuse(v, "the generation has no build-id like the original's");
	if (v->buildid.n == 0)
		return 0;
	buildid_derive(o, bytes_at(v->gen.file, map->h.sh_offset, map->h.sh_size), want);
	if (memcmp(want, v->gen.file.p + v->buildid.now, v->buildid.n) == 0)
		return 0;
	return refuse(v,
		      "the build-id at file offset 0x%llx does not follow from the original's "
		      "and the block map",
		      ULL(v->buildid.now));
}
