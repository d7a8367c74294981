/* store_made.h - samples in code that programs made while they ran, by program, user and name
 *
 * They fade with the time that is sampled while the program has such samples, as profiles do.
 * Of one program there are at most STORE_MADE_ROWS names and users, and STORE_MADE_PROGRAMS
 * programs; the smallest ones become samples without a name, or of no known program.
 */
#ifndef MANAGER_STORE_STORE_MADE_H
#define MANAGER_STORE_STORE_MADE_H

#include <stdbool.h>
#include <stdint.h>

struct attribution;
struct err;
struct store;
struct store_fading;

/* Chosen.  As full as it can be, with names of 255 bytes, that is 5 MiB. */
enum { STORE_MADE_ROWS = 256, STORE_MADE_PROGRAMS = 64 };

/* What the attribution has of it. */
int store_made_add(struct store *s, const struct attribution *a,
		   const struct store_fading *fading, struct err *err);

struct store_made {
	const char *program;	/* its path; "": not known, or of the smallest */
	const char *name;	/* of the code; "": it has none that is kept */
	double samples;
};
enum { STORE_MADE_ALL = -1 };
/* Calls f with the sums, those of a program one after the other, without a name first; of the
 * processes of that user alone, or STORE_MADE_ALL.  It returns false to stop, and may not
 * write to the store. */
int store_made_each(struct store *s, int64_t uid,
		    bool (*f)(void *ctx, const struct store_made *m), void *ctx,
		    struct err *err);

/* The module is forgotten, and what it made as a program. */
int store_made_forget(struct store *s, int64_t module, struct err *err);
/* At the first start with an older store: what it has by program alone. */
int store_made_take_over(struct store *s, struct err *err);

#endif
