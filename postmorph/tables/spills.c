/* spills.c - remembers the places of a frame where bits that come from jump tables may be */
#include "postmorph/tables/spills.h"

void spills_note(struct spills *s, struct arena *a, struct spill spill)
{
	for (uint32_t i = 0; i < s->all.n; i++) {
		struct spill *o = &s->all.v[i];

		if (o->at != spill.at || o->bytes != spill.bytes)
			continue;
		s->changed |= spill.clean < o->clean || (spill.may & ~o->may);
		o->may |= spill.may;
		if (spill.clean < o->clean)
			o->clean = spill.clean;
		return;
	}
	vec_push(a, &s->all, spill);
	s->changed = true;
}

uint32_t spills_read(const struct spills *s, int64_t at, uint32_t bytes, uint64_t *may)
{
	uint32_t least = UINT32_MAX;

	*may = 0;
	for (uint32_t i = 0; i < s->all.n; i++) {
		const struct spill *o = &s->all.v[i];

		if (o->at >= at + bytes || at >= o->at + o->bytes)
			continue;
		uint32_t same = at > o->at ? 0 : 8 * (uint32_t)(o->at - at) + o->clean;
		if (same < least)
			least = same;
		*may |= o->may;
	}
	return least;
}

uint64_t spills_may(const struct spills *s)
{
	uint64_t may = 0;

	for (uint32_t i = 0; i < s->all.n; i++)
		may |= s->all.v[i].may;
	return may;
}
