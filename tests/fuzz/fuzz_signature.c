/* fuzz_signature.c - signatures from any bytes
 *
 * What is accepted must encode to the same bytes again, and be matched with itself; so must two
 * halves, each with the other: every partner is in its file, and none has two.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "editor/inherit/match.h"
#include "lib/arena.h"
#include "lib/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_match(const struct signature *old, const struct signature *now,
			struct arena *a)
{
	struct match m;

	match_signatures(old, now, a, &m);
	bool *taken = arena_array(a, now->nblock, sizeof(*taken));
	for (uint32_t f = 0; f < old->nfn; f++) {
		if (m.fn[f] == SIGNATURE_NONE)
			continue;
		assert(m.fn[f] < now->nfn && m.fn_back[m.fn[f]] == f);
		assert(m.how[f] < MATCH_NHOW);
	}
	for (uint32_t b = 0; b < old->nblock; b++) {
		if (m.block[b] == SIGNATURE_NONE)
			continue;
		assert(m.block[b] < now->nblock && !taken[m.block[b]]);
		taken[m.block[b]] = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct signature s, half;
	struct wr w = { 0 };
	struct err err;

	if (signature_read((struct bytes){ data, size }, a, &s, &err) == 0) {
		signature_write(&s, &w);
		assert(w.n == size && memcmp(w.p, data, size) == 0);
		wr_free(&w);
		check_match(&s, &s, a);
	}
	if (signature_read((struct bytes){ data, size / 2 }, a, &s, &err) == 0 &&
	    signature_read((struct bytes){ data + size / 2, size - size / 2 }, a, &half,
			   &err) == 0)
		check_match(&s, &half, a);
	arena_free(a);
	return 0;
}
