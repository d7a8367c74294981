/* statememory.c - splits the memory that came with a sample into pieces, with their
 * addresses */
#include "lib/statememory.h"

static uint64_t slot_bytes(unsigned slot)
{
	return slot % STATEMEMORY_PER_GPR ? STATEMEMORY_CHASE : STATEMEMORY_REACH;
}

uint64_t statememory_bytes(struct bytes b)
{
	struct rd r = rd_of(b);
	uint64_t mask = rd_u64(&r), n = 8;

	for (unsigned slot = 0; slot < STATEMEMORY_SLOTS; slot++)
		if (mask >> slot & 1)
			n += slot_bytes(slot);
	return r.bad || n > b.n ? 0 : n;
}

int statememory_pieces(const uint64_t gpr[STATEMEMORY_GPRS], struct bytes memory,
		       struct statememory_piece out[STATEMEMORY_SLOTS])
{
	struct bytes first = { NULL, 0 };	/* of the register that the slot belongs to */
	struct rd r = rd_of(memory);
	uint64_t mask = rd_u64(&r);
	int n = 0;

	for (unsigned slot = 0; slot < STATEMEMORY_SLOTS; slot++) {
		unsigned chased = slot % STATEMEMORY_PER_GPR;
		struct statememory_piece p = { .b.n = slot_bytes(slot) };

		if (!chased)
			first = (struct bytes){ NULL, 0 };
		if (!(mask >> slot & 1))
			continue;
		p.b.p = rd_skip(&r, p.b.n);
		if (chased) {
			struct rd word =
				rd_of(bytes_at(first, statememory_word_at(chased - 1), 8));

			p.at = rd_u64(&word);
			r.bad |= word.bad;
		} else {
			p.at = statememory_at(gpr[slot / STATEMEMORY_PER_GPR]);
			first = p.b;
		}
		out[n++] = p;
	}
	return r.bad || rd_left(&r) ? -1 : n;
}
