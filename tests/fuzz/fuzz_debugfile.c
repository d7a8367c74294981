/* fuzz_debugfile.c - any bytes as a program with debug information: its generation's debug file
 *
 * Damage to the debug information leaves the generation as it is, and is refused or translated;
 * neither may crash, and no error may be one of our own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "editor/debug/debugfile.h"
#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit_options options = {
		.all = true, .shuffle = true, .seed = 3, .generation = 1
	};
	struct bytes file = { data, size };
	struct arena *a = arena_new();
	struct wr gen = { 0 }, map = { 0 }, out = { 0 };
	struct edit_stats stats;
	struct err err = { 0 };

	if (edit_optimize(file, NULL, &options, a, &gen, &map, &stats, &err) == 0 &&
	    debugfile_make(file, wr_bytes(&gen), (struct bytes){ 0 }, a, &out, &err) < 0 &&
	    err.kind != ERR_REFUSED && err.kind != ERR_INPUT) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	arena_free(a);
	wr_free(&gen);
	wr_free(&map);
	wr_free(&out);
	return 0;
}
