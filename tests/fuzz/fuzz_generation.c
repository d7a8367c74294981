/* fuzz_generation.c - any bytes through the whole Editor: what comes out can be verified
 *
 * Damaged bytes are refused or give a generation in which the Verifier finds no fault; neither
 * it nor the Editor may crash, and no error may be one of our own.  Sanitized builds, which
 * look for crashes, go on after a fault that the Verifier finds: tests/fuzz/mutants.c counts
 * those.
 */
#include <stdio.h>
#include <stdlib.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit_options options = {
		.all = true, .shuffle = true, .seed = size, .generation = 1
	};
	struct bytes file = { data, size };
	struct arena *a = arena_new();
	struct wr gen = { 0 }, map = { 0 };
	struct edit_stats stats;
	struct verify_stats verified;
	struct err err = { 0 };

	if (edit_optimize(file, NULL, &options, a, &gen, &map, &stats, &err) == 0 &&
	    verify_generation(file, wr_bytes(&gen), a, &verified, &err) < 0) {
		fprintf(stderr, "verify: %s\n", err.text);
#ifndef MORPH_SANITIZED
		abort();
#endif
	}
	if (err.kind != ERR_NONE && err.kind != ERR_REFUSED && err.kind != ERR_INPUT) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	arena_free(a);
	wr_free(&gen);
	wr_free(&map);
	return 0;
}
