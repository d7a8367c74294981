/* fuzz_codenames.c - any bytes as a map of perf or a jitdump: what its reader says of places in
 * it is taken by who asks for it, and anything as what its reader says
 */
#include <assert.h>

#include "editor/exchange/codenames.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "manager/report/evidence_names.h"
#include "manager/samples/madeset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct wr places = { 0 }, out = { 0 };
	struct evidence_place p = { .function = EVIDENCE_NONE };
	struct madeset_answer names = { 0 };
	struct evidence e;
	struct err err = { 0 };

	evidence_init(&e, a);
	p.module = evidence_module(&e, "[code made at run time]", false);
	for (unsigned i = 0; i < PLACES; i++) {
		wr_text(&places, arena_printf(a, "0x%x\n", i * i * i * 16));
		vec_push(a, &e.place, p);
	}
	if (codenames_resolve((struct bytes){ data, size }, wr_bytes(&places), a, &out,
			      &err) == 0)
		assert(evidence_read_names(&e, wr_bytes(&out), 0, &err) == 0 &&
		       madeset_read_names(wr_bytes(&out), PLACES, &names, &err) == 0);
	madeset_answer_free(&names);
	/* and of a job that was taken over, anything */
	if (madeset_read_names((struct bytes){ data, size }, PLACES, &names, &err) == 0)
		madeset_answer_free(&names);
	arena_free(a);
	wr_free(&places);
	wr_free(&out);
	return 0;
}
