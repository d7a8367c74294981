/* fuzz_statesample.c - state samples from any bytes; what is accepted is written the same
 * again */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "lib/err.h"
#include "lib/statesample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct statesample_reader r;
	struct statesample s;
	struct wr w = { 0 };
	struct err err;

	if (statesample_open((struct bytes){ data, size }, &r, &err) < 0)
		return 0;
	statesample_write_header(&w);
	while (statesample_read(&r, &s, &err) > 0)
		statesample_write(&s, &w);
	assert(w.n <= size && memcmp(w.p, data, w.n) == 0);
	wr_free(&w);
	return 0;
}
