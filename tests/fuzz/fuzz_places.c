/* fuzz_places.c - any bytes as a program, with or without debug information: what its reader
 * says of places in it is taken by who asks for it
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "editor/exchange/places.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "manager/report/evidence_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct wr places = { 0 }, out = { 0 };
	struct evidence_place p = { .function = EVIDENCE_NONE };
	struct evidence e;
	struct err err = { 0 };

	evidence_init(&e, a);
	p.module = evidence_module(&e, "/x", true);
	for (unsigned i = 0; i < PLACES; i++) {
		const char *line = arena_printf(a, "%s0x%zx\n", i % 2 ? "+" : "",
						size / PLACES * i);

		wr_text(&places, line);
		vec_push(a, &e.place, p);
	}
	struct bytes file = { data, size };
	struct places_input in = { .file = file, .places = wr_bytes(&places), .debug = file };
	if (places_resolve(&in, a, &out, &err) == 0)
		assert(evidence_read_names(&e, wr_bytes(&out), 0, &err) == 0);
	arena_free(a);
	wr_free(&places);
	wr_free(&out);
	return 0;
}
