/* topnames.h - samples by name, for the few names that have most of them
 *
 * At most NAMES_MAX names: a new one takes the place of that with the fewest samples, which
 * then are among the others.  So memory and store are bounded whatever runs, and what is often
 * seen stays.
 */
#ifndef MANAGER_SAMPLES_TOPNAMES_H
#define MANAGER_SAMPLES_TOPNAMES_H

#include <stdint.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct err;

enum { NAMES_MAX = 64 };

struct names {			/* zeroed: none */
	uint32_t n;
	struct name {
		char *name;
		uint64_t samples;
	} at[NAMES_MAX];
	uint64_t others;	/* samples of names that had to go */
};

void names_add(struct names *to, const char *name, uint64_t samples);
void names_add_all(struct names *to, const struct names *from);
void names_free(struct names *n);

/* Appends them: uleb others, uleb n, n times str name and uleb samples. */
void names_write(const struct names *n, struct wr *out);
/* Range-checked; *out is the caller's to free. */
int names_read(struct bytes b, struct names *out, struct err *err);

#endif
