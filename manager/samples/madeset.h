/* madeset.h - samples in code that processes made: by process and address, until it has names
 *
 * Which code lies at an address only the process can tell, while it is there: what it has
 * written of its code is asked for when the spool file has been read, of the processes with
 * most samples first.  Samples of a process that has ended or become another program by then,
 * of one process too many, and of addresses that nothing is written of are the program's,
 * without a name.  Malloc-backed and bounded.
 */
#ifndef MANAGER_SAMPLES_MADESET_H
#define MANAGER_SAMPLES_MADESET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/rd.h"
#include "manager/samples/topnames.h"

struct attribute_resolver;
struct attribution;
struct err;
struct spaces;
struct spool_event;

/* Of one spool file; chosen.  Names are those of one process with most samples. */
enum { MADESET_MAKERS = 64, MADESET_NAMES = 256 };
#define MADESET_NOBODY UINT32_MAX	/* whose it is is not known */

struct madeset_maker {
	uint32_t pid, program;		/* a file of the spaces */
	bool over;			/* it has ended, or become another program */
	uint64_t first_ns;		/* its first sample, since 1970 */
	uint64_t samples;		/* also those that have no room below */
};

struct madeset_item {
	uint32_t maker;
	uint32_t samples;
	uint64_t pc;
};

struct madeset {			/* zeroed: empty */
	uint32_t nmaker, nitem;
	struct madeset_maker *maker;	/* [MADESET_MAKERS] */
	struct madeset_item *item;	/* as many as there may be */
	bool full;			/* they were added up, and it brought little */
	struct topnames rest;		/* of processes that had no room, by program */
};

/* What is asked of a process. */
struct madeset_question {
	const char *program;
	const char *dump;		/* path of the jitdump that it has mapped; "": none */
	uint32_t pid;
	uint64_t first_ns, samples;
	const uint64_t *pc;		/* [n] ascending */
	uint32_t n;
};
/* All zero: nothing is known of it. */
struct madeset_answer {
	bool known;			/* `uid` is */
	uint32_t uid;			/* whose process it is */
	uint32_t nname;
	char **name;			/* malloc'd, and each of them */
	uint32_t *of;			/* malloc'd, [n]: an index of name[] + 1; 0: none */
};
void madeset_answer_free(struct madeset_answer *a);
/* The same from the text of `morph-edit code-names` (editor/exchange/places.h), which may have
 * been taken over by what it read: -1, and nothing in *out, if it is malformed, tells of
 * another number of places than n, or has a name that is not fit to be shown. */
int madeset_read_names(struct bytes text, uint32_t n, struct madeset_answer *out,
		       struct err *err);

/* Processes that end, or become another program. */
void madeset_event(struct madeset *m, const struct spool_event *ev);
void madeset_add(struct madeset *m, const struct spool_event *ev, uint32_t program,
		 const char *path, uint64_t wall_ns);
/* Asks the resolver, and adds them all to the attribution; `all` is their number, and those
 * whose program is not known are the rest. */
void madeset_resolve(struct madeset *m, struct spaces *s, const struct attribute_resolver *r,
		     uint64_t all, struct attribution *out);
void madeset_clear(struct madeset *m);

#endif
