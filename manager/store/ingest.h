/* ingest.h - takes a spool file into the store, exactly once
 *
 * This is all of the Manager's work on a spool file; the caller may delete the file afterwards.
 */
#ifndef MANAGER_STORE_INGEST_H
#define MANAGER_STORE_INGEST_H

#include "manager/samples/attribute.h"
#include "manager/store/module.h"
#include "manager/store/store.h"

struct err;
struct ingest;
struct statefeed;

/* Begins with the address spaces that the store remembers.  Keeps s and ms. */
struct ingest *ingest_new(struct store *s, struct modules *ms, struct err *err);
/* The half-life of profiles: after this much sampled time old samples count half.  7 days
 * (chosen) until it is set. */
void ingest_half_life(struct ingest *g, double seconds);
/* The shortest time that an observation of speed covers; 600 s (chosen) until it is set. */
void ingest_observe(struct ingest *g, double seconds);
void ingest_free(struct ingest *g);		/* NULL is allowed */

/* Reads the spool file `fd` named `name` and enters it in one transaction.  1: done; 0: it
 * was done before and is skipped; -1: failed, and the file can be given again later.  *sum
 * (may be NULL, zeroed before) gets the file's attribution added. */
int ingest_spool_file(struct ingest *g, int fd, const char *name, struct attribution *sum,
		      struct err *err);
/* The kind of a process, as the uses of modules are told apart by (struct attribute_use); 0:
 * not known. */
uint32_t ingest_kind(struct ingest *g, uint32_t pid);
/* Files from now on have their states in this feed, which stays the caller's; NULL: in none. */
void ingest_states(struct ingest *g, struct statefeed *feed);
/* From now on it is kept how many samples each user has, asked of that source, of which a copy
 * is kept, the first time; and, `by_module`, how many of each module. */
struct userset_source;
void ingest_whose(struct ingest *g, const struct userset_source *source, bool by_module);
/* The users who have an account here, for attribute_users(); stays the caller's. */
void ingest_users(struct ingest *g, const uint32_t *uid, uint32_t n);
/* Processes that have the content `d` of the file at that path mapped, by what is known of them
 * and of the path's files: at most `max`, ascending, in pid[]; returns how many. */
uint32_t ingest_processes(struct ingest *g, const char *path, const struct digest *d,
			  uint32_t *pid, uint32_t max);

#endif
