/* fuzz_evidencenames.c - any text as what a job says of places: refused, or every place has
 * what the text can give it
 */
#include <assert.h>
#include <string.h>

#include "lib/err.h"
#include "manager/report/evidence_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct evidence_place p = { .function = EVIDENCE_NONE };
	struct evidence e;
	struct err err = { 0 };

	evidence_init(&e, a);
	p.module = evidence_module(&e, "/x", true);
	for (size_t i = 0; i < size % 4 + 1; i++)
		vec_push(a, &e.place, p);
	if (evidence_read_names(&e, (struct bytes){ data, size }, 0, &err) == 0)
		for (uint32_t i = 0; i < e.place.n; i++) {
			const struct evidence_place *q = &e.place.v[i];

			assert(q->function == EVIDENCE_NONE ||
			       (q->function < e.module.v[0].nfunction && q->nframe));
			assert(strlen(evidence_name(&e, q)) < size + 8);
		}
	arena_free(a);
	return 0;
}
