/* userset.h - whose samples they are: for each mapped file, how many are of which user
 *
 * Samples name a process, not a user.  Whose a process is that still runs is asked of the
 * system at the end of each spool file; whose a short one was follows from who started it, as
 * long as that is not root, whose children may become anybody.  What cannot be told is of
 * USERSET_UNKNOWN.  Malloc-backed and bounded: beyond its limits samples are of that, too.
 */
#ifndef MANAGER_SAMPLES_USERSET_H
#define MANAGER_SAMPLES_USERSET_H

#include <stdint.h>

struct spool_event;
struct userset;

enum { USERSET_SYSTEM = 0 };		/* root and the accounts of daemons */
#define USERSET_UNKNOWN UINT32_MAX
#define USERSET_NO_FILE UINT32_MAX

struct userset_source {
	/* Whose the process is that has that number and began before that time: 1: *uid, 0: not
	 * to be told, -1: there is none. */
	int (*whose)(void *ctx, uint32_t pid, uint64_t before_ns, uint32_t *uid);
	void *ctx;
};

struct userset_use {
	uint32_t file, uid, samples;
};

/* source == NULL: nothing is known of anybody. */
struct userset *userset_new(const struct userset_source *source);
void userset_free(struct userset *u);		/* NULL is allowed */
/* Forgets all processes, as when the machine has been booted anew. */
void userset_forget(struct userset *u);

void userset_event(struct userset *u, const struct spool_event *ev);	/* forks and exits */
/* `file`: where it was, or USERSET_NO_FILE. */
void userset_sample(struct userset *u, uint32_t pid, uint32_t file, uint64_t time_ns);
/* At the end of a spool file: asks the source, and sums up. */
void userset_flush(struct userset *u);
/* Those of one file, by uid; after the flush. */
const struct userset_use *userset_of(const struct userset *u, uint32_t file, uint32_t *n);
/* Adds those of all files, and of none, up by user; after the flush. */
struct usersums;
void userset_sum(const struct userset *u, struct usersums *out);
/* Forgets the samples, not the processes. */
void userset_clear(struct userset *u);

#endif
