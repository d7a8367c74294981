/* fuzz_elf.c - analysis of any bytes; what is analysed keeps the invariants of ir.h */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct prog prog = { 0 };
	struct err err = { 0 };

	if (prog_analyze((struct bytes){ data, size }, a, &prog, &err) == 0 &&
	    ir_check(&prog, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	arena_free(a);
	return 0;
}
