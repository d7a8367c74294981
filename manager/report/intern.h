/* intern.h - gives equal keys equal numbers, from 0 on, in the order they come
 *
 * A key is any bytes: a text, or a struct without padding.  Lives in an arena.
 */
#ifndef MANAGER_REPORT_INTERN_H
#define MANAGER_REPORT_INTERN_H

#include <stdint.h>

#include "lib/arena.h"
#include "lib/rd.h"

struct intern {
	struct arena *arena;
	VEC(struct bytes) key;		/* by number; behind each stands a NUL */
	uint32_t *slot;			/* [nslot] number + 1; 0: free */
	uint32_t nslot;
};

static inline struct intern intern_new(struct arena *a)
{
	return (struct intern){ .arena = a };
}

uint32_t intern_key(struct intern *t, const void *key, size_t n);
uint32_t intern_text(struct intern *t, const char *text);
/* Of a table of texts. */
static inline const char *intern_text_of(const struct intern *t, uint32_t number)
{
	return (const char *)t->key.v[number].p;
}

#endif
