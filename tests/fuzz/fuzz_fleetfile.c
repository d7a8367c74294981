/* fuzz_fleetfile.c - requests and answers between the Manager and morph-share, from any
 * bytes: what is accepted is good, and is written as it was
 *
 * The first byte chooses which.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/fleetfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct wr *w, struct bytes b)
{
	assert(w->n == b.n && memcmp(w->p, b.p, b.n) == 0);
}

static void all_good(const struct fleet_evidence *e, uint32_t n)
{
	const char *why;

	for (uint32_t i = 0; i < n; i++)
		assert(fleet_evidence_is_good(&e[i], &why));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fleet_request q;
	struct fleet_answer n;
	struct wr w = { 0 };
	struct err err = { 0 };

	if (!size)
		return 0;
	struct arena *a = arena_new();
	struct bytes b = { arena_dup(a, data + 1, size - 1), size - 1 };
	if (data[0] & 1 && fleet_request_read(b, a, &q, &err) == 0) {
		all_good(q.give, q.ngive);
		fleet_request_write(&q, &w);
		same(&w, b);
	} else if (!(data[0] & 1) && fleet_answer_read(b, a, &n, &err) == 0) {
		all_good(n.fleet, n.nfleet);
		fleet_answer_write(&n, &w);
		same(&w, b);
	}
	wr_free(&w);
	arena_free(a);
	return 0;
}
