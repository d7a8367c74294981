/* exchange.h - one mapping of text for another, in a process that is stopped for it */
#ifndef LIVE_EXCHANGE_H
#define LIVE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/plan.h"

struct err;
struct live_limits;
struct live_outcome;

struct live_exchange {
	pid_t pid;
	uint64_t text, size;
	int from, to;			/* descriptors of what is mapped, what will be */
	uint64_t from_offset, to_offset;
	struct live_new add[LIVE_MAX_NEW];	/* addresses in memory; of `to` */
	uint32_t nadd;
	bool back, locked;		/* to the original; which stays in memory, as it was */
};

/* 0; or -1 with the reason, ERR_REFUSED also when the right moment did not come. */
int live_exchange(const struct live_exchange *x, const struct live_limits *limits,
		  struct live_outcome *out, struct err *err);

#endif
