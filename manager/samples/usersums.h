/* usersums.h - samples by user, of all programs together
 *
 * There are at most USERSUMS_MAX users (chosen); the samples of further ones are those of
 * USERSET_UNKNOWN.  So memory and store are bounded, whatever numbers users have.
 */
#ifndef MANAGER_SAMPLES_USERSUMS_H
#define MANAGER_SAMPLES_USERSUMS_H

#include <stdint.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct err;

enum { USERSUMS_MAX = 1024 };

struct usersums {			/* zeroed: none */
	uint32_t n;
	struct usersum {
		uint32_t uid;		/* as manager/samples/userset.h has it */
		uint64_t samples;
	} *at;				/* [n], ascending by uid; malloc'd */
};

void usersums_add(struct usersums *to, uint32_t uid, uint64_t samples);
void usersums_add_all(struct usersums *to, const struct usersums *from);
void usersums_free(struct usersums *s);

/* Appends them: uleb n, n times uleb uid and uleb samples. */
void usersums_write(const struct usersums *s, struct wr *out);
/* Range-checked; *out is the caller's to free. */
int usersums_read(struct bytes b, struct usersums *out, struct err *err);

#endif
