/* livework.h - generations of running processes, one operation at a time, which is not waited
 * for
 *
 * WHAT IS MAPPED is a generation that a verifier of the parent's own start has shown, for this
 * very original, to be fit for running processes: its plan says what goes where.  morph-live,
 * and the kernel, see to it that this original is what is mapped there.  So a manager that lies
 * can have nothing mapped anywhere but what runs as the program does, and can have it taken
 * out.
 *
 * BOUNDS    Processes, generations and bytes: livebook.h.  Mapping begins LIVEWORK_BURST times
 *           at once, and then once in LIVEWORK_REFILL_MS, because each stops a process; taking
 *           out, which may be tried again and again, LIVEWORK_OFF_BURST times, more than there
 *           can be to take out, and then once in LIVEWORK_OFF_REFILL_MS, and so are lists.
 *           What goes with a swap of files is bounded as these are.
 *
 * Run by morph-live, with its patience: what is under way when nobody waits for it any more
 * comes to its end by itself.
 */
#ifndef MANAGER_PARENT_LIVEWORK_H
#define MANAGER_PARENT_LIVEWORK_H

#include <poll.h>
#include <stdbool.h>

#include "lib/err.h"
#include "manager/parent/livebook.h"

struct livework;

enum { LIVEWORK_BURST = 64, LIVEWORK_REFILL_MS = 5000 };
enum { LIVEWORK_OFF_BURST = LIVEBOOK_ENTRIES + 64, LIVEWORK_OFF_REFILL_MS = 1000 };

/* NULL with the reason where the folders cannot be opened. */
struct livework *livework_new(const char *store_dir, const char *morph_live, struct err *err);
/* NULL is allowed, of this and all that follow. */
void livework_free(struct livework *l);

/* What is done is told there, a line at a time, instead of the daemon's log. */
void livework_tell(struct livework *l, void (*tell)(const char *text));

/* What a proof is about: a generation that counts is fit for a while only. */
struct livework_proof {
	struct digest original, generation;
	bool counts;
};

/* Is it known to be proven?  Else prove it, and say what was printed: a descriptor that stays
 * the caller's. */
bool livework_is_proven(const struct livework *l, const struct livework_proof *p);
void livework_proven(struct livework *l, const struct livework_proof *p, int plan_fd);

/* Each begins one; -1: it cannot, for the reason given.
 *
 * _on: maps the proven generation, which generation_fd holds, in the process; path, pid, start,
 * original and generation of the entry are filled.  Done, too, when there is no room for its
 * new text: then said[] is "at HEX", where it would fit.
 * _turns: takes it out for `ms` milliseconds and has it in for so long, whichever is first;
 * said[] is what was done.
 * _count: the same of one that counts, for `ms` milliseconds; then it is out again, and what
 * was counted is in counters_fd.
 * _off: the generation of that process.  _list: what all processes have.  _off_path: of all
 * processes that the entries say it of; path == NULL: all that any process has. */
int livework_on(struct livework *l, const struct livebook_entry *e, int generation_fd,
		struct err *err);
int livework_turns(struct livework *l, const struct livebook_entry *e, int generation_fd,
		   unsigned ms, struct err *err);
int livework_count(struct livework *l, const struct livebook_entry *e, int generation_fd,
		   unsigned ms, struct err *err);
int livework_off(struct livework *l, pid_t pid, const struct digest *generation,
		 struct err *err);
int livework_list(struct livework *l, struct err *err);
int livework_off_path(struct livework *l, const char *path, struct err *err);
/* Is there an entry of that path; path == NULL: any? */
bool livework_knows(const struct livework *l, const char *path);
int livework_open_file(const struct livework *l, const struct digest *generation,
		       struct err *err);

/* Is the process the one that began then?  Of a user's file at the path, it has to be his. */
int livework_check_owner(pid_t pid, uint64_t start, const char *path, uint32_t owner,
			 struct err *err);

struct livework_result {
	struct err err;			/* ERR_NONE: done */
	char said[256];			/* of one process: what morph-live said */
	/* of a list: a sealed memory file, the caller's, a line for each process and
	 * generation: PID START OWNER GENERATION ORIGINAL PATH, or PID START OWNER GENERATION
	 * without entry */
	int list_fd;
	int counters_fd;		/* of _count: so is this; -1: none */
};

bool livework_busy(const struct livework *l);
/* Fills p[0..1] while something is under way. */
void livework_poll(const struct livework *l, struct pollfd p[2]);
/* True: it has ended, *out is filled. */
bool livework_step(struct livework *l, struct livework_result *out);
/* Counting, or turns, come to their end now, if that is under way. */
void livework_hurry(const struct livework *l);
/* Nobody waits for what is under way. */
void livework_leave(struct livework *l);

#endif
