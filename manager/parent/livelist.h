/* livelist.h - which processes have generations mapped, and which entries of the book these are
 *
 * What morph-live lists decides; entries follow: one is made of forks where no other is left,
 * of those that have nothing mapped any more they go, and so do files that nobody has.
 */
#ifndef MANAGER_PARENT_LIVELIST_H
#define MANAGER_PARENT_LIVELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/parent/livebook.h"

struct livelist_row {			/* what a process has mapped */
	pid_t pid;
	uint64_t start;
	uint32_t owner;
	struct digest generation;
	const struct livebook_entry *entry;	/* of livelist.entry; NULL: none */
	bool own;	/* that is of this process; else it is a fork, or says so */
};

struct livelist {
	const struct livebook *book;
	void (*tell)(const char *text);
	struct livebook_entry *entry;	/* as they were before they followed */
	uint32_t nentry;
	struct livelist_row *row;
	uint32_t nrow;
	bool more;			/* than these there may be */
};

/* -1: no memory.  The book stays the caller's, and open. */
int livelist_open(struct livelist *l, const struct livebook *book, struct err *err);
void livelist_close(struct livelist *l);
/* Takes in what `morph-live list` said, which is changed; `cut`: not all of it is there. */
int livelist_take(struct livelist *l, char *said, bool cut, struct err *err);
/* A sealed memory file, as livework.h has it; -1. */
int livelist_write(const struct livelist *l, struct err *err);
/* Has nobody else the generation?  Others may have it by this entry alone. */
bool livelist_is_only(const struct livelist *l, const struct livelist_row *of);

#endif
