/* fuzz_annotate.c - any samples of any program: where its cycles go is told for each function,
 * and what a page shows of it, without falling over it
 *
 * Input: u32 length of the samples, these, and the program.
 */
#include <stddef.h>

#include "editor/annotate/annotate.h"
#include "editor/annotate/picture.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "postmorph/analyze.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS = 4 };

static void draw(const struct annotate_input *in, struct arena *a)
{
	struct picture p = { .note = "not laid out" };
	struct wr out = { 0 };
	struct err err;

	if (annotated_read(in, a, &p.program, &err) == 0) {
		picture_text(&p, &out);
		(void)picture_functions(&p, FUNCTIONS, &out, &err);	/* may be refused */
	}
	wr_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd rd = rd_of((struct bytes){ data, size });
	uint32_t n = rd_u32(&rd);
	const uint8_t *p = rd_skip(&rd, n);
	struct annotate_input in = { .file = { rd.p, rd_left(&rd) }, .samples = { p, n } };
	struct arena *a = arena_new();
	struct prog prog;
	struct err err = { 0 };

	if (p && prog_analyze(in.file, a, &prog, &err) == 0)
		for (uint32_t i = 0; i < prog.nfn && i < FUNCTIONS; i++) {
			struct wr out = { 0 };

			in.function = prog.fn[i].entry;
			(void)annotate_write(&in, a, &out, &err);	/* may be refused */
			wr_free(&out);
		}
	if (p)
		draw(&in, a);
	arena_free(a);
	return 0;
}
