/* fuzz_boltread.c - any text as a profile of llvm-bolt about a program: what is taken of it is
 * in the program, in order, and can be written and read as a profile
 *
 * Input: u32 length of the text, the text, and the program.
 */
#include <assert.h>
#include <stddef.h>

#include "editor/exchange/boltread.h"
#include "lib/arena.h"
#include "lib/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd rd = rd_of((struct bytes){ data, size });
	uint32_t n = rd_u32(&rd);
	const uint8_t *p = rd_skip(&rd, n);
	struct bytes text = { p, n }, file = { rd.p, rd_left(&rd) };
	struct arena *a = arena_new();
	struct boltread_counts counts;
	struct profile out, again;
	struct wr w = { 0 };
	struct err err = { 0 };

	if (p && boltread(file, text, a, &out, &counts, &err) == 0) {
		out.module = "/x";
		profile_write(&out, &w);
		assert(profile_read(wr_bytes(&w), a, &again, &err) == 0);
		assert(again.nblock == out.nblock && again.nedge == out.nedge &&
		       again.ncall == out.ncall);
	}
	arena_free(a);
	wr_free(&w);
	return 0;
}
