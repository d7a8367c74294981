/* topnames.h - samples by name, for the few names that have most of them
 *
 * There are at most TOPNAMES_MAX names (chosen).  A new one takes the place of the name with
 * the fewest samples, whose samples are added to `others`.  So memory and store are bounded
 * whatever runs, and frequent names stay.
 */
#ifndef MANAGER_SAMPLES_TOPNAMES_H
#define MANAGER_SAMPLES_TOPNAMES_H

#include <stdint.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct err;

enum { TOPNAMES_MAX = 64 };

struct topnames {			/* zeroed: none */
	uint32_t n;
	struct topname {
		char *name;
		uint64_t samples;
	} at[TOPNAMES_MAX];
	uint64_t others;	/* samples of names that had to go */
};

void topnames_add(struct topnames *to, const char *name, uint64_t samples);
void topnames_add_all(struct topnames *to, const struct topnames *from);
void topnames_free(struct topnames *n);

/* Appends them: uleb others, uleb n, n times str name and uleb samples. */
void topnames_write(const struct topnames *n, struct wr *out);
/* Range-checked; *out is the caller's to free. */
int topnames_read(struct bytes b, struct topnames *out, struct err *err);

#endif
