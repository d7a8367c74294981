/* lookwait.h - when a file that changed may be read again, as a whole, to see what it is
 *
 * Knows files by their paths, users as numbers, bytes and times.  A file that changes over and
 * over is read LOOKWAIT_FREE times at once, then after waits that double, from
 * LOOKWAIT_LEAST_MS to LOOKWAIT_MOST_MS, as long as it does.  The files of a user may cost
 * LOOKWAIT_PER_S bytes a second, in the long run; a read is allowed as long as the user is not
 * in debt, and may bring him there.  All users together may cost LOOKWAIT_SHARE times as much,
 * because one of them may be many (subordinate uids).  Root's files only wait for themselves:
 * who changes them needs no such means.
 */
#ifndef MANAGER_WORK_LOOKWAIT_H
#define MANAGER_WORK_LOOKWAIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LOOKWAIT_FREE = 3, LOOKWAIT_LEAST_MS = 2000, LOOKWAIT_MOST_MS = 600000,
	LOOKWAIT_MOST = 256 << 20,	/* bytes that a user has at hand */
	LOOKWAIT_PER_S = 2 << 20,
	LOOKWAIT_SHARE = 4,
	LOOKWAIT_EACH = 256 << 10,	/* what a read costs besides its bytes */
	LOOKWAIT_OF_CPU_MS = 256 << 10,	/* bytes that are worth a millisecond of a job */
	LOOKWAIT_FILES = 4096, LOOKWAIT_OWNERS = 64,
};

struct lookwait_bucket {
	bool used;
	uint32_t uid;
	uint64_t at_ms;
	int64_t spent;			/* bytes; beyond the most he is in debt */
};

struct lookwait {			/* zeroed before its first use */
	struct {
		uint64_t key;		/* of the path; 0: none */
		uint64_t at_ms;
		unsigned reads;		/* without a rest between them */
	} file[LOOKWAIT_FILES];
	struct lookwait_bucket owner[LOOKWAIT_OWNERS], all;
};

/* 0: it may be read now, and is paid for; else the milliseconds after which to ask again. */
uint64_t lookwait_ms(struct lookwait *l, const char *path, uint32_t owner, uint64_t bytes,
		     uint64_t now_ms);
/* What else is read of an owner's files: without waiting. */
void lookwait_pay(struct lookwait *l, uint32_t owner, uint64_t bytes, uint64_t now_ms);
/* Until that user is out of debt; 0: he is in none. */
uint64_t lookwait_debt_ms(struct lookwait *l, uint32_t owner, uint64_t now_ms);

#endif
