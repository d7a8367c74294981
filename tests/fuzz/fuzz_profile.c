/* fuzz_profile.c - block profiles from any text; what is accepted survives writing and
 * reading */
#include <assert.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct profile p = { 0 }, q = { 0 };
	struct wr w = { 0 };
	struct err err = { 0 };

	if (profile_read((struct bytes){ data, size }, a, &p, &err) == 0) {
		profile_write(&p, &w);
		assert(profile_read(wr_bytes(&w), a, &q, &err) == 0);
		assert(p.nblock == q.nblock && digest_equal(&p.original, &q.original));
		for (uint32_t i = 0; i < p.nblock; i++)
			assert(p.block[i].addr == q.block[i].addr);
	}
	wr_free(&w);
	arena_free(a);
	return 0;
}
