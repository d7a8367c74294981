/* ingest.h - one spool file, from its bytes to the store, exactly once
 *
 * The whole of the Manager's idle work for a file; the caller may delete it afterwards.
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
/* In which sampled time what is known of a module counts half; 7 days unless told. */
void ingest_half_life(struct ingest *g, double seconds);
/* What an observation of speed covers at least; 600 s unless told. */
void ingest_observe(struct ingest *g, double seconds);
void ingest_free(struct ingest *g);		/* NULL is allowed */

/* Reads the spool file `fd` named `name` and enters it in one transaction.  1: done; 0: it
 * was done before and is skipped; -1: failed, and the file can be given again later.  *sum
 * (may be NULL, zeroed before) gets the file's attribution added. */
int ingest_spool_file(struct ingest *g, int fd, const char *name, struct attribution *sum,
		      struct err *err);
/* Files from now on are of samples whose states are in this feed (NULL: none), the caller's. */
void ingest_states(struct ingest *g, struct statefeed *feed);
/* From now on it is kept how many samples of each module are of which user (NULL: not). */
struct userset_source;
void ingest_whose(struct ingest *g, const struct userset_source *source);
void ingest_spaces_counts(const struct ingest *g, struct spaces_counts *out);

#endif
